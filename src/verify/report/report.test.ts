import { describe, expect, it } from 'vitest'
import { finding } from '../../errors/finding.ts'
import { foreignHolder } from '../../errors/verify.ts'
import type { CheckResult } from '../verify.ts'
import { htmlReport } from './html.ts'
import { markdownReport } from './markdown.ts'
import { type Report, summaryOf } from './report.ts'

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
  it('counts the verdicts, and is silent about those that nobody got', () => {
    expect(summaryOf([passed, failed, failed])).toBe('1 passed, 2 failed')
    expect(summaryOf([passed])).toBe('1 passed')
  })

  it('is Markdown with a table per cloud and the remedies', async () => {
    await expect(markdownReport(report)).toMatchFileSnapshot('__golden__/report.md')
  })

  it('is an HTML page that needs nothing from elsewhere', async () => {
    const page = htmlReport(report)
    expect(page).not.toMatch(/<(script|link|img)|https?:/)
    await expect(page).toMatchFileSnapshot('__golden__/report.html')
  })

  it('shows words from the cluster as words, whatever they are', () => {
    expect(htmlReport(report)).toContain('&lt;script&gt;alert(1)')
    expect(markdownReport(report)).toContain('\\<script\\>')
  })
})
