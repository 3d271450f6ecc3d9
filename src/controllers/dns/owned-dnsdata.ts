/** DNSData that controllers make: the Services' of a DNSMasq, the addresses' of an IPSet. */

import type { DnsData, DnsHost } from '../../api/dnsdata.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { controllerReference, dnsDatas, FIELD_MANAGER, isOwnedBy } from './dns-kinds.ts'
import type { DnsWorld } from './world.ts'

/** Upstream knows no empty list here, only none. */
export function buildDnsData(owner: KubeObject, name: string, selector: string, hosts: readonly DnsHost[]): DnsData {
  const { namespace = '' } = owner.metadata
  return {
    ...dnsDatas,
    metadata: { name, namespace, ownerReferences: [controllerReference(owner)] },
    spec: { dnsDataLabelSelectorValue: selector, ...(hosts.length > 0 && { hosts: [...hosts] }) },
  }
}

export async function ensureDnsData(
  world: DnsWorld,
  owner: KubeObject,
  wanted: DnsData,
  signal: AbortSignal,
): Promise<void> {
  const live = world.dnsDatas.get(objectKey(wanted.metadata))
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (!live) {
    await world.client.create(wanted, options)
    return
  }
  if (live.metadata.deletionTimestamp || (sameJson(live.spec, wanted.spec) && isOwnedBy(live, owner))) return
  const { ownerReferences } = wanted.metadata
  const next = {
    ...live,
    metadata: { ...live.metadata, ...(ownerReferences && { ownerReferences }) },
    spec: wanted.spec,
  }
  const got = (await world.client.update(next, options)) as DnsData
  world.dnsDatas.note(got, live.metadata.resourceVersion ?? '')
}
