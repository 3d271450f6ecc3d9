/** Defines the overview: what needs attention first, then one line per cloud. */
import * as z from 'zod'
import { documentFields, link, list, severity } from './common.ts'

const cloudState = z.enum(['failed', 'progressing', 'ready', 'planned', 'denied', 'unknown'])

const counts = z.object({ error: z.number(), warning: z.number(), info: z.number() })

const cloudLine = z.object({
  /** The name of the cloud; `shared` for what the clouds share. */
  id: z.string(),
  name: z.string(),
  namespace: z.string().optional(),
  state: cloudState,
  /** Why it is not ready: the first object, with what it waits for or why it failed. */
  reason: z.string().optional(),
  /** The next command after a failure. */
  next: z.string().optional(),
  objects: z.object({ ready: z.number(), total: z.number() }),
  release: z.string().optional(),
  /** The stage of the last run in this cloud. */
  stage: z.object({ name: z.string(), state: z.string(), run: z.string() }).optional(),
  findings: counts,
  hosts: z.object({ total: z.number(), behind: z.number(), failed: z.number(), text: z.string() }).optional(),
  fullestPool: z
    .object({ network: z.string(), role: z.string(), used: z.string(), of: z.string(), fraction: z.number() })
    .optional(),
  soonestCertificate: z
    .object({ name: z.string(), daysLeft: z.number(), verdict: z.string(), notAfter: z.string() })
    .optional(),
})

const attention = z.object({
  id: z.string(),
  severity,
  cloud: z.string().optional(),
  title: z.string(),
  reason: z.string(),
  /** The command that helps. */
  command: z.string().optional(),
  link,
})

const siteLine = z.object({
  /** The name in the fleet file. */
  id: z.string(),
  verdict: z.enum(['failed', 'invalid', 'unreachable', 'partial', 'fine']),
  /** Whether the other views show this site. */
  isShown: z.boolean(),
  /** `rhoso1 ready, rhoso2 failed`; absent where they are not known. */
  clouds: z.string().optional(),
  objects: z.object({ ready: z.number(), total: z.number() }).optional(),
  problem: z.string().optional(),
  /** Opens the console of this site. */
  command: z.string(),
})

export const overviewDocument = z.object({
  ...documentFields,
  /** The worst first. */
  attention: list(attention),
  clouds: list(cloudLine),
  /** Of the clouds and of what they share. */
  findings: counts,
  /** The sites of a fleet, worst first; empty without a fleet file. */
  sites: list(siteLine),
  /** `2 clouds, 1 ready` */
  summary: z.string(),
})

export type Attention = z.infer<typeof attention>
export type CloudLine = z.infer<typeof cloudLine>
export type SiteLine = z.infer<typeof siteLine>
export type OverviewDocument = z.infer<typeof overviewDocument>
