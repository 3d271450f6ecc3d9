/** Chooses the part of a large topology that is drawn, and closes the gaps between its rows. Pure. */
import type { TopologyDocument, TopologyItem } from '../../src/console/documents/topology.ts'

type Drawn = Pick<TopologyDocument, 'items' | 'edges'>

/** The items of a cloud and what carries them: everything that edges reach towards the nodes. */
export function itemsOfCloud({ items, edges }: Drawn, cloud: string): ReadonlySet<string> {
  const byId = new Map(items.map((item) => [item.id, item]))
  const carriers = new Map<string, string[]>()
  for (const { from, to, problem } of edges) {
    const [a, b] = [byId.get(from), byId.get(to)]
    if (!a || !b) continue
    if (problem || a.column > b.column) addTo(carriers, a.id, b.id)
    if (problem || b.column > a.column) addTo(carriers, b.id, a.id)
  }
  const found = new Set(items.filter((item) => item.cloud === cloud).map(({ id }) => id))
  for (const id of found) for (const carrier of carriers.get(id) ?? []) found.add(carrier)
  return found
}

function addTo(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

const isNodePart = ({ kind }: TopologyItem): boolean => kind === 'node' || kind === 'nic' || kind === 'bond'

/** These items alone, in their order, without empty rows. Nodes and their NICs begin at the top, too. */
export function compactRows({ items, edges }: Drawn, shown: ReadonlySet<string>): Drawn {
  const kept = items.filter(({ id }) => shown.has(id))
  const compact = (part: readonly TopologyItem[]): readonly TopologyItem[] => {
    const rows = [...new Set(part.map(({ row }) => row))].toSorted((a, b) => a - b)
    const places = new Map(rows.map((row, index) => [row, index]))
    return part.map((item) => ({ ...item, row: places.get(item.row) ?? 0 }))
  }
  return {
    items: [...compact(kept.filter(isNodePart)), ...compact(kept.filter((item) => !isNodePart(item)))],
    edges: edges.filter(({ from, to }) => shown.has(from) && shown.has(to)),
  }
}
