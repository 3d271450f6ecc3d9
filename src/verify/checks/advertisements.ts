/** Advertisements: each pool is announced on the interface of its network, and on no other. */
import type { KubeObject } from '../../api/object.ts'
import { at, listAt, nameOf } from '../../api/raw-object.ts'
import { groupKindOf, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { announcedElsewhere } from '../../errors/verify.ts'
import type { PlannedNetwork } from '../../plan/plan.ts'
import { asPlanned, desiredOf } from './as-planned.ts'
import { type CloudCheck, type CloudLook, counted, placeOf } from './check.ts'
import { BGP_ADVERTISEMENT, L2_ADVERTISEMENT, POOL } from './kinds.ts'

/** Document 001, "Check L2Advertisements". */
export const l2Advertisements: CloudCheck = {
  scope: 'cloud',
  id: 'l2advertisements',
  title: 'L2Advertisements',
  promise: 'every pool is announced on the interface of its network, and nowhere else',
  kinds: [L2_ADVERTISEMENT, POOL],
  besides: [BGP_ADVERTISEMENT],
  look: (look) => {
    const planned = desiredOf(look.desired, L2_ADVERTISEMENT, BGP_ADVERTISEMENT)
    return {
      seen: counted(planned.length, 'advertisement'),
      count: planned.length,
      findings: [...asPlanned(look, planned), ...strangers(look, planned)],
    }
  },
}

/** Advertisements that are not ours and announce a pool of ours somewhere else: they add up with ours. */
function strangers({ cloud, live }: CloudLook, own: readonly KubeObject[]): readonly Finding[] {
  const names = new Set(own.map(({ metadata }) => metadata.name))
  const others = live.all(groupKindOf(L2_ADVERTISEMENT)).filter(({ metadata }) => !names.has(metadata.name))
  return others.flatMap((other) =>
    cloud.networks
      .filter((network) => network.pool !== undefined && announces(other, network.pool, live))
      .flatMap((network) => strayInterfaces(other, network))
      .slice(0, 1),
  )
}

function strayInterfaces(other: KubeObject, network: PlannedNetwork): readonly Finding[] {
  const interfaces = listAt(other, 'spec', 'interfaces').map(String)
  const stray = interfaces.filter((name) => name !== network.interface)
  if (interfaces.length > 0 && stray.length === 0) return []
  const facts = {
    pool: network.pool ?? '',
    by: nameOf(other),
    on: stray.length === 0 ? 'every interface' : stray.join(', '),
    planned: network.interface,
  }
  return [finding(announcedElsewhere, facts, { where: placeOf(other, 'spec.interfaces') })]
}

/** By name, by the pool's labels, or because it names no pool at all. */
function announces(advertisement: KubeObject, pool: string, live: SnapshotIndex): boolean {
  const names = listAt(advertisement, 'spec', 'ipAddressPools')
  const selectors = listAt(advertisement, 'spec', 'ipAddressPoolSelectors')
  if (names.length === 0 && selectors.length === 0) return true
  if (names.includes(pool)) return true
  const labels = live.get(groupKindOf(POOL), pool, advertisement.metadata.namespace)?.metadata.labels ?? {}
  return selectors.some((selector) => {
    const wanted = Object.entries((at(selector, 'matchLabels') ?? {}) as Record<string, string>)
    return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value)
  })
}
