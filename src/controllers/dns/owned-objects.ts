/** Writes what the DNS controllers share: ConfigMaps with hosts, DNSData of Services and IPSets, removed finalizers. */
import type { DnsData, DnsHost } from '../../api/dnsdata.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { controllerReference } from '../../api/ownership.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import type { Contents } from '../kit/contents.ts'
import { ignoreApiErrors, type Writer } from '../kit/writes.ts'
import { dnsDatas as dnsDataKind, UPSTREAM_FINALIZERS } from './dns-kinds.ts'

export function buildDnsData(owner: KubeObject, name: string, selector: string, hosts: readonly DnsHost[]): DnsData {
  const { namespace = '' } = owner.metadata
  return {
    ...dnsDataKind,
    metadata: { name, namespace, ownerReferences: [controllerReference(owner)] },
    // Upstream never has an empty list here.
    spec: { dnsDataLabelSelectorValue: selector, ...(hosts.length > 0 && { hosts: [...hosts] }) },
  }
}

export async function ensureDnsData(
  writer: Writer,
  dnsDatas: SharedCache<DnsData>,
  desired: DnsData,
  signal: AbortSignal,
): Promise<void> {
  const live = dnsDatas.get(objectKey(desired.metadata))
  if (!live?.metadata.deletionTimestamp) await writer.replaceField(dnsDatas, live, desired, 'spec', signal)
}

/** A ConfigMap that exists but is not in the cache yet causes another reconcile when the watch reports it. */
export async function writeConfigMap(
  writer: Writer,
  ownContents: Pick<Contents, 'read' | 'note'>,
  desired: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const live = await ownContents.read(objectKey(desired.metadata), signal)
  await ignoreApiErrors(writer.replaceField(ownContents, live, desired, 'data', signal), 'already-exists')
}

/** No other controller removes the finalizers of upstream from a deleted object. */
export async function removeUpstreamFinalizers<T extends KubeObject>(
  writer: Writer,
  cache: SharedCache<T>,
  object: T,
  signal: AbortSignal,
): Promise<void> {
  const { finalizers = [] } = object.metadata
  const rest = finalizers.filter((finalizer) => !UPSTREAM_FINALIZERS.includes(finalizer))
  if (rest.length < finalizers.length) await writer.updateMetadata(cache, object, { finalizers: rest }, signal)
}
