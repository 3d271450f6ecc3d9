/** Lists the kinds that the console watches: what status, verify, doctor, hosts, ipam and the address map read. */
import { addressBlocks } from '../api/address-block.ts'
import { ipSets, reservations } from '../api/ipset.ts'
import { netConfigs } from '../api/netconfig.ts'
import type { GroupVersionKind } from '../api/object.ts'
import { SYSTEM_NAMESPACE } from '../api/reserved-namespace.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { inventoryKinds, statusKinds } from '../deploy/deployment-status.ts'
import { INVENTORY_LABEL, type Inventory } from '../deploy/inventory.ts'
import { kindsToGather } from '../doctor/kinds.ts'
import { rules } from '../doctor/rules.ts'
import { hostKinds } from '../hosts/hosts-input.ts'
import type { Source } from '../kube/cache.ts'
import { holderKinds } from '../verify/address-holders.ts'
import { checks } from '../verify/checks.ts'
import { requiredKinds } from '../verify/verify.ts'

/** Read first: they say which clouds there are. */
export const inventorySource: Source = {
  kind: inventoryKinds[0] ?? { apiVersion: 'v1', kind: 'ConfigMap' },
  namespace: SYSTEM_NAMESPACE,
  labelSelector: INVENTORY_LABEL,
}

/** Secrets are not watched: their values stay out of memory. */
const excluded = new Set(['Secret', 'ConfigMap'])

export function watchedKinds(inventories: readonly Inventory[]): readonly Source[] {
  const all: readonly GroupVersionKind[] = [
    ...statusKinds(inventories),
    ...requiredKinds(checks),
    ...kindsToGather(rules),
    ...hostKinds,
    ...holderKinds,
    netConfigs,
    ipSets,
    reservations,
    addressBlocks,
  ]
  const unique = new Map(
    all.map(({ apiVersion, kind }) => [formatGroupKind({ apiVersion, kind }), { apiVersion, kind }]),
  )
  return [...unique]
    .filter(([groupKind]) => !excluded.has(groupKind))
    .map(([groupKind, kind]) => (groupKind === 'Event' ? { kind, fieldSelector: 'type=Warning' } : { kind }))
}

/** A change of one of these changes what is known of hosts. */
export const hostGroupKinds: ReadonlySet<string> = new Set(
  [
    ...hostKinds,
    netConfigs,
    ipSets,
    reservations,
    addressBlocks,
    { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' },
  ].map(formatGroupKind),
)
