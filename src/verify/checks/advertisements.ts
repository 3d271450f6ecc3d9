/** Checks that each pool is announced only on the interface of its network. */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getList } from '../../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedNetwork } from '../../plan/plan.ts'
import { announcedElsewhere } from '../findings/check-findings.ts'
import {
  BGP_ADVERTISEMENT,
  type CloudCheck,
  type CloudContext,
  L2_ADVERTISEMENT,
  locateObject,
  outcome,
  POOL,
} from './check-definition.ts'
import { compareWithPlan, filterByKind } from './compare-with-plan.ts'

export const l2Advertisements: CloudCheck = {
  scope: 'cloud',
  id: 'l2advertisements',
  title: 'L2Advertisements',
  promise: 'every pool is announced on the interface of its network, and nowhere else',
  kinds: [L2_ADVERTISEMENT, POOL],
  optionalKinds: [BGP_ADVERTISEMENT],
  run: (context) => {
    const planned = filterByKind(context.desired, L2_ADVERTISEMENT, BGP_ADVERTISEMENT)
    return outcome(planned.length, 'advertisement', [
      ...compareWithPlan(context, planned),
      ...foreignAdvertisements(context, planned),
    ])
  },
}

/** Other advertisements that announce a pool of this cloud on another interface; advertisements are cumulative. */
function foreignAdvertisements({ cloud, live }: CloudContext, planned: readonly KubeObject[]): readonly Finding[] {
  const names = new Set(planned.map(({ metadata }) => metadata.name))
  const others = live.all(formatGroupKind(L2_ADVERTISEMENT)).filter(({ metadata }) => !names.has(metadata.name))
  return others.flatMap((other) =>
    cloud.networks
      .filter((network) => network.pool !== undefined && announces(other, network.pool, live))
      .flatMap((network) => strayInterfaces(other, network))
      .slice(0, 1),
  )
}

function strayInterfaces(other: KubeObject, network: PlannedNetwork): readonly Finding[] {
  const interfaces = getList(other, 'spec', 'interfaces').map(String)
  const stray = interfaces.filter((name) => name !== network.interface)
  if (interfaces.length > 0 && stray.length === 0) return []
  const facts = {
    pool: network.pool ?? '',
    by: formatObjectName(other),
    on: stray.length === 0 ? 'every interface' : stray.join(', '),
    planned: network.interface,
  }
  return [finding(announcedElsewhere, facts, { where: locateObject(other, 'spec.interfaces') })]
}

/** By name, by labels, or because it selects all pools. */
function announces(advertisement: KubeObject, pool: string, live: SnapshotIndex): boolean {
  const names = getList(advertisement, 'spec', 'ipAddressPools')
  const selectors = getList(advertisement, 'spec', 'ipAddressPoolSelectors')
  if (names.length === 0 && selectors.length === 0) return true
  if (names.includes(pool)) return true
  const labels = live.get(formatGroupKind(POOL), pool, advertisement.metadata.namespace)?.metadata.labels ?? {}
  return selectors.some((selector) => {
    const required = Object.entries((getField(selector, 'matchLabels') ?? {}) as Record<string, string>)
    return required.length > 0 && required.every(([key, value]) => labels[key] === value)
  })
}
