import { describe, expect, it } from 'vitest'
import { finding } from '../../errors/finding.ts'
import { foreignHolder } from '../findings/check-findings.ts'
import type { CheckResult } from '../verify.ts'
import { htmlReport } from './html-report.ts'
import { formatSummary, markdownReport, type Report } from './report.ts'

const passed: CheckResult = {
  id: 'leftovers',
  title: 'Leftovers',
  promise: 'nothing is left',
  seen: '12 objects',
  verdict: 'passed',
  findings: [],
}
const failed: CheckResult = {
  id: 'foreign-holders',
  title: 'No foreign holder',
  cloud: 'rhoso1',
  promise: 'no Service of another namespace holds an address of this cloud',
  seen: '9 Services of other namespaces',
  verdict: 'failed',
  findings: [
    finding(foreignHolder, {
      cloud: 'rhoso1',
      service: 'x/<script>alert(1)</script>|`y`',
      address: '172.17.0.80',
      network: 'internalapi',
    }),
  ],
}
const report: Report = {
  site: 'lab',
  time: '2026-11-16T00:00:00.000Z',
  source: 'live cluster',
  results: [passed, failed],
}

describe('a report', () => {
  it('counts only verdicts that occurred', () => {
    expect(formatSummary([passed, failed, failed])).toBe('1 passed, 2 failed')
    expect(formatSummary([passed])).toBe('1 passed')
    expect(formatSummary([passed, { ...passed, verdict: 'empty' }])).toBe('1 passed, 1 had nothing to check')
  })

  it('prints a remedy once for all findings with it', () => {
    const holds = (address: string) =>
      finding(foreignHolder, { cloud: 'rhoso1', service: 'shop/web', address, network: 'internalapi' })
    const results = [{ ...failed, findings: [holds('172.17.0.80'), holds('172.17.0.81')] }]
    for (const text of [htmlReport({ ...report, results }), markdownReport({ ...report, results })]) {
      expect(text.match(/172\.17\.0\.8[01]/g)).toHaveLength(2)
      expect(text.match(/To do:/g)).toHaveLength(1)
    }
  })

  it('lists unproved checks first, with links', () => {
    const page = htmlReport(report)
    expect(page).toContain('<a href="#rhoso1.foreign-holders">rhoso1: No foreign holder</a>')
    expect(page).toContain('<tr id="rhoso1.foreign-holders">')
    expect(htmlReport({ ...report, results: [passed] })).not.toContain('<nav>')
  })

  it('is Markdown with a table per cloud and the remedies', async () => {
    await expect(markdownReport(report)).toMatchFileSnapshot('__golden__/report.md')
  })

  it('is a self-contained HTML page', async () => {
    const page = htmlReport(report)
    expect(page).not.toMatch(/<(script|link|img)|https?:/)
    await expect(page).toMatchFileSnapshot('__golden__/report.html')
  })

  it('escapes texts from the cluster', () => {
    expect(htmlReport(report)).toContain('&lt;script&gt;alert(1)')
    expect(markdownReport(report)).toContain('\\<script\\>')
  })
})
