/**
 * Decides what happens to a run now.
 *
 * Pure. A run is started at most `backoffLimit + 1` times; no two attempts are on one host at once; none starts after a
 * recorded success of the same inputs; an attempt without a recorded result is Unknown, and retried like a failure.
 */

import { objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { runAlreadyDone } from '../findings/runs.ts'
import {
  type AnsibleRun,
  HOSTS_ANNOTATION,
  hasEnded,
  INPUT_HASH_ANNOTATION,
  type RunReason,
} from '../kinds/ansible-run.ts'
import type { ExecutorState, RunEnd } from './executor.ts'

export interface RunSettings {
  /** When a running attempt is killed. */
  readonly timeLimitMs: number
  /** The pause between two attempts: doubled each time, up to the maximum. */
  readonly retryFirstMs: number
  readonly retryMaxMs: number
  /**
   * How long after the claim an attempt may be absent. Another operator may have claimed it and be about to start it: its
   * end is unknown only after this time.
   */
  readonly startGraceMs: number
}

export const defaultRunSettings: RunSettings = {
  timeLimitMs: 3_600_000,
  retryFirstMs: 10_000,
  retryMaxMs: 360_000,
  startGraceMs: 0,
}

export type AttemptDecision =
  | { readonly kind: 'begin'; readonly attempt: number }
  | { readonly kind: 'wait'; readonly why: string; readonly forMs?: number }
  /** `again`: the attempt has ended, the run is retried. */
  | { readonly kind: 'record'; readonly end: RunEnd; readonly again: boolean }
  | { readonly kind: 'progress'; readonly task: string | undefined; readonly stall?: Finding }
  /** Cancel what runs, then remove the finalizer. */
  | { readonly kind: 'cancel' }
  /** The result is recorded: remove evidence and finalizer. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'nothing' }

export interface AttemptInputs {
  readonly run: AnsibleRun
  readonly hasFinalizer: boolean
  /** The state of the current attempt; read only while it runs. */
  readonly executorState?: ExecutorState
  /** Other runs: at least the active ones of the cluster, and those of the namespace with the same inputs. */
  readonly others: readonly AnsibleRun[]
  /** The addresses of its hosts; undefined when they are unknown. */
  readonly addresses?: readonly string[] | undefined
  readonly nowMs: number
  readonly settings: RunSettings
}

export function decideAttempt(known: AttemptInputs): AttemptDecision {
  const { run, hasFinalizer } = known
  if (run.metadata.deletionTimestamp !== undefined) return hasFinalizer ? { kind: 'cancel' } : { kind: 'nothing' }
  if (hasEnded(run)) return hasFinalizer ? { kind: 'clean' } : { kind: 'nothing' }
  return run.status?.JobStatus === 'Running' ? decideRunning(known) : decidePending(known)
}

function decideRunning({ run, executorState, nowMs, settings }: AttemptInputs): AttemptDecision {
  const number = run.status?.tries ?? 1
  switch (executorState?.kind) {
    case undefined:
      return { kind: 'nothing' }
    case 'running': {
      const { task, stall } = executorState
      return { kind: 'progress', task, ...(stall && { stall }) }
    }
    case 'ended':
      return { kind: 'record', end: executorState.end, again: isRetried(run, executorState.end.reason) }
    case 'absent': {
      const claimedMs = Date.parse(run.status?.running?.startedAt ?? '')
      if (nowMs < claimedMs + settings.startGraceMs) return { kind: 'progress', task: undefined }
      const end: RunEnd = { reason: 'Unknown', message: `attempt ${number} has no recorded result` }
      return { kind: 'record', end, again: isRetried(run, 'Unknown') }
    }
  }
}

/** Not retried: a spec that cannot start will not start next time, and a cancelled run stays cancelled. */
const FINAL_REASONS: ReadonlySet<RunReason> = new Set<RunReason>(['Completed', 'NotStarted', 'Cancelled'])

function isRetried({ spec, status }: AnsibleRun, reason: RunReason): boolean {
  return !FINAL_REASONS.has(reason) && (status?.tries ?? 1) <= (spec.backoffLimit ?? 6)
}

