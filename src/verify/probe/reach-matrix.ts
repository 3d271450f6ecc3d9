/** Counts the answers of probes: from every network to every cloud, how many tests were made and how many got an answer. Pure. */
import { groupBy } from '../../api/collections.ts'
import type { Plan } from '../../plan/plan.ts'
import { type Answer, type ProbeRun, parseAnswers } from './probe-results.ts'
import { encodeTask } from './probe-tasks.ts'

export interface MatrixCell {
  /** `rhoso1/internalapi`. */
  readonly from: string
  readonly to: string
  /** Inside a cloud all tests must get an answer, between clouds none may. */
  readonly expected: 'all' | 'none'
  readonly tests: number
  readonly answered: number
}

export function reachMatrix(plan: Plan, runs: readonly ProbeRun[]): readonly MatrixCell[] {
  const answers = runs.flatMap((run) => parseAnswers(run).answers)
  return plan.clouds.flatMap((cloud) =>
    cloud.networks.flatMap((network) => {
      const sent = answers.filter(({ pod }) => pod.cloud === cloud.name && pod.network === network.name)
      return plan.clouds.flatMap(({ name: to }): readonly MatrixCell[] => {
        const expected = to === cloud.name ? 'all' : 'none'
        const asked = mergeVips(sent.filter((answer) => targetCloud(answer, plan) === to))
        // Pods without addresses ask only for the VLANs of others.
        if (asked.length === 0) return []
        const answered = asked.filter(({ values }) => values.length > 0).length
        return [{ from: `${cloud.name}/${network.name}`, to, expected, tests: asked.length, answered }]
      })
    }),
  )
}

/** A pod cannot see VIPs of its own node, so one answer to a pod of any node is enough; with one node silence says nothing. */
function mergeVips(answers: readonly Answer[]): readonly Answer[] {
  const isVip = ({ task }: Answer): boolean => task.kind === 'vip'
  const groups = groupBy(answers.filter(isVip), ({ task }) => encodeTask(task))
  const vips = [...groups.values()].flatMap((group) => {
    const answered = group.find(({ values }) => values.length > 0)
    return answered ?? (new Set(group.map(({ pod }) => pod.node)).size > 1 ? group.slice(0, 1) : [])
  })
  return [...answers.filter((answer) => !isVip(answer)), ...vips]
}

export function isAsPlanned({ expected, tests, answered }: MatrixCell): boolean {
  return expected === 'all' ? answered === tests : answered === 0
}

/** The cloud of the tested address; undefined for tests of the pod itself. */
function targetCloud({ task, pod }: Answer, { clouds }: Plan): string | undefined {
  switch (task.kind) {
    case 'peer':
      return task.peer.cloud
    case 'vip':
    case 'gateway':
    case 'route':
      return pod.cloud
    default:
      return 'owner' in task ? ownerCloud(task.owner, clouds) : undefined
  }
}

/** Owners are `rhoso2/internalapi on worker-0`, `worker-0 in rhoso2/internalapi` and `the VIP of keystone.internal of rhoso2`. */
function ownerCloud(owner: string, clouds: Plan['clouds']): string | undefined {
  return clouds.find(
    ({ name }) => owner.startsWith(`${name}/`) || owner.includes(` in ${name}/`) || owner.endsWith(` of ${name}`),
  )?.name
}
