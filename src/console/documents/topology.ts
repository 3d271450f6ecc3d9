/** Defines the topology: items in columns of a known order, and edges between neighbouring columns. */
import * as z from 'zod'
import { documentFields, link, list, severity } from './common.ts'

const topologyKind = z.enum(['node', 'nic', 'bond', 'bridge', 'segment', 'network', 'pool', 'vip', 'cloud', 'hosts'])

const topologyItem = z.object({
  /** `node:worker-0`, `segment:main/20`, `network:rhoso1/storage`. */
  id: z.string(),
  kind: topologyKind,
  /** The place in the drawing. Rows never change for an unchanged plan; there is part of a row between clouds. */
  column: z.number(),
  row: z.number(),
  label: z.string(),
  /** Lines for a tooltip or a panel. */
  details: list(z.string()),
  cloud: z.string().optional(),
  /** The number of VIPs or hosts that the item stands for. */
  count: z.number().optional(),
  state: z.enum(['ready', 'progressing', 'failed', 'unknown']).optional(),
  reason: z.string().optional(),
  link: link.optional(),
})

const topologyEdge = z.object({
  id: z.string(),
  from: z.string(),
  to: z.string(),
  kind: z.enum(['carries', 'attaches', 'belongs', 'serves', 'forbidden']),
  /** An edge that should not be: two clouds that reach each other. */
  problem: z.object({ severity, code: z.string(), message: z.string() }).optional(),
  probe: z.object({ verdict: z.enum(['passed', 'failed', 'unknown']), text: z.string(), time: z.string() }).optional(),
})

export const topologyDocument = z.object({
  ...documentFields,
  /** Titles of the columns. */
  columns: list(z.string()),
  items: list(topologyItem),
  edges: list(topologyEdge),
})

export const topologyItemDocument = z.object({
  ...documentFields,
  item: z.string(),
  label: z.string(),
  /** Ids of items and edges that it touches in all clouds, itself included. */
  touches: list(z.string()),
  /** For an item on a segment: everything on the same L2 domain, with the nodes that carry it. */
  l2: list(z.string()),
  /** What fails when this node or segment fails. */
  falls: z.object({ clouds: list(z.string()), vips: list(z.string()), hosts: list(z.string()), text: z.string() }),
})

export type TopologyItem = z.infer<typeof topologyItem>
export type TopologyEdge = z.infer<typeof topologyEdge>
export type TopologyDocument = z.infer<typeof topologyDocument>
export type TopologyItemDocument = z.infer<typeof topologyItemDocument>
