/** Defines findings: plan, verify and doctor in one list, grouped by cause, and what was checked. */
import * as z from 'zod'
import { documentFields, finding, list, severity } from './common.ts'

const findingLine = finding.extend({
  id: z.string(),
  source: z.enum(['plan', 'verify', 'doctor', 'read']),
  title: z.string(),
  cloud: z.string().optional(),
  /** `site.yaml:12:9`, `Service openstack/keystone-internal`. */
  place: z.string().optional(),
  evidence: list(z.string()),
  /** Commands of the remedy, to copy. */
  commands: list(z.string()),
  /** Lines of the site file around the place. */
  excerpt: z
    .object({
      file: z.string(),
      lines: list(z.object({ number: z.number(), text: z.string(), marked: z.boolean() })),
    })
    .optional(),
  /** The entry for `spec.accept` to paste; absent where a finding cannot be accepted. */
  accept: z.string().optional(),
  accepted: z.boolean(),
  likelihood: z.enum(['proven', 'likely', 'possible']).optional(),
  /** Documentation of the component. */
  documentation: z.string().optional(),
  /** `stackloom explain SL2103` */
  explain: z.string(),
})

const findingGroup = z.object({
  id: z.string(),
  severity,
  /** The id of the finding that is the cause. */
  cause: z.string(),
  title: z.string(),
  /** Ids of the findings that follow from it. */
  consequences: list(z.string()),
})

const checkLine = z.object({
  id: z.string(),
  check: z.string(),
  title: z.string(),
  cloud: z.string().optional(),
  promise: z.string(),
  seen: z.string(),
  verdict: z.enum(['passed', 'failed', 'unknown', 'empty']),
})

export const findingsDocument = z.object({
  ...documentFields,
  /** The worst first. */
  groups: list(findingGroup),
  findings: list(findingLine),
  checks: list(checkLine),
  /** What was checked, for a page without findings. */
  checked: z.object({
    plan: z.boolean(),
    verify: z.object({ passed: z.number(), total: z.number() }).optional(),
    doctor: z.object({ rules: z.number(), skipped: z.number() }).optional(),
    /** ISO time. */
    time: z.string(),
    text: z.string(),
  }),
})

export type FindingLine = z.infer<typeof findingLine>
export type FindingGroup = z.infer<typeof findingGroup>
export type FindingsDocument = z.infer<typeof findingsDocument>
