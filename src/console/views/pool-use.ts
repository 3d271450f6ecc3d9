/** Finds the fullest span of each cloud, by what is planned and what the cluster has. Pure. */
import { groupBy } from '../../api/collections.ts'
import { parseAddress } from '../../net/address.ts'
import { rangeContains, rangeSize } from '../../net/range.ts'
import { listHolders } from '../../plan/lookup.ts'
import { type PlannedCloud, type PlannedNetwork, parseAddressRange } from '../../plan/plan.ts'
import type { CloudLine } from '../documents/overview.ts'
import type { ViewInput } from './view-input.ts'

type Pool = NonNullable<CloudLine['fullestPool']>

/** `held`: addresses that objects of the cloud have. Spans of nodes are left out: nodes are not given out one by one. */
export function findFullestPool({ networks }: PlannedCloud, held: Iterable<string>): Pool | undefined {
  const uses = networks.flatMap((network) => measureSpans(network, held))
  return uses.toSorted((a, b) => b.fraction - a.fraction)[0]
}

/** By cloud. */
export function fullestPools({ planned, live }: ViewInput): ReadonlyMap<string, Pool> {
  const held = groupBy(live?.held ?? [], ({ namespace }) => namespace)
  return new Map(
    (planned?.plan.clouds ?? []).flatMap((cloud) => {
      const addresses = (held.get(cloud.namespace) ?? []).map(({ address }) => address)
      const pool = findFullestPool(cloud, addresses)
      return pool ? [[cloud.name, pool] as const] : []
    }),
  )
}

function measureSpans(network: PlannedNetwork, held: Iterable<string>): readonly Pool[] {
  const spans = network.subnets
    .flatMap((subnet) => subnet.spans)
    .filter(({ role }) => role !== 'nodes')
    .map((span) => ({ role: span.role, range: parseAddressRange(span), used: 0 }))
  const used = new Set([...listHolders(network).map(({ address }) => address), ...held])
  for (const text of used) {
    const address = parseAddress(text)
    const span = address && spans.find(({ range }) => rangeContains(range, address))
    if (span) span.used += 1
  }
  return spans.map(({ role, range, used: count }) => {
    const size = rangeSize(range)
    return { network: network.name, role, used: String(count), of: String(size), fraction: count / Number(size) }
  })
}
