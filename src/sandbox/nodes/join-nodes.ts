/** Waits until the nodes have joined the cluster, and writes the objects that pods rely on: labels, volumes, cluster DNS. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Condition, KubeObject } from '../../api/object.ts'
import { failure } from '../../errors/failure.ts'
import type { KubeClient } from '../../kube/client.ts'
import { FIELD_MANAGER } from '../cluster-objects.ts'
import { nodesNotReady } from '../findings.ts'
import { clusterDnsObjects } from './cluster-dns.ts'
import type { NodeLayout } from './node-layout.ts'
import { volumeObjects } from './node-volumes.ts'
import { speakerObjects } from './speaker.ts'
import { poolCrd, reconcilerObjects } from './whereabouts-reconciler.ts'

const NODE = { apiVersion: 'v1', kind: 'Node' }
const POLL_MS = 250

export interface JoinOptions {
  /** When the programs were started: what a Node reported before is of an earlier start. */
  readonly since: number
  readonly logs: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

export async function joinNodes(client: KubeClient, layout: NodeLayout, options: JoinOptions): Promise<void> {
  const objects = [...clusterDnsObjects(), ...volumeObjects(layout), ...speakerObjects()]
  const hasPools = (await client.get(poolCrd)) !== undefined
  for (const object of [...objects, ...(hasPools ? reconcilerObjects() : [])])
    await client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
  await removeOtherNodes(client, layout)
  const { timeoutMs = 240_000, signal, since, logs } = options
  const deadline = performance.now() + timeoutMs
  const labelled = new Set<string>()
  for (;;) {
    signal?.throwIfAborted()
    const waiting: string[] = []
    for (const { name } of layout.nodes) {
      const node = await client.get({ ...NODE, name })
      if (node && !labelled.has(name)) {
        await labelNode(client, name)
        labelled.add(name)
      }
      const reason = node ? notReadyReason(node, since) : 'its kubelet has not registered it'
      if (reason !== undefined) waiting.push(`${name}: ${reason}`)
    }
    if (waiting.length === 0) return
    if (performance.now() > deadline) throw failure(nodesNotReady, { nodes: waiting, seconds: timeoutMs / 1000, logs })
    await sleep(POLL_MS)
  }
}

/** The kubelet itself must not set the label of a role. */
async function labelNode(client: KubeClient, name: string): Promise<void> {
  const labels = { 'node-role.kubernetes.io/worker': '' }
  await client.apply({ ...NODE, metadata: { name, labels } }, { fieldManager: FIELD_MANAGER, force: true })
}

/** A node that was left out at this start is gone for good. */
async function removeOtherNodes(client: KubeClient, { nodes }: NodeLayout): Promise<void> {
  const { items } = await client.list(NODE)
  const names = new Set(nodes.map(({ name }) => name))
  for (const { metadata } of items) if (!names.has(metadata.name)) await client.delete({ ...NODE, name: metadata.name })
}

/** A condition of a Node. */
interface NodeCondition extends Condition {
  readonly lastHeartbeatTime?: string
}

export function notReadyReason(node: KubeObject, since: number): string | undefined {
  const { conditions = [] } = (node['status'] ?? {}) as { readonly conditions?: readonly NodeCondition[] }
  const ready = conditions.find(({ type }) => type === 'Ready')
  const { taints = [] } = (node['spec'] ?? {}) as { readonly taints?: readonly { readonly key: string }[] }
  // Times of the API have no fractions of a second.
  const isEarlier = Date.parse(ready?.lastHeartbeatTime ?? '') < Math.floor(since / 1000) * 1000
  if (!ready || isEarlier) return 'its kubelet has not reported yet'
  if (ready.status !== 'True') return ready.message ?? 'it is not ready'
  // Removed by the node lifecycle controller a moment later; until then no pod is scheduled.
  return taints.some(({ key }) => key === 'node.kubernetes.io/not-ready') ? 'it has the taint not-ready' : undefined
}
