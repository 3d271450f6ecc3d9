/** Finds the fullest span of each cloud, by what is planned and what the cluster has. Pure. */
import { parseAddress } from '../../net/address.ts'
import { rangeContains, rangeSize } from '../../net/range.ts'
import { listHolders } from '../../plan/lookup.ts'
import { type PlannedNetwork, parseAddressRange } from '../../plan/plan.ts'
import type { CloudLine } from '../documents/overview.ts'
import type { ViewInput } from './view-input.ts'

type Pool = NonNullable<CloudLine['fullestPool']>

/** By cloud. Addresses of nodes are left out: nodes are not given out one by one. */
export function fullestPools({ planned, live }: ViewInput): ReadonlyMap<string, Pool> {
  const held = new Map<string, Set<string>>()
  for (const { namespace = '', address } of live?.held ?? []) {
    const addresses = held.get(namespace)
    if (addresses) addresses.add(address)
    else held.set(namespace, new Set([address]))
  }
  return new Map(
    (planned?.plan.clouds ?? []).flatMap(({ name, namespace, networks }) => {
      const uses = networks.flatMap((network) => measureSpans(network, held.get(namespace) ?? new Set()))
      const [first] = uses.toSorted((a, b) => b.fraction - a.fraction)
      return first ? [[name, first] as const] : []
    }),
  )
}

function measureSpans(network: PlannedNetwork, held: ReadonlySet<string>): readonly Pool[] {
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
