/** Attaches pods with the real CNI plugins and runs the tests of the network probe in them. */
import { mapConcurrently } from '../async/map-concurrently.ts'
import { type AskedProbe, runTasks } from '../deploy/run-probes.ts'
import type { Plan } from '../plan/plan.ts'
import type { FailedProbe } from '../verify/probe/probe-results.ts'
import { formatPodLocation, type ProbePod, type ProbeTask, probeTasks } from '../verify/probe/probe-tasks.ts'
import { attachScript, cniError, probeScript, writeProbeScript } from './node-scripts.ts'
import type { RunningNode } from './nodes.ts'
import type { RehearsedPod } from './rehearsal-plan.ts'

export interface ProbeOptions {
  /** The source of the probe's script. */
  readonly program: string
  readonly signal?: AbortSignal | undefined
}

/** Pods of one node that are attached or tested at a time: each runs up to sixteen tests at once, which wait most of the time. */
const PODS_AT_A_TIME = 5

export interface AttachedPods {
  readonly attached: readonly RehearsedPod[]
  readonly failed: readonly FailedProbe[]
}

export async function attachPods(
  nodes: readonly RunningNode[],
  pods: readonly RehearsedPod[],
  signal?: AbortSignal,
): Promise<AttachedPods> {
  const attached = new Set<RehearsedPod>()
  const failed: FailedProbe[] = []
  await forEachPod(nodes, pods, async (node, pod) => {
    if (pod.addresses.length === 0 && 'gateways' in pod) {
      const reason = 'its span for pods has no address left'
      failed.push({
        cloud: pod.cloud,
        from: formatPodLocation(pod),
        reason,
        remedy: 'make the span `pods` of its network larger',
      })
      return
    }
    const { code, output } = await node.agent.run(attachScript(pod), { signal })
    if (code === 0) attached.add(pod)
    else {
      const remedy = 'correct what prevents the attachment (SL9312 of the same pod)'
      failed.push({ cloud: pod.cloud, from: formatPodLocation(pod), reason: cniError(output), remedy })
    }
  })
  return { attached: pods.filter((pod) => attached.has(pod)), failed }
}

export async function probePods(
  plan: Plan,
  nodes: readonly RunningNode[],
  pods: readonly RehearsedPod[],
  { hosts = [], program, signal }: ProbeOptions & { readonly hosts?: readonly ProbePod[] },
): Promise<readonly AskedProbe[]> {
  const runs: AskedProbe[] = []
  await Promise.all(nodes.map(({ agent }) => agent.run(writeProbeScript(program), { signal })))
  await forEachPod(nodes, pods, async (node, pod) => {
    // Hosts of other clouds ask for the pods here, which is the same way.
    const tasks = tasksWithoutPorts(plan, pod, [...pods, ...hosts.filter(({ cloud }) => cloud === pod.cloud)])
    const ask = async (words: readonly string[]): Promise<string> =>
      (await node.agent.run(probeScript(pod, words), { signal })).output
    runs.push(await runTasks(pod, tasks, ask))
  })
  return runs
}

/** Speakers announce VIPs, but no service listens behind them. */
export function tasksWithoutPorts(plan: Plan, pod: ProbePod, pods: readonly ProbePod[]): readonly ProbeTask[] {
  return probeTasks(plan, pod, pods).filter((task) => !('by' in task && task.by === 'port'))
}

async function forEachPod(
  nodes: readonly RunningNode[],
  pods: readonly RehearsedPod[],
  work: (node: RunningNode, pod: RehearsedPod) => Promise<void>,
): Promise<void> {
  await Promise.all(
    nodes.map((node) =>
      mapConcurrently(
        pods.filter((pod) => pod.node === node.name),
        PODS_AT_A_TIME,
        (pod) => work(node, pod),
      ),
    ),
  )
}
