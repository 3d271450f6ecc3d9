/** Defines the answer of the search field: the same as `stackloom ip`, with the reason and the live holders. */
import * as z from 'zod'
import { documentFields, finding, link, list } from './common.ts'

const addressAnswer = z.object({
  kind: z.literal('address'),
  address: z.string(),
  cloud: z.string(),
  namespace: z.string(),
  network: z.string(),
  subnet: z.string(),
  segment: z.string().optional(),
  role: z.string().optional(),
  span: z.string().optional(),
  holders: list(z.string()),
  free: z.object({
    before: z.string().optional(),
    after: z.string().optional(),
    count: z.string(),
    of: z.string(),
  }),
  /** What decided it: a pin with its place, the lock, or the planner. */
  because: z.string().optional(),
  link,
})

const nameAnswer = z.object({
  kind: z.literal('name'),
  name: z.string(),
  addresses: list(
    z.object({
      address: z.string(),
      cloud: z.string(),
      network: z.string(),
      role: z.enum(['vip', 'node', 'host', 'endpoint']),
      holder: z.string(),
      link,
    }),
  ),
})

const clusterAnswer = z.object({
  kind: z.literal('cluster'),
  address: z.string(),
  use: z.string(),
  cidr: z.string(),
})

export const searchDocument = z.object({
  ...documentFields,
  query: z.string(),
  answers: list(z.discriminatedUnion('kind', [addressAnswer, nameAnswer, clusterAnswer])),
  /** Absent without a cluster. */
  live: list(
    z.object({
      address: z.string(),
      holders: list(
        z.object({
          kind: z.enum(['has', 'gives']),
          who: z.string(),
          namespace: z.string().optional(),
          how: z.string(),
          since: z.string().optional(),
        }),
      ),
    }),
  ).optional(),
  findings: list(finding),
  /** The closest known name, when there is no answer. */
  suggestion: z.string().optional(),
  /** The answer in one line, for a screen reader. */
  text: z.string(),
})

export type SearchDocument = z.infer<typeof searchDocument>
