/**
 * The Topology that a DNSMasq names: its constraints for the pods, and the finalizer that keeps it while it is used.
 */
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { FIELD_MANAGER, topologies } from './dns-kinds.ts'
import type { PodPlacement } from './dnsmasq-deployment.ts'
import { topologyNotFound } from './findings.ts'

export interface ResolvedTopology {
  readonly name: string
  readonly namespace: string
  readonly finding?: Finding
  readonly pods?: PodPlacement
}

const finalizerFor = ({ metadata }: DnsMasq): string => `openstack.org/dnsmasq-${metadata.name}`

/** What the named Topology says, held; the one that was named before is let go. */
export async function resolveTopology(
  client: KubeClient,
  dnsMasq: DnsMasq,
  signal: AbortSignal,
): Promise<ResolvedTopology | undefined> {
  const { name } = dnsMasq.spec.topologyRef ?? {}
  const { namespace = '' } = dnsMasq.metadata
  const last = dnsMasq.status?.lastAppliedTopology
  if (last?.name && last.name !== name) await releaseTopology(client, dnsMasq, last.name, signal)
  if (!name) return undefined
  const topology = await client.get({ ...topologies, namespace, name }, { signal })
  if (!topology) return { name, namespace, finding: finding(topologyNotFound, { namespace, name }) }
  await updateFinalizers(client, topology, (finalizers) => [...new Set([...finalizers, finalizerFor(dnsMasq)])], signal)
  const { topologySpreadConstraints, affinity } = (topology['spec'] ?? {}) as PodPlacement
  return {
    name,
    namespace,
    pods: {
      ...(topologySpreadConstraints !== undefined && { topologySpreadConstraints }),
      ...(affinity !== undefined && { affinity }),
    },
  }
}

export async function releaseTopology(
  client: KubeClient,
  dnsMasq: DnsMasq,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const topology = await client.get({ ...topologies, namespace, name }, { signal })
  if (!topology) return
  const own = finalizerFor(dnsMasq)
  await updateFinalizers(client, topology, (finalizers) => finalizers.filter((finalizer) => finalizer !== own), signal)
}

async function updateFinalizers(
  client: KubeClient,
  topology: KubeObject,
  change: (finalizers: readonly string[]) => readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [] } = topology.metadata
  const next = change(finalizers)
  if (next.length === finalizers.length) return
  const marked = { ...topology, metadata: { ...topology.metadata, finalizers: next } }
  await client.update(marked, { fieldManager: FIELD_MANAGER, signal })
}
