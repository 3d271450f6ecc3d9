/**
 * Reads any lock: `site.lock.yaml`, written by Stackloom only and read strictly.
 *
 * Pure. The command line knows where the file is. A lock that this version wrote is read faster by `written-lock.ts`.
 */
import { load } from 'js-yaml'
import * as z from 'zod'
import { formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { findExpansion } from '../yaml/expanded-size.ts'
import { lockUnreadable } from './findings/lock.ts'
import type { Lock } from './lock.ts'
import { END, MARKED, readWrittenLock } from './written-lock.ts'

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

export const lockSchema = z.strictObject({
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
  const written = readWrittenLock(text)
  if (written) return { lock: written, findings: [] }
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
