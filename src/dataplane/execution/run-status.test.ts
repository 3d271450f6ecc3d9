import { describe, expect, it } from 'vitest'
import { finding } from '../../errors/finding.ts'
import { runPodLost } from '../findings/runs.ts'
import { type AnsibleRun, ansibleRuns } from '../kinds/ansible-run.ts'
import { claimedStatus, progressStatus } from './run-status.ts'

const NOW = '2026-01-01T00:00:00Z'
const LATER = '2026-01-01T00:01:00Z'
const run: AnsibleRun = { ...ansibleRuns, metadata: { name: 'x', namespace: 'openstack' }, spec: {} }
const stall = finding(runPodLost, { pod: 'x-1', node: 'worker-1' })

const running = (status = claimedStatus(run, 1, ['a'], NOW)): AnsibleRun => ({ ...run, status })

describe('progressStatus', () => {
  it('changes nothing of a run without news', () => {
    expect(progressStatus(running(), {}, LATER)).toEqual(running().status)
  })

  it('has the code and the remedy of a run that makes no progress, in its conditions too, until it continues', () => {
    const stalled = running(progressStatus(running(), { stall }, LATER))
    expect(stalled.status?.running?.stalled).toMatch(/^node worker-1 does not answer.*\(SL7510: bring worker-1 back; /)
    const [ready] = stalled.status?.conditions ?? []
    expect(ready).toMatchObject({ type: 'Ready', status: 'False', severity: 'Warning', lastTransitionTime: LATER })
    expect(ready?.message).toContain('worker-1 does not answer')
    const continued = progressStatus(stalled, { task: 'Install the packages' }, LATER)
    expect(continued.running).toEqual({ startedAt: NOW, hosts: ['a'], task: 'Install the packages' })
    expect(continued.conditions?.[0]).toMatchObject({ severity: 'Info', message: 'AnsibleEE job in progress' })
  })
})
