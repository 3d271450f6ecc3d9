/** Decides when a request is sent again and after which delay. Pure: the transport sleeps. */
import { type Clock, withJitter } from '../clock/clock.ts'
import type { ApiError } from './api-error.ts'

export interface RetryPolicy {
  /** Maximum number of attempts by the kind of error. */
  readonly attempts: { readonly busy: number; readonly failing: number; readonly unreachable: number }
  /** No delay may end later than this after the first attempt. */
  readonly deadlineMs: number
  readonly initialDelayMs: number
  readonly maxDelayMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: { busy: 10, failing: 5, unreachable: 4 },
  deadlineMs: 30_000,
  initialDelayMs: 250,
  maxDelayMs: 5_000,
}

export interface Attempt {
  readonly error: ApiError
  /** Attempts so far. */
  readonly count: number
  readonly elapsedMs: number
  /** Sending it twice has the same effect as once. */
  readonly idempotent: boolean
}

/** The delay before the next attempt, or undefined when there is none. */
export function retryDelay(attempt: Attempt, policy: RetryPolicy, clock: Clock): number | undefined {
  const { error, count, elapsedMs, idempotent } = attempt
  if (!mayRetry(error, idempotent) || count >= attemptsFor(error, policy)) return undefined
  const backoff = Math.min(policy.initialDelayMs * 2 ** (count - 1), policy.maxDelayMs)
  // The server's Retry-After is the minimum; the jitter is added to it.
  const delay =
    error.retryAfterMs === undefined ? withJitter(backoff, clock) : error.retryAfterMs + withJitter(backoff, clock)
  return elapsedMs + delay > policy.deadlineMs ? undefined : delay
}

function mayRetry(error: ApiError, idempotent: boolean): boolean {
  if (error.retryable === 'never') return false
  // A server that sends Retry-After has not executed the request.
  return idempotent || error.retryable === 'always' || error.retryAfterMs !== undefined
}

function attemptsFor({ kind }: ApiError, { attempts }: RetryPolicy): number {
  if (kind === 'busy') return attempts.busy
  return kind === 'unreachable' || kind === 'timeout' ? attempts.unreachable : attempts.failing
}

export interface BackoffPolicy {
  readonly initialMs: number
  readonly maxMs: number
}

export function backoffMs({ initialMs, maxMs }: BackoffPolicy, failures: number): number {
  // The power would grow to infinity; the maximum is reached long before.
  return Math.min(maxMs, initialMs * 2 ** Math.min(failures, 52))
}
