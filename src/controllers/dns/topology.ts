/** Resolves the Topology that a DNSMasq references, and keeps a finalizer on it while it is used. */
import type { DnsMasq } from '../../api/dnsmasq.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { FIELD_MANAGER, topologies } from './dns-kinds.ts'
import type { PodPlacement } from './dnsmasq-deployment.ts'
import { topologyNotFound } from './findings.ts'

type TopologyClient = Pick<KubeClient, 'get' | 'update'>

export interface ResolvedTopology {
  readonly name: string
  readonly namespace: string
  readonly finding?: Finding
  readonly pods?: PodPlacement
}

const finalizerFor = ({ metadata }: DnsMasq): string => `openstack.org/dnsmasq-${metadata.name}`

/** Adds the finalizer to the referenced Topology and removes it from the one that was referenced before. */
export async function resolveTopology(
  client: TopologyClient,
  dnsMasq: DnsMasq,
  signal: AbortSignal,
): Promise<ResolvedTopology | undefined> {
  const { name } = dnsMasq.spec.topologyRef ?? {}
  const { namespace = '' } = dnsMasq.metadata
  const previous = dnsMasq.status?.lastAppliedTopology
  if (previous?.name && previous.name !== name) await releaseTopology(client, dnsMasq, previous.name, signal)
  if (!name) return undefined
  const topology = await client.get({ ...topologies, namespace, name }, { signal })
  if (!topology) return { name, namespace, finding: finding(topologyNotFound, { namespace, name }) }
  const withOurs = (finalizers: readonly string[]) => [...new Set([...finalizers, finalizerFor(dnsMasq)])]
  await updateFinalizers(client, topology, withOurs, signal)
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
  client: TopologyClient,
  dnsMasq: DnsMasq,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '' } = dnsMasq.metadata
  const topology = await client.get({ ...topologies, namespace, name }, { signal })
  if (!topology) return
  const finalizer = finalizerFor(dnsMasq)
  await updateFinalizers(client, topology, (finalizers) => finalizers.filter((other) => other !== finalizer), signal)
}

async function updateFinalizers(
  client: TopologyClient,
  topology: KubeObject,
  change: (finalizers: readonly string[]) => readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [] } = topology.metadata
  const next = change(finalizers)
  if (next.length === finalizers.length) return
  const changed = { ...topology, metadata: { ...topology.metadata, finalizers: next } }
  await client.update(changed, { fieldManager: FIELD_MANAGER, signal })
}
