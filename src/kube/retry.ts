/**
 * When a request is sent again, and after which pause. Pure: the transport sleeps, this decides.
 */

import { type Clock, withJitter } from '../clock/clock.ts'
import type { ApiError } from './api-error.ts'

export interface RetryPolicy {
  /** How often a request is sent at most, by what went wrong. */
  readonly attempts: { readonly busy: number; readonly failing: number; readonly unreachable: number }
  /** No pause begins that would end later than this after the first attempt. */
  readonly patienceMs: number
  readonly firstPauseMs: number
  readonly longestPauseMs: number
}

export const defaultRetryPolicy: RetryPolicy = {
  attempts: { busy: 10, failing: 5, unreachable: 4 },
  patienceMs: 30_000,
  firstPauseMs: 250,
  longestPauseMs: 5_000,
}

export interface Attempt {
  readonly error: ApiError
  /** How often it was sent so far. */
  readonly count: number
  readonly elapsedMs: number
  /** Doing it twice is like doing it once. */
  readonly safe: boolean
}

/** The pause before the next attempt, or undefined when there is none. */
export function retryDelay(attempt: Attempt, policy: RetryPolicy, clock: Clock): number | undefined {
  const { error, count, elapsedMs, safe } = attempt
  if (!mayRepeat(error, safe) || count >= attemptsFor(error, policy)) return undefined
  const backoff = Math.min(policy.firstPauseMs * 2 ** (count - 1), policy.longestPauseMs)
  // What the server asks for is the least; the spread comes on top, never below.
  const pause =
    error.retryAfterMs === undefined ? withJitter(backoff, clock) : error.retryAfterMs + withJitter(backoff, clock)
  return elapsedMs + pause > policy.patienceMs ? undefined : pause
}

function mayRepeat(error: ApiError, safe: boolean): boolean {
  if (error.repeat === 'never') return false
  // A server that names a time to come back has not done what it was asked.
  return safe || error.repeat === 'always' || error.retryAfterMs !== undefined
}

function attemptsFor({ kind }: ApiError, { attempts }: RetryPolicy): number {
  if (kind === 'busy') return attempts.busy
  return kind === 'unreachable' || kind === 'timeout' ? attempts.unreachable : attempts.failing
}

export interface BackoffPolicy {
  readonly firstMs: number
  readonly maxMs: number
}

export function backoffMs({ firstMs, maxMs }: BackoffPolicy, failures: number): number {
  // A power grows to infinity; the cap is reached long before this many doublings.
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures, 52))
}
