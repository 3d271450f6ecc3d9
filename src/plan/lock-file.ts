/**
 * Reads and writes the lock as text: `site.lock.yaml`, written by Stackloom only and read strictly.
 *
 * Pure. The command line knows where the file is.
 */
import { load } from 'js-yaml'
import * as z from 'zod'
import { formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { findExpansion } from '../yaml/expanded-size.ts'
import { writeYaml } from '../yaml/write.ts'
import { lockUnreadable } from './findings/lock.ts'
import type { Lock } from './lock.ts'

const texts = z.array(z.string())
const held = z.record(z.string(), texts)
const holders = { vips: held.optional(), nodes: held.optional(), hosts: held.optional(), endpoints: held.optional() }

const subnet = z.strictObject({
  name: z.string(),
  cidr: z.string(),
  gateway: z.string().optional(),
  spans: z
    .strictObject({ nodes: texts.optional(), pods: texts.optional(), vips: texts.optional(), hosts: texts.optional() })
    .optional(),
})

const network = z.strictObject({
  leaving: z.literal(true).optional(),
  nic: z.string().optional(),
  vlan: z.int().optional(),
  interface: z.string(),
  bridge: z.string().optional(),
  mtu: z.int(),
  pool: z.string().optional(),
  subnets: z.array(subnet).optional(),
  vip: held.optional(),
  ...holders,
  left: z.strictObject(holders).optional(),
})

const cloud = z.strictObject({
  namespace: z.string(),
  leaving: z.literal(true).optional(),
  cells: z.record(z.string(), z.string()).optional(),
  networks: z.record(z.string(), network),
})

const lockSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1'),
  kind: z.literal('SiteLock'),
  site: z.string(),
  crd: z.string().optional(),
  release: z.string().optional(),
  slots: texts.optional(),
  services: texts.optional(),
  clouds: z.record(z.string(), cloud),
})

export interface LockReading {
  /** Absent when the text is not a lock. */
  readonly lock?: Lock
  readonly findings: readonly Finding[]
}

export function readLock(text: string, file: string): LockReading {
  const refuse = (reason: string): LockReading => ({
    findings: [finding(lockUnreadable, { file, reason }, { where: { file, line: 1, column: 1 } })],
  })
  if (text.includes(MARKED) && !text.trimEnd().endsWith(END)) return refuse('its end is missing')
  let value: unknown
  try {
    value = load(text)
  } catch (thrown) {
    return refuse(formatError(thrown).split('\n')[0] ?? 'it is not YAML')
  }
  const expansion = findExpansion(value, text.length)
  if (expansion !== undefined) return refuse(expansion)
  const parsed = lockSchema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return refuse(issue ? `${issue.path.join('.') || 'the file'}: ${issue.message}` : 'it has another shape')
  }
  const { apiVersion: _, kind: __, ...lock } = parsed.data
  return { lock: lock as Lock, findings: [] }
}

/** Comments, so that earlier versions read the file; their locks have neither line. */
const MARKED = '# The last line marks its end.'
const END = '# End of the lock.'

const HEADER = `# Written by stackloom: what the planner gave to whom. Commit it; do not edit it.
# Nothing in it moves unless you say so (stackloom plan --allow-move NAME).
${MARKED}
`

export function writeLock(lock: Lock): string {
  return `${HEADER}${writeYaml({ apiVersion: 'stackloom.dev/v1alpha1', kind: 'SiteLock', ...lock })}${END}\n`
}
