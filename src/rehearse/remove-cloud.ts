/** Removes the node networking of one cloud, as `down` does, while pods of the other clouds count their packets. */
import { groupBy } from '../api/collections.ts'
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
  /** One for each address of a pod on each network that stays. */
  readonly pings: readonly Ping[]
}

interface Ping {
  readonly sender: RehearsedPod
  readonly address: string
}

/** Pure: the last cloud goes while the others talk between two nodes; undefined where there is nothing to compare. */
export function planRemoval(pods: readonly RehearsedPod[]): Removal | undefined {
  const cloud = pods.at(-1)?.cloud
  if (cloud === undefined) return undefined
  const staying = groupBy(
    pods.filter((pod) => pod.cloud !== cloud),
    (pod) => `${pod.cloud}/${pod.network}`,
  )
  const pings = [...staying.values()].flatMap(([sender, ...others]): readonly Ping[] => {
    const receiver = others.find(({ node }) => node !== sender?.node)
    return sender && receiver ? receiver.addresses.map((address) => ({ sender, address })) : []
  })
  return pings.length > 0 ? { cloud, pings } : undefined
}

export async function removeCloud(
  { cloud, pings }: Removal,
  nodes: readonly RunningNode[],
  policies: readonly NodePolicies[],
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const pause = Math.max(SHORTEST_PAUSE, pings.length / PINGS_PER_SECOND)
  const runOn = async ({ sender }: Ping, script: string): Promise<string> => {
    const node = nodes.find(({ name }) => name === sender.node)
    return (await node?.agent.run(script, { signal }))?.output ?? ''
  }
  await Promise.all(pings.map((ping, index) => runOn(ping, startPing(ping, index, pause))))
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
  const lost = await Promise.all(
    pings.map(async (ping, index): Promise<readonly Finding[]> => {
      const counts = parsePing(await runOn(ping, stopPing(index)))
      if (counts && !hasLost(counts, pause)) return []
      const { sent, received } = counts ?? { sent: 0, received: 0 }
      return [finding(packetsLost, { cloud, from: formatPodLocation(ping.sender), sent, received })]
    }),
  )
  return [...refused.flat(), ...lost.flat()]
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

/** In seconds. */
const SHORTEST_PAUSE = 0.2
/** All together: without KVM a node answers some hundred packets per second. */
const PINGS_PER_SECOND = 20
/** How long answers are waited for at the end. An interruption that stays is seen by then. */
const LAST_SECONDS = 3

function startPing({ sender, address }: Ping, index: number, pause: number): string {
  return `ip netns exec ${sender.name} ping -n -i ${pause} ${address} >/run/ping.${index}.log 2>&1 & echo $! >/run/ping.${index}.pid`
}

function stopPing(index: number): string {
  return `sleep ${LAST_SECONDS}; kill -INT "$(cat /run/ping.${index}.pid)"; sleep 1; cat /run/ping.${index}.log`
}

export interface PingCounts {
  readonly sent: number
  readonly received: number
  /** The number of the last packet with an answer. */
  readonly last: number
}

/** Pure. Undefined where ping itself failed. */
export function parsePing(output: string): PingCounts | undefined {
  const sent = /(\d+) packets transmitted/.exec(output)?.[1]
  if (sent === undefined) return undefined
  const answered = new Set([...output.matchAll(/icmp_seq=(\d+) ttl=/g)].map(([, number]) => Number(number)))
  return { sent: Number(sent), received: answered.size, last: Math.max(0, ...answered) }
}

/** Pure: packets of the last seconds may still be on their way; of those before the last answer all must have one. */
export function hasLost({ sent, received, last }: PingCounts, pause: number): boolean {
  return received < last || received === 0 || (sent - last) * pause > LAST_SECONDS - 1
}
