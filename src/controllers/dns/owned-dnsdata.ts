/** Builds and writes the DNSData that controllers create: for the Services of a DNSMasq, for the addresses of an IPSet. */
import type { DnsData, DnsHost } from '../../api/dnsdata.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { controllerReference } from '../../api/ownership.ts'
import type { SharedCache } from '../../kube/runtime.ts'
import type { Writer } from '../kit/writes.ts'
import { dnsDatas as dnsDataKind } from './dns-kinds.ts'

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
