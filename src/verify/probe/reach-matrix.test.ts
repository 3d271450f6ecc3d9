import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import type { ProbeRun } from './probe-results.ts'
import { encodeTask, type ProbePod, probeTasks } from './probe-tasks.ts'
import { isAsPlanned, reachMatrix } from './reach-matrix.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const whole = testPlan({ clouds, nodes: 2 })
const plan = {
  ...whole,
  clouds: whole.clouds.map((cloud) => ({
    ...cloud,
    networks: cloud.networks.filter(({ name }) => name === 'internalapi').map((network) => ({ ...network, vips: [] })),
  })),
}
const pods: readonly ProbePod[] = plan.clouds.flatMap(({ name, namespace }, cloud) =>
  ['worker-0', 'worker-1'].map((node, index) => ({
    cloud: name,
    network: 'internalapi',
    node,
    namespace,
    name: `${name}-${node}`,
    addresses: [`172.17.${cloud}.3${index}`],
  })),
)

/** Runs in which the tests of these kinds get an answer. */
function runsWith(answered: readonly string[]) {
  return pods.map((pod) => {
    const tasks = probeTasks(plan, pod, pods)
    const output = tasks
      .map((task) => `${encodeTask(task)} ${answered.includes(task.kind) ? 'yes' : 'silent'}`)
      .join('\n')
    return { pod, tasks, output }
  })
}

describe('the matrix of a site', () => {
  it('counts answers from every network to every cloud', () => {
    const matrix = reachMatrix(plan, runsWith(['peer']))
    expect(matrix.map(({ from, to, expected }) => `${from} ${to} ${expected}`)).toEqual([
      'rhoso1/internalapi rhoso1 all',
      'rhoso1/internalapi rhoso2 none',
      'rhoso2/internalapi rhoso1 none',
      'rhoso2/internalapi rhoso2 all',
    ])
    expect(matrix.every(({ tests }) => tests > 0)).toBe(true)
    expect(matrix.every(isAsPlanned)).toBe(true)
  })

  it('counts a VIP once, whichever pod sees it', () => {
    const pod = pods[0]
    if (!pod) throw new Error('no pod')
    const tasks = ['172.17.0.80', '172.17.0.81'].map((address) => {
      return { kind: 'vip' as const, by: 'ARP' as const, address, slot: 'keystone.internal', port: 0 }
    })
    const answers = (word: string) => tasks.map((task) => `${encodeTask(task)} ${word}`).join('\n')
    const silent: ProbeRun = { pod, tasks, output: answers('silent') }
    const seen: ProbeRun = { pod: { ...pod, node: 'worker-1' }, tasks, output: answers('yes') }
    const cell = { from: 'rhoso1/internalapi', to: 'rhoso1', expected: 'all', tests: 2 }
    expect(reachMatrix(plan, [silent, seen])).toEqual([{ ...cell, answered: 2 }])
    expect(reachMatrix(plan, [silent, { ...seen, output: silent.output }])).toEqual([{ ...cell, answered: 0 }])
    expect(reachMatrix(plan, [silent])).toEqual([])
  })

  it('is not as planned with an answer of another cloud or without one of a peer', () => {
    const crossed = reachMatrix(plan, runsWith(['peer', 'foreign']))
    expect(crossed.filter(isAsPlanned).map(({ expected }) => expected)).toEqual(['all', 'all'])
    const lost = reachMatrix(plan, runsWith([]))
    expect(lost.filter(isAsPlanned).map(({ expected }) => expected)).toEqual(['none', 'none'])
  })
})
