import { describe, expect, it } from 'vitest'
import { ansibleRun, dataPlaneNode, ended } from '../../../test/data-plane.ts'
import { neverAborted } from '../../../test/never-aborted.ts'
import type { AnsibleRun } from '../kinds/ansible-run.ts'
import { FORCE_ANNOTATION } from '../runs/clearing.ts'
import { defaultRunRetry } from '../runs/decide-step.ts'
import type { RunRequest } from '../runs/run-object.ts'
import { leaveOvn } from './leave-ovn.ts'
import type { NodeView } from './node-view.ts'

const HOST = 'edpm-0'
/** A second after the end of every run. */
const clock = { now: () => Date.parse('2026-01-01T00:00:01Z') }
const context = { signal: neverAborted(), clock } as unknown as Parameters<typeof leaveOvn>[2]

interface Situation {
  readonly vars?: NodeView['effective']['vars']
  readonly annotations?: Readonly<Record<string, string>>
  readonly machine?: NodeView['machine']['kind']
  readonly playbook?: unknown
  readonly joined?: boolean
  readonly runs?: readonly AnsibleRun[]
  readonly problem?: string
  readonly neutron?: () => Promise<void>
}

async function leave(situation: Situation) {
  const { vars = { stackloom_ovn_remote: 'tcp:192.0.2.1:6642' }, annotations = {}, joined = true } = situation
  const started: RunRequest[] = []
  const asked: string[] = []
  const view = {
    node: dataPlaneNode(HOST, {}, annotations),
    effective: { name: HOST, hostName: `${HOST}.example.org`, vars, runner: { sshSecret: 'ssh', ansibleTags: 'x' } },
    machine: { kind: situation.machine ?? 'not-needed' },
    problems: situation.problem === undefined ? [] : [{ message: situation.problem }],
    phaseZero: {
      steps: [{ step: { kind: 'runnable', name: 'run-os', playbook: situation.playbook ?? 'run-os' } }],
      applied: joined ? { 'run-os': { hash: 'h', run: 'r' } } : {},
    },
  } as unknown as NodeView
  const clearing = await leaveOvn(
    {
      runs: {
        forHost: () => situation.runs ?? [],
        activeRun: () => undefined,
        start: async (request) => void started.push(request),
      },
      retry: defaultRunRetry,
      controlPlane: {
        removeAgents: async ({ host }) => {
          asked.push(host)
          await situation.neutron?.()
        },
      },
    },
    view,
    context,
  )
  return { clearing, started, asked }
}

/** The run that the same situation started, as it ended. */
async function endedRun(reason: 'Completed' | 'Failed'): Promise<AnsibleRun> {
  const [request] = (await leave({})).started
  return ansibleRun('leave-ovn-1', { step: 'leave-ovn', hosts: request?.hosts ?? {}, status: ended(reason) })
}

describe('a node that is deleted', () => {
  it('is taken out of OVN by a run with all tasks before Neutron is asked', async () => {
    const { clearing, started, asked } = await leave({})
    expect(started).toMatchObject([{ playbook: 'leave-ovn', hosts: { [HOST]: expect.any(String) } }])
    expect(started[0]?.runner.ansibleTags).toBe('')
    expect(clearing).toEqual({ why: `it is being removed from ${HOST}` })
    expect(asked).toEqual([])
  })

  it('loses its agents by its short name after the run, and is released then', async () => {
    const { clearing, started, asked } = await leave({ runs: [await endedRun('Completed')] })
    expect([clearing, started, asked]).toEqual([undefined, [], [HOST]])
  })

  it('stays while Neutron does not answer, and asks again', async () => {
    const neutron = async (): Promise<void> => {
      throw new Error('Neutron answered 503')
    }
    const { clearing } = await leave({ runs: [await endedRun('Completed')], neutron })
    expect(clearing).toMatchObject({ finding: { code: 'SL7120' }, retryAfterMs: expect.any(Number) })
    expect(clearing?.why).toContain('Neutron answered 503')
  })

  it('stays with the reason when its run fails or cannot start', async () => {
    expect((await leave({ runs: [await endedRun('Failed')] })).clearing).toMatchObject({ finding: { code: 'SL7120' } })
    const { clearing, started } = await leave({ problem: 'secret/ssh does not exist' })
    expect(clearing?.finding?.message).toContain('secret/ssh does not exist')
    expect(started).toEqual([])
  })

  it('whose machine is given back and erased only loses its agents', async () => {
    const { clearing, started, asked } = await leave({ machine: 'provisioned' as NodeView['machine']['kind'] })
    expect([clearing, started, asked]).toEqual([undefined, [], [HOST]])
  })

  it.each<[string, Situation]>([
    ['that never joined OVN', { joined: false }],
    ['without a southbound database', { vars: {} }],
    ['with an empty list of databases', { vars: { edpm_ovn_dbs: [] } }],
    [
      'that joined by a role of the user',
      { vars: { edpm_ovn_dbs: ['192.0.2.1'], stackloom_roles: { 'run-os': 'mine' } } },
    ],
    ['that joined by a play of the user', { playbook: { play: '- hosts: all' } }],
    ['that is lost for good', { annotations: { [FORCE_ANNOTATION]: 'true' } }],
  ])('%s is released at once', async (_, situation) => {
    const { clearing, started, asked } = await leave(situation)
    expect([clearing, started, asked]).toEqual([undefined, [], []])
  })
})
