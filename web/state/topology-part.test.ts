import { expect, it } from 'vitest'
import type { TopologyDocument, TopologyItem } from '../../src/console/documents/topology.ts'
import { compactRows, itemsOfCloud } from './topology-part.ts'

const item = (id: string, column: number, row: number, cloud?: string): TopologyItem => ({
  id,
  kind: id === 'node' ? 'node' : 'network',
  column,
  row,
  label: id,
  details: [],
  ...(cloud !== undefined && { cloud }),
})
const edge = (from: string, to: string): TopologyDocument['edges'][number] => ({
  id: `${from} ${to}`,
  from,
  to,
  kind: 'carries',
})

const drawn = {
  items: [
    item('node', 0, 0),
    item('vlan20', 1, 0),
    item('vlan30', 1, 1),
    item('net-a', 2, 0, 'a'),
    item('net-b', 2, 1, 'b'),
    item('cloud-b', 3, 1, 'b'),
  ],
  edges: [
    edge('node', 'vlan20'),
    edge('node', 'vlan30'),
    edge('vlan20', 'net-a'),
    edge('vlan30', 'net-b'),
    edge('net-b', 'cloud-b'),
  ],
}

it('shows a cloud with what carries it, and not the segments of others', () => {
  expect([...itemsOfCloud(drawn, 'b')].toSorted()).toEqual(['cloud-b', 'net-b', 'node', 'vlan30'])
})

it('follows an edge that should not be to the other cloud', () => {
  const problem = { severity: 'error', code: 'SL9000', message: 'reaches' } as const
  const leaking = { ...drawn, edges: [...drawn.edges, { ...edge('net-a', 'net-b'), problem }] }
  expect(itemsOfCloud(leaking, 'b').has('net-a')).toBe(true)
})

it('closes the gaps between rows and keeps their order', () => {
  const { items, edges } = compactRows(drawn, new Set(['node', 'vlan30', 'net-b']))
  expect(items.map(({ id, row }) => [id, row])).toEqual([
    ['node', 0],
    ['vlan30', 0],
    ['net-b', 0],
  ])
  expect(edges.map(({ id }) => id)).toEqual(['node vlan30', 'vlan30 net-b'])
})
