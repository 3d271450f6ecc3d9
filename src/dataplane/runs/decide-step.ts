/**
 * Decides whether a step runs on a host now, for phase 0 and for services.
 *
 * Pure: no cluster and no clock. A restarted operator gets the same inputs and decides the same, so a restart starts
 * nothing.
 */
import type { Applied } from '../kinds/data-plane.ts'
import { type Attempt, failuresAfter } from './attempts.ts'

/** `auto`: changed inputs run. `manual`: after the first deployment they wait for a run request. */
export type RunPolicy = 'auto' | 'manual'

export interface RunRetry {
  /** How often the same inputs are tried, the first attempt included. */
  readonly attempts: number
  readonly firstPauseMs: number
  readonly maxPauseMs: number
}

export const defaultRunRetry: RunRetry = { attempts: 6, firstPauseMs: 10_000, maxPauseMs: 600_000 }

export interface StepInputs {
  /** The hash of everything that would go into the run. */
  readonly desiredHash: string
  readonly applied: Applied | undefined
  /** Attempts of this step on this host, with any inputs. */
  readonly attempts: readonly Attempt[]
  /** Why the step is not requested now; undefined when it is. */
  readonly heldReason: string | undefined
  readonly policy: RunPolicy
  /** The current run request. */
  readonly request: string | undefined
  /** What has to happen first; undefined when nothing does. */
  readonly blockedBy: string | undefined
  /** A run of another step or another owner that may touch this host now. */
  readonly activeRun: string | undefined
  readonly retry: RunRetry
  readonly now: number
}

export type RunDecision =
  | { readonly kind: 'done' }
  /** `why`: it makes no progress. */
  | { readonly kind: 'running'; readonly run: string; readonly why?: string }
  | { readonly kind: 'start'; readonly attempt: number; readonly why: string }
  /** It is requested, but something has to happen first. */
  | { readonly kind: 'wait'; readonly why: string }
  /** It failed, and is retried after a pause. */
  | { readonly kind: 'pause'; readonly ms: number; readonly attempt: Attempt; readonly tried: number }
  /** It is not requested, and was never done. */
  | { readonly kind: 'held'; readonly why: string }
  /** Other inputs were applied last, and applying the current ones is not requested. */
  | { readonly kind: 'out-of-date'; readonly why: string }
  /** It failed as often as allowed. */
  | { readonly kind: 'backed-off'; readonly attempt: Attempt; readonly tried: number }

export function decideStep(inputs: StepInputs): RunDecision {
  const { desiredHash, applied, attempts, blockedBy, activeRun } = inputs
  const running = attempts.find(({ outcome }) => outcome === 'running')
  if (running) {
    const { run, why } = running
    return { kind: 'running', run, ...(why !== undefined && { why }) }
  }
  if (applied?.hash === desiredHash && applied.overwrittenBy === undefined) return { kind: 'done' }
  const held = notRequested(inputs)
  if (held) return held
  const failed = failuresAfter(applied, attempts).filter(({ hash }) => hash === desiredHash)
  const last = failed.at(-1)
  if (last && failed.length >= inputs.retry.attempts) {
    return { kind: 'backed-off', attempt: last, tried: failed.length }
  }
  if (blockedBy !== undefined) return { kind: 'wait', why: blockedBy }
  if (activeRun !== undefined) return { kind: 'wait', why: `${activeRun} runs on this host` }
  const ms = last ? remainingPause(last, failed.length, inputs) : 0
  if (last && ms > 0) return { kind: 'pause', ms, attempt: last, tried: failed.length }
  return startAttempt(inputs, last)
}

function notRequested({ applied, heldReason, policy, request }: StepInputs): RunDecision | undefined {
  if (heldReason !== undefined) return { kind: applied ? 'out-of-date' : 'held', why: heldReason }
  if (!applied) return undefined
  const isRequested = request !== undefined && request !== applied.request
  return policy === 'auto' || isRequested ? undefined : { kind: 'out-of-date', why: 'a run request is needed' }
}

function startAttempt({ attempts, desiredHash, applied }: StepInputs, last: Attempt | undefined): RunDecision {
  const numbers = attempts.filter(({ hash }) => hash === desiredHash).map(({ number }) => number)
  const attempt = Math.max(0, ...numbers) + 1
  if (last) return { kind: 'start', attempt, why: `attempt ${attempt}` }
  if (!applied) return { kind: 'start', attempt, why: 'first run' }
  const isReturn = applied.hash === desiredHash
  return { kind: 'start', attempt, why: isReturn ? `${applied.overwrittenBy} failed after it` : 'its inputs changed' }
}

function remainingPause({ finishedAt }: Attempt, failures: number, { retry, now }: StepInputs): number {
  if (finishedAt === undefined) return 0
  const pause = Math.min(retry.firstPauseMs * 2 ** (failures - 1), retry.maxPauseMs)
  return Date.parse(finishedAt) + pause - now
}
