import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import { matrixTable, reportFiles } from './rehearsal-report.ts'

const cell = (from: string, to: string, expected: 'all' | 'none', answered: number) => ({
  from,
  to,
  expected,
  tests: 12,
  answered,
})
const rehearsal = {
  nodes: ['worker-0', 'worker-1'],
  clouds: ['rhoso1', 'rhoso2'],
  results: [],
  matrix: [
    cell('rhoso1/ctlplane', 'rhoso1', 'all', 12),
    cell('rhoso1/ctlplane', 'rhoso2', 'none', 1),
    cell('rhoso2/ctlplane', 'rhoso1', 'none', 0),
    cell('rhoso2/ctlplane', 'rhoso2', 'all', 11),
  ],
  phases: [{ name: 'applying policies', seconds: 61.5 }],
}

describe('the report of a rehearsal', () => {
  it('marks every cell that is not as planned', () => {
    expect(matrixTable(rehearsal)).toEqual({
      header: ['from', 'to rhoso1', 'to rhoso2'],
      rows: [
        ['rhoso1/ctlplane', '✓ 12 of 12 answered', '✗ 1 of 12 answered'],
        ['rhoso2/ctlplane', '✓ 0 of 12 answered', '✗ 11 of 12 answered'],
      ],
    })
  })

  it('has the matrix, the times and the topology', () => {
    const files = new Map(
      reportFiles(testPlan(), '2026-11-17T10:00:00.000Z', rehearsal).map(({ name, text }) => [name, text]),
    )
    expect([...files.keys()]).toEqual(['report.html', 'report.md', 'topology.svg'])
    expect(files.get('report.md')).toContain('| rhoso1/ctlplane | ✓ 12 of 12 answered | ✗ 1 of 12 answered |')
    expect(files.get('report.md')).toContain('| applying policies | 61.5 |')
    expect(files.get('report.html')).toContain('<td class="failed">✗ 1 of 12 answered</td>')
    expect(files.get('report.html')).toContain('<svg')
    expect(files.get('report.md')).toContain('![Topology of the site](topology.svg)')
  })

  it('says that a fault was built in', () => {
    const fault = 'the switch port of worker-0 enp6s0 lacks VLAN 20'
    const texts = reportFiles(testPlan(), '2026-11-17T10:00:00.000Z', { ...rehearsal, fault }).map(({ text }) => text)
    expect(texts[0]).toContain(`and a built-in fault (${fault})`)
    expect(texts[1]).toContain(`and a built-in fault (${fault})`)
  })
})
