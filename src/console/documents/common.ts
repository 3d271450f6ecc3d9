/** Defines what the documents of the console share. A document is an object whose lists have items with an `id`. */
import * as z from 'zod'

/** A list of items; the stream replaces single items by their `id`. */
export function list<T extends z.ZodType>(item: T) {
  return z.array(item).readonly()
}

export const severity = z.enum(['error', 'warning', 'info'])

const fileLocation = z.object({ file: z.string(), line: z.number(), column: z.number() })
const objectLocation = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  path: z.string().optional(),
})

export const finding = z.object({
  code: z.string(),
  severity,
  message: z.string(),
  remedy: z.string(),
  where: z.union([fileLocation, objectLocation]).optional(),
  owners: list(z.string()).optional(),
})

/** Something that could not be read, so that the document is incomplete. */
const note = z.object({
  kind: z.enum(['denied', 'unread', 'lost', 'loading']),
  text: z.string(),
})

/** A place in another view: the page makes a link of it. */
export const link = z.object({
  view: z.enum(['overview', 'addresses', 'topology', 'run', 'hosts', 'findings', 'lab']),
  /** State of the view, as in the URL: `{ cloud: 'rhoso1', network: 'storage' }`. */
  query: z.record(z.string(), z.string()),
})

/** What every document has. */
export const documentFields = {
  /** The number of the last stream event that is contained. The stream continues after it. */
  version: z.number(),
  /** The command line that prints the same. */
  command: z.string(),
  notes: list(note),
}

export type Note = z.infer<typeof note>
export type Link = z.infer<typeof link>
