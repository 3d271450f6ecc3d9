/** Defines runs: the list of known ones, one run as a grid and a timeline, and its events. */
import * as z from 'zod'
import { documentFields, finding, list } from './common.ts'

const runLine = z.object({
  id: z.string(),
  /** `up site.yaml` */
  what: z.string(),
  state: z.enum(['running', 'done', 'failed', 'stopped', 'interrupted']),
  startedAt: z.string(),
  ms: z.number().optional(),
  /** `recorded`: a file that was given; `live`: recorded by a run of this user. */
  source: z.enum(['live', 'recorded']),
  done: z.number(),
  total: z.number(),
})

const stageLine = z.object({
  /** `rhoso1/control-plane` */
  id: z.string(),
  name: z.string(),
  cloud: z.string().optional(),
  after: list(z.string()),
  state: z.enum(['pending', 'running', 'skipped', 'done', 'failed', 'stopped', 'blocked']),
  /** ISO time. */
  startedAt: z.string().optional(),
  ms: z.number().optional(),
  /** Why it waits, was skipped, or did not succeed. */
  reason: z.string().optional(),
  object: z
    .object({
      apiVersion: z.string().optional(),
      kind: z.string(),
      namespace: z.string().optional(),
      name: z.string(),
    })
    .optional(),
  /** The command that shows the object, or the next one after a failure. */
  command: z.string().optional(),
  progress: z.object({ done: z.number(), total: z.number() }).optional(),
  applied: z.object({
    created: z.number(),
    changed: z.number(),
    unchanged: z.number(),
    deleted: z.number(),
  }),
  /** On the longest chain of stages. */
  critical: z.boolean(),
  /** The median of earlier runs. */
  estimateMs: z.number().optional(),
})

export const runsDocument = z.object({
  ...documentFields,
  /** The newest first. */
  runs: list(runLine),
})

export const runDocument = z.object({
  ...documentFields,
  run: runLine,
  /** Shared stages first, then those of each cloud, in the order of the run. */
  stages: list(stageLine),
  clouds: list(z.string()),
  /** Names of stages in the order of the run: the rows of the grid. */
  names: list(z.string()),
  findings: list(z.object({ id: z.string(), finding, cloud: z.string().optional(), stage: z.string().optional() })),
  criticalPath: list(z.string()),
  estimate: z.object({ leftMs: z.number(), totalMs: z.number(), runs: z.number() }).optional(),
  /** The next command after a failure, or of a run that was stopped. */
  next: z.string().optional(),
  /** What else to do after a failure: the remedy of its cause. */
  remedy: z.string().optional(),
  /** How many events there are. */
  events: z.number(),
})

/** What is behind a stage, read from the cluster as it is now. */
export const stageDocument = z.object({
  ...documentFields,
  stage: z.string(),
  pods: list(
    z.object({
      id: z.string(),
      container: z.string().optional(),
      phase: z.string(),
      /** The end of the log; the reason in its place where it could not be read. */
      output: z.string(),
      command: z.string(),
    }),
  ),
})

/** The events are those of `--events jsonl`; `src/run/run-view.ts` folds them. */
export const runEventsDocument = z.object({
  run: z.string(),
  from: z.number(),
  events: list(z.looseObject({ kind: z.string(), time: z.string(), run: z.string() })),
  /** The index to ask for next; absent when these are all. */
  next: z.number().optional(),
})

export type RunLine = z.infer<typeof runLine>
export type StageLine = z.infer<typeof stageLine>
export type RunsDocument = z.infer<typeof runsDocument>
export type RunDocument = z.infer<typeof runDocument>
export type StageDocument = z.infer<typeof stageDocument>
export type RunEventsDocument = z.infer<typeof runEventsDocument>
