/** Removes the node networking of one cloud, as `down` does, while a pod of another cloud counts its packets. */
import type { KubeObject } from '../api/object.ts'
import { absentState } from '../deploy/node-policies.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { formatPodLocation } from '../verify/probe/probe-tasks.ts'
import { packetsLost, policyRefused } from './findings.ts'
import { explainNmstateError } from './nmstate-errors.ts'
import { applyScript } from './node-scripts.ts'
import type { RunningNode } from './nodes.ts'
import { type NodePolicies, policyCloud, type RehearsedPod } from './rehearsal-plan.ts'

export interface Removal {
  readonly cloud: string
  readonly sender: RehearsedPod
  readonly receiver: RehearsedPod
}

/** Pure: the last cloud goes while the first one talks between two nodes; undefined where there is nothing to compare. */
export function planRemoval(pods: readonly RehearsedPod[]): Removal | undefined {
  const clouds = [...new Set(pods.map(({ cloud }) => cloud))]
  const [sender] = pods.filter(({ addresses }) => addresses.length > 0)
  const cloud = clouds.at(-1)
  const receiver = pods.find(
    (pod) => pod.cloud === sender?.cloud && pod.network === sender.network && pod.node !== sender.node,
  )
  return sender && receiver && cloud !== undefined && clouds.length > 1 ? { cloud, sender, receiver } : undefined
}

export async function removeCloud(
  { cloud, sender, receiver }: Removal,
  nodes: readonly RunningNode[],
  policies: readonly NodePolicies[],
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const talker = nodes.find(({ name }) => name === sender.node)
  if (!talker) return []
  await talker.agent.run(startPing(sender.name, receiver.addresses[0] ?? ''), { signal })
  const refused = await Promise.all(
    nodes.map(async (node): Promise<readonly Finding[]> => {
      const onNode = policies.find(({ node: name }) => name === node.name)?.policies ?? []
      const removed = onNode.filter((policy) => policyCloud(policy) === cloud)
      const kept = onNode.filter((policy) => policyCloud(policy) !== cloud)
      const found: Finding[] = []
      for (const policy of removed) found.push(...(await removePolicy(node, policy, kept, signal)))
      return found
    }),
  )
  const { output } = await talker.agent.run(STOP_PING, { signal })
  const counts = parsePingCounts(output)
  // The packet in flight when ping is ended has no answer yet.
  const isLost = !counts || counts.sent - counts.received > 1
  const facts = { cloud, from: formatPodLocation(sender), sent: counts?.sent ?? 0, received: counts?.received ?? 0 }
  return [...refused.flat(), ...(isLost ? [finding(packetsLost, facts)] : [])]
}

async function removePolicy(
  node: RunningNode,
  policy: KubeObject,
  kept: readonly KubeObject[],
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const absent = absentState(policy, kept)
  if (!absent) return []
  const state = Object.fromEntries(Object.entries(absent).filter(([, value]) => value !== null))
  const { code, output } = await node.agent.run(applyScript(state), { signal })
  const { line, remedy } = explainNmstateError(output)
  const facts = { policy: policy.metadata.name, node: node.name, line, remedy }
  return code === 0 ? [] : [finding(policyRefused, facts)]
}

function startPing(pod: string, address: string): string {
  return `ip netns exec ${pod} ping -i 0.2 ${address} >/run/ping.log 2>&1 & echo $! >/run/ping.pid`
}

const STOP_PING = 'kill -INT "$(cat /run/ping.pid)"; sleep 1; cat /run/ping.log'

/** Pure: `501 packets transmitted, 501 received`. */
export function parsePingCounts(output: string): { readonly sent: number; readonly received: number } | undefined {
  const match = /(\d+) packets transmitted, (\d+) received/.exec(output)
  return match ? { sent: Number(match[1]), received: Number(match[2]) } : undefined
}
