/**
 * Whether a step runs on a host now: the one place where this is decided, for phase 0 and for services.
 *
 * Pure. It is told what is wanted, what was done and what was tried; it knows no cluster and no clock. A program that
 * was started anew is told the same and decides the same, so a restart starts nothing.
 */
import type { Applied } from '../kinds/data-plane.ts'
import type { Attempt } from './attempts.ts'

/** `auto`: changed inputs run. `manual`: after the first deployment they wait for a request. */
export type RunPolicy = 'auto' | 'manual'

export interface RunRetry {
  /** So many attempts at the same inputs, the first one included. */
  readonly attempts: number
  readonly firstPauseMs: number
  readonly maxPauseMs: number
}

export const defaultRunRetry: RunRetry = { attempts: 6, firstPauseMs: 10_000, maxPauseMs: 600_000 }

export interface StepInputs {
  /** The hash of everything that would go into the run. */
  readonly desiredHash: string
  readonly applied: Applied | undefined
  /** What was tried on this host for this step, with whatever inputs. */
  readonly attempts: readonly Attempt[]
  /** Why nobody wants it run now, in words; undefined when somebody does. */
  readonly heldReason: string | undefined
  readonly policy: RunPolicy
  /** The run request that is in force. */
  readonly request: string | undefined
  /** What has to come first, in words; undefined when nothing does. */
  readonly blockedBy: string | undefined
  /** A run of another step or another owner that may touch this host now. */
  readonly activeRun: string | undefined
  readonly retry: RunRetry
  readonly now: number
}

export type RunDecision =
  /** What is wanted was done. */
  | { readonly kind: 'done' }
  | { readonly kind: 'running'; readonly run: string }
  | { readonly kind: 'start'; readonly attempt: number; readonly why: string }
  /** It would run, but something has to come first. */
  | { readonly kind: 'wait'; readonly why: string }
  /** It failed, and is tried again after a while. */
  | { readonly kind: 'pause'; readonly ms: number; readonly attempt: Attempt; readonly tried: number }
  /** Nobody asked for it, and it was never done. */
  | { readonly kind: 'held'; readonly why: string }
  /** It was done with other inputs, and nobody asked for the new ones to be applied. */
  | { readonly kind: 'out-of-date'; readonly why: string }
  /** It failed as often as it may. */
  | { readonly kind: 'backed-off'; readonly attempt: Attempt; readonly tried: number }

export function decideStep(question: StepInputs): RunDecision {
  const { desiredHash, applied, attempts, blockedBy, activeRun } = question
  const under = attempts.find(({ outcome }) => outcome === 'running')
  if (under) return { kind: 'running', run: under.run }
  if (applied?.hash === desiredHash) return { kind: 'done' }
  const unasked = notRequested(question)
  if (unasked) return unasked
  const failed = attempts.filter(({ hash, outcome }) => hash === desiredHash && outcome === 'failed')
  const last = failed.toSorted((a, b) => a.number - b.number).at(-1)
  if (last && failed.length >= question.retry.attempts) {
    return { kind: 'backed-off', attempt: last, tried: failed.length }
  }
  if (blockedBy !== undefined) return { kind: 'wait', why: blockedBy }
  if (activeRun !== undefined) return { kind: 'wait', why: `${activeRun} runs on this host` }
  const ms = last ? remainingPause(last, failed.length, question) : 0
  if (last && ms > 0) return { kind: 'pause', ms, attempt: last, tried: failed.length }
  return start(question, last)
}

/** Why it does not run although it is not done: nobody wants it, or nobody wants it now. */
function notRequested({ applied, heldReason, policy, request }: StepInputs): RunDecision | undefined {
  if (heldReason !== undefined) return { kind: applied ? 'out-of-date' : 'held', why: heldReason }
  if (!applied) return undefined
  const requested = request !== undefined && request !== applied.request
  return policy === 'auto' || requested ? undefined : { kind: 'out-of-date', why: 'a run request is needed' }
}

function start({ attempts, desiredHash, applied }: StepInputs, last: Attempt | undefined): RunDecision {
  const taken = attempts.filter(({ hash }) => hash === desiredHash).map(({ number }) => number)
  const attempt = Math.max(0, ...taken) + 1
  if (last) return { kind: 'start', attempt, why: `attempt ${attempt}` }
  return { kind: 'start', attempt, why: applied ? 'its inputs changed' : 'first run' }
}

function remainingPause({ finishedAt }: Attempt, failures: number, { retry, now }: StepInputs): number {
  if (finishedAt === undefined) return 0
  const pause = Math.min(retry.firstPauseMs * 2 ** (failures - 1), retry.maxPauseMs)
  return Date.parse(finishedAt) + pause - now
}
