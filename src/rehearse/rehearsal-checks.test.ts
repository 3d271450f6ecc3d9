import { describe, expect, it } from 'vitest'
import { testPlan } from '../../test/plan.ts'
import { finding } from '../errors/finding.ts'
import { evaluateProbes } from '../verify/probe/probe-results.ts'
import { portMtu } from './findings.ts'
import { judgeCheck, switchCheck, withoutPorts } from './rehearsal-checks.ts'

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

  it('promises nothing of ports, which a rehearsal does not ask', () => {
    const plan = testPlan({ clouds: [{ name: 'rhoso1', namespace: 'openstack' }], nodes: 2 })
    const promises = evaluateProbes(plan, [], [])
      .map(withoutPorts)
      .map(({ promise }) => promise)
    expect(promises).toContain('one node answers for every VIP on its own network')
    expect(promises.filter((promise) => promise.includes('port'))).toEqual([])
  })
})
