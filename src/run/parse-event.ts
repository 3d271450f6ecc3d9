/**
 * Parses a line of recorded events. A file may come from elsewhere: what does not have the shape of an event is left out.
 *
 * Pure. Fields and kinds that this version does not know are kept, because later versions may add some.
 */
import * as z from 'zod'
import type { RunEvent } from './events.ts'

const text = z.string().max(100_000)
const name = z.string().max(1_000)
const milliseconds = z.number().min(0)

const base = {
  time: name.refine((time) => !Number.isNaN(Date.parse(time))),
  run: name,
  cloud: name.optional(),
  stage: name.optional(),
  object: z.looseObject({ apiVersion: name.optional(), kind: name, namespace: name.optional(), name }).optional(),
}

const stages = z.array(
  z.looseObject({ id: name, stage: name, cloud: name.optional(), after: z.array(name).max(1_000) }),
)

const finding = z.looseObject({
  code: name,
  severity: z.enum(['error', 'warning', 'info']),
  message: text,
  remedy: text,
  where: z
    .union([
      z.looseObject({ file: name, line: z.number(), column: z.number() }),
      z.looseObject({ kind: name, name, namespace: name.optional(), path: name.optional() }),
    ])
    .optional(),
  owners: z.array(text).max(1_000).optional(),
})

const knownEvents = {
  'run-started': { what: text, command: z.array(text).max(1_000).optional(), stages: stages.max(10_000) },
  'stage-started': {},
  'stage-skipped': { reason: text },
  applied: { change: z.enum(['created', 'changed', 'unchanged', 'deleted']) },
  waiting: { reason: text },
  progress: { message: text, done: z.number().optional(), total: z.number().optional() },
  finding: { finding },
  'stage-finished': {
    outcome: z.enum(['done', 'failed', 'stopped', 'blocked']),
    ms: milliseconds,
    reason: text.optional(),
  },
  'run-finished': { outcome: z.enum(['done', 'failed', 'stopped']), ms: milliseconds },
} satisfies Record<RunEvent['kind'], z.ZodRawShape>

const schemas: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(knownEvents).map(([kind, fields]) => [kind, z.looseObject({ ...base, ...fields })]),
)
const unknownKind = z.looseObject({ ...base, kind: name })

/** Undefined for a line that is no event, such as the end of a record that is being written. */
export function parseEventLine(line: string): RunEvent | undefined {
  try {
    const value = JSON.parse(line) as { readonly kind?: unknown } | null
    const schema = schemas.get(String(value?.kind)) ?? unknownKind
    return schema.safeParse(value).success ? (value as RunEvent) : undefined
  } catch {
    return undefined
  }
}
