/**
 * What is to be done about a run: the rules, as a function of what is known.
 *
 * Pure. A run is begun at most `backoffLimit + 1` times; no two attempts work on one host at once; none begins after
 * a recorded success of the same inputs; what has no recorded end is Unknown, and is tried again like a failure.
 */
import { type AnsibleRun, HOSTS, hasEnded, INPUT_HASH, type RunReason } from '../../../api/ansibleee.ts'
import { keyOf } from '../../../api/object.ts'
import { finding } from '../../../errors/finding.ts'
import { runAlreadyDone } from '../../../errors/runs.ts'
import type { RunEnd, Standing } from './executor.ts'

export interface RunSettings {
  /** After so long an attempt is ended. */
  readonly timeLimitMs: number
  /** Between two attempts: doubled each time, up to the most. */
  readonly retryFirstMs: number
  readonly retryMostMs: number
}

export const defaultRunSettings: RunSettings = {
  timeLimitMs: 3_600_000,
  retryFirstMs: 10_000,
  retryMostMs: 360_000,
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

export interface Known {
  readonly run: AnsibleRun
  /** Whether our finalizer is on it. */
  readonly marked: boolean
  /** What the executor says of the current attempt; asked for only while it runs. */
  readonly standing?: Standing
  /** Other runs of the namespace: at least those that work now, and those with the same inputs. */
  readonly others: readonly AnsibleRun[]
  /** The addresses that it works on; undefined when they cannot be known. */
  readonly addresses?: readonly string[] | undefined
  readonly nowMs: number
  readonly settings: RunSettings
}

export function decideAttempt(known: Known): AttemptDecision {
  const { run, marked } = known
  if (run.metadata.deletionTimestamp !== undefined) return marked ? { kind: 'leave' } : { kind: 'nothing' }
  if (hasEnded(run)) return marked ? { kind: 'clean' } : { kind: 'nothing' }
  return run.status?.JobStatus === 'Running' ? decideRunning(known) : decidePending(known)
}

function decideRunning({ run, standing }: Known): AttemptDecision {
  const number = run.status?.tries ?? 1
  switch (standing?.kind) {
    case undefined:
      return { kind: 'nothing' }
    case 'running':
      return { kind: 'progress', task: standing.task }
    case 'ended':
      return { kind: 'record', end: standing.end, again: isTriedAgain(run, standing.end.reason) }
    case 'absent': {
      const end: RunEnd = { reason: 'Unknown', message: `attempt ${number} has no recorded end` }
      return { kind: 'record', end, again: isTriedAgain(run, 'Unknown') }
    }
  }
}

/** Asked for anew by the same spec: what cannot begin will not begin next time, and what was cancelled stays so. */
const FINAL: ReadonlySet<RunReason> = new Set<RunReason>(['Completed', 'NotStarted', 'Cancelled'])

function isTriedAgain({ spec, status }: AnsibleRun, reason: RunReason): boolean {
  return !FINAL.has(reason) && (status?.tries ?? 1) <= (spec.backoffLimit ?? 6)
}

function decidePending(known: Known): AttemptDecision {
  const { run, others, addresses, nowMs, settings } = known
  const done = alreadyDone(run, others)
  if (done) {
    const { message } = finding(runAlreadyDone, { by: done.metadata.name })
    return { kind: 'record', end: { reason: 'NotStarted', message }, again: false }
  }
  const restMs = nextTryAt(run, settings) - nowMs
  if (restMs > 0) {
    const tries = run.status?.tries ?? 0
    return { kind: 'wait', why: `attempt ${tries + 1} of ${mostTries(run)} comes later`, forMs: restMs }
  }
  const rival = rivalOf(run, addresses, others)
  if (rival) return { kind: 'wait', why: `${rival.metadata.name} works on the same hosts` }
  return { kind: 'begin', attempt: (run.status?.tries ?? 0) + 1 }
}

export function mostTries({ spec }: AnsibleRun): number {
  return (spec.backoffLimit ?? 6) + 1
}

/** When the next attempt may begin, in milliseconds of the epoch; 0 for the first. */
function nextTryAt({ status }: AnsibleRun, { retryFirstMs, retryMostMs }: RunSettings): number {
  const { tries = 0, result } = status ?? {}
  if (tries === 0 || result?.finishedAt === undefined) return 0
  return Date.parse(result.finishedAt) + Math.min(retryMostMs, retryFirstMs * 2 ** (tries - 1))
}

/** Another run that works on one of these hosts now. */
export function rivalOf(
  run: AnsibleRun,
  addresses: readonly string[] | undefined,
  others: readonly AnsibleRun[],
): AnsibleRun | undefined {
  return others.find((other) => {
    if (other.status?.JobStatus !== 'Running' || sameRun(other, run)) return false
    const theirs = other.status.running?.hosts
    // Where somebody's hosts are not known, they may be any.
    if (!addresses || !theirs || theirs.includes(ANY_HOST)) return true
    return theirs.some((one) => addresses.includes(one))
  })
}

/** In place of addresses: a run of which nobody knows whom it works on. */
export const ANY_HOST = '*'

/** A run with the same inputs, for at least the same hosts, that has succeeded. */
function alreadyDone(run: AnsibleRun, others: readonly AnsibleRun[]): AnsibleRun | undefined {
  const hash = inputHashOf(run)
  if (hash === undefined) return undefined
  const hosts = run.metadata.annotations?.[HOSTS]
  return others.find(
    (other) =>
      !sameRun(other, run) &&
      other.status?.JobStatus === 'Succeeded' &&
      inputHashOf(other) === hash &&
      ownerOf(other) === ownerOf(run) &&
      (other.metadata.annotations?.[HOSTS] ?? hosts) === hosts,
  )
}

export function inputHashOf({ metadata }: AnsibleRun): string | undefined {
  return metadata.annotations?.[INPUT_HASH] ?? metadata.labels?.[INPUT_HASH]
}

function ownerOf({ metadata }: AnsibleRun): string | undefined {
  return metadata.ownerReferences?.find((one) => one.controller)?.uid
}

function sameRun(a: AnsibleRun, b: AnsibleRun): boolean {
  return keyOf(a.metadata) === keyOf(b.metadata)
}
