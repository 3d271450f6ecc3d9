/**
 * A cloud that left the site file while it is still deployed stands on node networking that it shares with others: to
 * write that anew would take its node addresses away. It has to be taken down first. Pure.
 */
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { strandedCloud } from '../run/findings.ts'
import type { Inventory } from './inventory.ts'
import { parseRecordedLock } from './recorded-lock.ts'
import type { DocumentChange } from './site-changes.ts'

export function strandedFindings(
  clouds: readonly string[],
  documents: readonly DocumentChange[],
  inventories: readonly Inventory[],
): readonly Finding[] {
  const policies = documents.filter(({ desired }) => isPolicy(desired))
  const stay = new Set(policies.flatMap(({ desired }) => policyAddresses(desired)))
  const going = policies.flatMap(({ live, cloud }) =>
    live && cloud === undefined ? policyAddresses(live).filter((address) => !stay.has(address)) : [],
  )
  if (going.length === 0) return []
  const lock = parseRecordedLock(inventories.find(({ cloud }) => cloud === undefined)?.lock)
  return inventories.flatMap(({ cloud, objects }) => {
    if (cloud === undefined || clouds.includes(cloud) || !objects.some(usesNodeNetworking)) return []
    const networks = Object.values(lock?.clouds[cloud]?.networks ?? {})
    const held = new Set(networks.flatMap(({ nodes = {} }) => Object.values(nodes).flat()))
    const lost = going.filter((address) => held.has(address))
    return lost.length > 0 ? [finding(strandedCloud, { cloud, addresses: lost })] : []
  })
}

function isPolicy(object: KubeObject): boolean {
  return formatGroupKind(object) === 'nmstate.io/NodeNetworkConfigurationPolicy'
}

/** What is left of a cloud whose volumes stay uses no network. */
function usesNodeNetworking({ kind }: { readonly kind: string }): boolean {
  return kind !== 'Namespace' && kind !== 'Secret'
}

function policyAddresses(policy: KubeObject): readonly string[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces').flatMap((one) =>
    ['ipv4', 'ipv6'].flatMap((family) =>
      getList(one, family, 'address').flatMap((address) => getString(address, 'ip') ?? []),
    ),
  )
}
