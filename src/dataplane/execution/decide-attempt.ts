/**
 * What is to be done about a run: the rules, as a function of what is known.
 *
 * Pure. A run is begun at most `backoffLimit + 1` times; no two attempts work on one host at once; none begins after
 * a recorded success of the same inputs; what has no recorded end is Unknown, and is tried again like a failure.
 */

import { objectKey } from '../../api/object.ts'
import { finding } from '../../errors/finding.ts'
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
  /** After so long an attempt is ended. */
  readonly timeLimitMs: number
  /** Between two attempts: doubled each time, up to the most. */
  readonly retryFirstMs: number
  readonly retryMaxMs: number
}

export const defaultRunSettings: RunSettings = {
  timeLimitMs: 3_600_000,
  retryFirstMs: 10_000,
  retryMaxMs: 360_000,
}

export type AttemptDecision =
  | { readonly kind: 'begin'; readonly attempt: number }
  | { readonly kind: 'wait'; readonly why: string; readonly forMs?: number }
  /** `again`: the attempt is over, the run is not. */
  | { readonly kind: 'record'; readonly end: RunEnd; readonly again: boolean }
  | { readonly kind: 'progress'; readonly task: string | undefined }
  /** Cancel what runs, then let the object go. */
  | { readonly kind: 'leave' }
  /** The end is recorded: evidence and finalizer may go. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'nothing' }

export interface AttemptInputs {
  readonly run: AnsibleRun
  /** Whether our finalizer is on it. */
  readonly hasFinalizer: boolean
  /** What the executor says of the current attempt; asked for only while it runs. */
  readonly executorState?: ExecutorState
  /** Other runs of the namespace: at least those that work now, and those with the same inputs. */
  readonly others: readonly AnsibleRun[]
  /** The addresses that it works on; undefined when they cannot be known. */
  readonly addresses?: readonly string[] | undefined
  readonly nowMs: number
  readonly settings: RunSettings
}

export function decideAttempt(known: AttemptInputs): AttemptDecision {
  const { run, hasFinalizer } = known
  if (run.metadata.deletionTimestamp !== undefined) return hasFinalizer ? { kind: 'leave' } : { kind: 'nothing' }
  if (hasEnded(run)) return hasFinalizer ? { kind: 'clean' } : { kind: 'nothing' }
  return run.status?.JobStatus === 'Running' ? decideRunning(known) : decidePending(known)
}

function decideRunning({ run, executorState }: AttemptInputs): AttemptDecision {
  const number = run.status?.tries ?? 1
  switch (executorState?.kind) {
    case undefined:
      return { kind: 'nothing' }
    case 'running':
      return { kind: 'progress', task: executorState.task }
    case 'ended':
      return { kind: 'record', end: executorState.end, again: isRetried(run, executorState.end.reason) }
    case 'absent': {
      const end: RunEnd = { reason: 'Unknown', message: `attempt ${number} has no recorded end` }
      return { kind: 'record', end, again: isRetried(run, 'Unknown') }
    }
  }
}

/** Asked for anew by the same spec: what cannot begin will not begin next time, and what was cancelled stays so. */
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
  const restMs = nextAttemptMs(run, settings) - nowMs
  if (restMs > 0) {
    const tries = run.status?.tries ?? 0
    return { kind: 'wait', why: `attempt ${tries + 1} of ${maxAttempts(run)} comes later`, forMs: restMs }
  }
  const rival = findConflictingRun(run, addresses, others)
  if (rival) return { kind: 'wait', why: `${rival.metadata.name} works on the same hosts` }
  return { kind: 'begin', attempt: (run.status?.tries ?? 0) + 1 }
}

export function maxAttempts({ spec }: AnsibleRun): number {
  return (spec.backoffLimit ?? 6) + 1
}

/** When the next attempt may begin, in milliseconds of the epoch; 0 for the first. */
function nextAttemptMs({ status }: AnsibleRun, { retryFirstMs, retryMaxMs }: RunSettings): number {
  const { tries = 0, result } = status ?? {}
  if (tries === 0 || result?.finishedAt === undefined) return 0
  return Date.parse(result.finishedAt) + Math.min(retryMaxMs, retryFirstMs * 2 ** (tries - 1))
}

/** Another run that works on one of these hosts now. */
export function findConflictingRun(
  run: AnsibleRun,
  addresses: readonly string[] | undefined,
  others: readonly AnsibleRun[],
): AnsibleRun | undefined {
  return others.find((other) => {
    if (other.status?.JobStatus !== 'Running' || isSameRun(other, run)) return false
    const theirs = other.status.running?.hosts
    // Where somebody's hosts are not known, they may be any.
    if (!addresses || !theirs || theirs.includes(ANY_HOST)) return true
    return theirs.some((one) => addresses.includes(one))
  })
}

/** In place of addresses: a run of which nobody knows whom it works on. */
export const ANY_HOST = '*'

/** A run with the same inputs, for at least the same hosts, that has succeeded. */
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
