import { describe, expect, it } from 'vitest'
import { finding } from '../errors/finding.ts'
import { portMtu } from './findings.ts'
import { judgeCheck, switchCheck } from './rehearsal-checks.ts'

const found = finding(portMtu, { node: 'worker-0', nic: 'enp6s0', mtu: 1400, needed: 1500 })
const accept = [{ code: 'SL9322', where: 'worker-0', reason: 'replaced in May', path: ['spec', 'accept', 0] }]

describe('a check of a rehearsal', () => {
  it('fails by an error', () => {
    expect(judgeCheck(switchCheck([found], 2), []).verdict).toBe('failed')
  })

  it('passes when the site file accepts the finding, which stays as a warning', () => {
    const { verdict, findings } = judgeCheck(switchCheck([found], 2), accept)
    expect(verdict).toBe('passed')
    expect(findings).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining('replaced in May') }),
    ])
  })
})
