import { describe, expect, it } from 'vitest'
import type { Finding } from '../errors/finding.ts'
import { judge } from './accept.ts'

const overlap: Finding = {
  code: 'SL2001',
  severity: 'error',
  message: 'two spans overlap',
  remedy: 'move one',
  where: { file: 'site.yaml', line: 3, column: 1 },
  owners: ['rhoso1/ctlplane hosts (site.yaml:3:1)', 'rhoso2/ctlplane vips (site.yaml:9:1)'],
}
const settings = {
  locate: () => ({ file: 'site.yaml', line: 99, column: 3 }),
  judges: (code: string) => code.startsWith('SL2'),
}
const accept = (where: string | undefined, code = 'SL2001') => ({
  code,
  where,
  reason: 'until May',
  path: [],
})

describe('judge', () => {
  it('turns an accepted error into a warning with the reason', () => {
    expect(judge([overlap], [accept(undefined)], settings)).toEqual([
      { ...overlap, severity: 'warning', message: 'two spans overlap (accepted: until May)' },
    ])
  })

  it.each(['rhoso1/ctlplane', 'rhoso2/ctlplane vips', 'site.yaml:3:1', 'site.yaml:3'])(
    'matches the finding by %s',
    (where) => {
      expect(judge([overlap], [accept(where)], settings).map((acceptFinding) => acceptFinding.severity)).toEqual([
        'warning',
      ])
    },
  )

  it.each(['rhoso', 'hoso1/ctlplane', 'rhoso1/ctl', 'site.yaml:33'])(
    'does not match %s, which is only part of a word',
    (where) => {
      const [first, unused] = judge([overlap], [accept(where)], settings)
      expect(first?.severity).toBe('error')
      expect(unused).toMatchObject({ code: 'SL2012', severity: 'info', where: { line: 99 } })
    },
  )

  it('reports no entry for a code that the command does not look for', () => {
    expect(judge([], [accept(undefined, 'SL3001')], settings)).toEqual([])
  })
})
