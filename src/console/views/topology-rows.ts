/** Places the items of the topology: a known order of columns, and rows that follow the plan, so that nothing moves. Pure. */
import { groupBy } from '../../api/collections.ts'
import type { TopologyEdge, TopologyItem } from '../documents/topology.ts'

export const columns = ['Nodes', 'NICs', 'Segments', 'Bridges', 'Networks', 'Pools', 'VIPs', 'Clouds', 'Hosts'] as const
export const column = (title: (typeof columns)[number]): number => columns.indexOf(title)

export type Item = Omit<TopologyItem, 'row'>
/** Part of a row. */
const CLOUD_GAP = 0.6

/**
 * Gives each item its row: a network, its pool and the first of its VIPs share one, a cloud begins below the one before it, and
 * what carries a network is beside the first network that it carries.
 */
export function withRows(items: readonly Item[], edges: readonly TopologyEdge[]): readonly TopologyItem[] {
  // Ids may occur twice: a bond on several NICs, a bridge of two segments.
  const unique = [...new Map(items.map((item) => [item.id, item])).values()]
  const byId = new Map(unique.map((item) => [item.id, item]))
  const rows = new Map<string, number>()
  const free = columns.map(() => 0)
  const place = (item: Item, wanted: number): number => {
    const row = Math.max(wanted, free[item.column] ?? 0)
    rows.set(item.id, row)
    free[item.column] = row + 1
    return row
  }
  const targets = groupBy(edges, ({ from }) => from)
  const carriers = groupBy(edges, ({ to }) => to)
  const neighbours = (id: string, kind: TopologyItem['kind']): readonly Item[] =>
    (targets.get(id) ?? []).flatMap(({ to }) => byId.get(to) ?? []).filter((item) => item.kind === kind)
  const placeCarriers = (id: string, row: number): void => {
    for (const { from } of carriers.get(id) ?? []) {
      const carrier = byId.get(from)
      if (!carrier || rows.has(from) || (carrier.kind !== 'bridge' && carrier.kind !== 'segment')) continue
      place(carrier, row)
      placeCarriers(from, row)
    }
  }
  let next = 0
  for (const cloud of unique.filter(({ kind }) => kind === 'cloud')) {
    place(cloud, next)
    for (const hosts of neighbours(cloud.id, 'hosts')) place(hosts, next)
    for (const network of unique.filter((item) => item.kind === 'network' && item.cloud === cloud.cloud)) {
      const row = place(network, next)
      placeCarriers(network.id, row)
      const pools = neighbours(network.id, 'pool')
      for (const pool of pools) place(pool, row)
      for (const vip of pools.flatMap((pool) => neighbours(pool.id, 'vip'))) place(vip, row)
      next = Math.max(row + 1, free[column('VIPs')] ?? 0)
    }
    next += CLOUD_GAP
  }
  for (const node of unique.filter(({ kind }) => kind === 'node')) {
    place(node, free[column('NICs')] ?? 0)
    for (const { to } of targets.get(node.id) ?? []) {
      const nic = byId.get(to)
      if (nic) place(nic, 0)
    }
  }
  return unique.map((item) => ({ ...item, row: rows.get(item.id) ?? place(item, 0) }))
}