function decidePending(known: AttemptInputs): AttemptDecision {
  const { run, others, addresses, nowMs, settings } = known
  const done = findEqualSuccess(run, others)
  if (done) {
    const { message } = finding(runAlreadyDone, { by: done.metadata.name })
    return { kind: 'record', end: { reason: 'NotStarted', message }, again: false }
  }
  const remainingMs = nextAttemptMs(run, settings) - nowMs
  if (remainingMs > 0) {
    const tries = run.status?.tries ?? 0
    return { kind: 'wait', why: `attempt ${tries + 1} of ${maxAttempts(run)} follows later`, forMs: remainingMs }
  }
  const conflicting = findConflictingRun(run, addresses, others, { nowMs, settings })
  if (conflicting) return { kind: 'wait', why: formatConflict(run, conflicting) }
  return { kind: 'begin', attempt: (run.status?.tries ?? 0) + 1 }
}

export function maxAttempts({ spec }: AnsibleRun): number {
  return (spec.backoffLimit ?? 6) + 1
}

/** When the next attempt may start, in epoch milliseconds; 0 for the first. */
function nextAttemptMs({ status }: AnsibleRun, { retryFirstMs, retryMaxMs }: RunSettings): number {
  const { tries = 0, result } = status ?? {}
  if (tries === 0 || result?.finishedAt === undefined) return 0
  return Date.parse(result.finishedAt) + Math.min(retryMaxMs, retryFirstMs * 2 ** (tries - 1))
}

/**
 * Another run that is active on one of these hosts.
 *
 * Unknown hosts may be any of their namespace. They do not count in other namespaces: one run without a readable
 * inventory would stop the runs of every tenant.
 */
export function findConflictingRun(
  run: AnsibleRun,
  addresses: readonly string[] | undefined,
  others: readonly AnsibleRun[],
  time: Pick<AttemptInputs, 'nowMs' | 'settings'>,
): AnsibleRun | undefined {
  return others.find((other) => {
    if (other.status?.JobStatus !== 'Running' || isSameRun(other, run)) return false
    const isNeighbour = other.metadata.namespace === run.metadata.namespace
    const otherHosts = other.status.running?.hosts
    if (!addresses || !otherHosts || otherHosts.includes(ANY_HOST)) return isNeighbour
    return otherHosts.some((host) => addresses.includes(host)) && (isNeighbour || isCurrent(other, time))
  })
}

/** Clocks of operators differ, and a run ends a little after its time limit. */
const CLAIM_GRACE_MS = 600_000

/** No operator may serve another namespace: a status that a tenant wrote there must not stop the runs of others forever. */
function isCurrent({ status }: AnsibleRun, { nowMs, settings }: Pick<AttemptInputs, 'nowMs' | 'settings'>): boolean {
  const age = nowMs - Date.parse(status?.running?.startedAt ?? '')
  return age > -CLAIM_GRACE_MS && age < settings.timeLimitMs + CLAIM_GRACE_MS
}

/** Names a run of another namespace by its namespace only: its name belongs to another tenant. */
export function formatConflict(run: AnsibleRun, { metadata }: AnsibleRun): string {
  const isNeighbour = metadata.namespace === run.metadata.namespace
  return `${isNeighbour ? metadata.name : `a run of namespace ${metadata.namespace}`} works on the same hosts`
}

/** In place of addresses, for a run with unknown hosts. */
export const ANY_HOST = '*'

/** A run with the same inputs and hosts that has succeeded. */
function findEqualSuccess(run: AnsibleRun, others: readonly AnsibleRun[]): AnsibleRun | undefined {
  const hash = inputHash(run)
  if (hash === undefined) return undefined
  const hosts = run.metadata.annotations?.[HOSTS_ANNOTATION]
  return others.find(
    (other) =>
      !isSameRun(other, run) &&
      other.status?.JobStatus === 'Succeeded' &&
      inputHash(other) === hash &&
      ownerUid(other) === ownerUid(run) &&
      (other.metadata.annotations?.[HOSTS_ANNOTATION] ?? hosts) === hosts,
  )
}

export function inputHash({ metadata }: AnsibleRun): string | undefined {
  return metadata.annotations?.[INPUT_HASH_ANNOTATION] ?? metadata.labels?.[INPUT_HASH_ANNOTATION]
}

function ownerUid({ metadata }: AnsibleRun): string | undefined {
  return metadata.ownerReferences?.find((ownerReference) => ownerReference.controller)?.uid
}

function isSameRun(a: AnsibleRun, b: AnsibleRun): boolean {
  return objectKey(a.metadata) === objectKey(b.metadata)
}
