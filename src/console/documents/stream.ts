/**
 * Defines the events of the stream. The SSE field `event` is the kind, `id` is `<server>-<number>`, `data` is the JSON.
 * After a reconnect with `Last-Event-ID` the missed events are sent again, or `reset` if they are too old.
 */
import * as z from 'zod'
import { actionState } from './actions.ts'
import { list } from './common.ts'
import { connection } from './meta.ts'

const item = z.looseObject({ id: z.string() })

/** Changes one document: apply it to the copy that the page has, then set `version`. */
const patchEvent = z.object({
  kind: z.literal('patch'),
  document: z.enum(['meta', 'overview', 'addresses', 'topology', 'runs', 'hosts', 'findings', 'lab']),
  version: z.number(),
  /** Fields to replace as a whole. */
  fields: z.record(z.string(), z.unknown()).optional(),
  /** By field: items of a list to replace or add, by id. */
  set: z.record(z.string(), list(item)).optional(),
  /** By field: ids of items to remove from a list. */
  remove: z.record(z.string(), list(z.string())).optional(),
  /** By field: the ids of the whole list in their new order; absent if items were only replaced. */
  order: z.record(z.string(), list(z.string())).optional(),
})

export const streamEvent = z.discriminatedUnion('kind', [
  /** First event of every connection. */
  z.object({ kind: z.literal('hello'), server: z.string(), version: z.number() }),
  /** The events since the last one are not kept: load every document again. */
  z.object({ kind: z.literal('reset'), version: z.number() }),
  patchEvent,
  /** A document with a key, or one that is too large to compute while no page shows it: load it again if it is shown. */
  z.object({
    kind: z.literal('changed'),
    version: z.number(),
    route: z.enum(['addresses', 'topology', 'network', 'topologyItem', 'deployment']),
    /** `rhoso1/storage`; absent: any of them may have changed. */
    key: z.string().optional(),
  }),
  /** Events of a run, in order, from this index on. */
  z.object({
    kind: z.literal('run'),
    version: z.number(),
    run: z.string(),
    from: z.number(),
    events: list(z.looseObject({ kind: z.string(), time: z.string(), run: z.string() })),
  }),
  z.object({ kind: z.literal('action'), version: z.number(), action: actionState }),
  z.object({ kind: z.literal('connection'), version: z.number(), connection }),
])

export type PatchEvent = z.infer<typeof patchEvent>
export type StreamEvent = z.infer<typeof streamEvent>
