/** Defines the document that describes the console itself: its sources, connection, views and actions. */
import * as z from 'zod'
import { documentFields, list } from './common.ts'

export const connection = z.object({
  /** `none`: no cluster is asked (plan only, or a dump). */
  kind: z.enum(['none', 'connecting', 'connected', 'lost']),
  /** ISO time of the last change. */
  since: z.string(),
  /** Why it is lost. */
  reason: z.string().optional(),
})

export const metaDocument = z.object({
  ...documentFields,
  program: z.object({ name: z.string(), version: z.string() }),
  /** Another value after a restart: the page loads everything again. */
  server: z.string(),
  site: z.string().optional(),
  siteFile: z.string().optional(),
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('live'), server: z.string(), context: z.string().optional() }),
    z.object({ kind: z.literal('dump'), folder: z.string() }),
    z.object({ kind: z.literal('none') }),
  ]),
  connection,
  clouds: list(z.object({ id: z.string(), name: z.string(), namespace: z.string() })),
  /** In the order of the menu. `reason`: why a view has nothing to show, and what to give to fill it. */
  views: list(
    z.object({
      id: z.enum(['overview', 'addresses', 'topology', 'run', 'hosts', 'findings', 'lab']),
      title: z.string(),
      available: z.boolean(),
      reason: z.string().optional(),
      command: z.string(),
    }),
  ),
  /** Empty without `--allow-actions`. */
  actions: list(
    z.object({
      id: z.enum(['plan', 'verify', 'doctor', 'diff', 'up', 'down']),
      title: z.string(),
      command: z.string(),
      /** Must be confirmed: first `POST` without `confirm`, show the answer, then `POST` with it. */
      confirm: z.boolean(),
    }),
  ),
  actionsAllowed: z.boolean(),
})

export type Connection = z.infer<typeof connection>
export type MetaDocument = z.infer<typeof metaDocument>
