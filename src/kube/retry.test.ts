import { describe, expect, it } from 'vitest'
import { statusObject } from '../../test/scripted-server.ts'
import { systemClock } from '../clock/clock.ts'
import type { ApiError } from './api-error.ts'
import { errorFromThrown } from './network-error.ts'
import { defaultRetryPolicy, retryDelay } from './retry.ts'
import { errorFromResponse } from './status-error.ts'

const request = { server: 'https://api:6443', verb: 'get', subject: 'v1 Pod' }
const clock = { ...systemClock, random: () => 0 }

const errorWithStatus = (status: number, retryAfterMs?: number): ApiError =>
  errorFromResponse({ status, body: statusObject(status, '', 'x'), retryAfterMs }, request)
const networkError = (code: string): ApiError => errorFromThrown(Object.assign(new Error('x'), { code }), request)

const delay = (error: ApiError, idempotent: boolean, count = 1, elapsedMs = 0): number | undefined =>
  retryDelay({ error, idempotent, count, elapsedMs }, defaultRetryPolicy, clock)

describe('retryDelay', () => {
  it.each([
    ['429', errorWithStatus(429), true, true],
    ['500', errorWithStatus(500), true, false],
    ['500 with Retry-After', errorWithStatus(500, 10), true, true],
    ['503', errorWithStatus(503), true, false],
    ['a refused connection', networkError('ECONNREFUSED'), true, true],
    ['a cut connection', networkError('ECONNRESET'), true, false],
    ['no answer in time', networkError('UND_ERR_HEADERS_TIMEOUT'), true, false],
    ['an unknown name', networkError('ENOTFOUND'), false, false],
    ['an untrusted certificate', networkError('SELF_SIGNED_CERT_IN_CHAIN'), false, false],
    ['a conflict', errorWithStatus(409), false, false],
    ['403', errorWithStatus(403), false, false],
  ] as const)('after %s: an idempotent request is retried: %s, a create: %s', (_, error, safe, unsafe) => {
    expect(delay(error, true) !== undefined).toBe(safe)
    expect(delay(error, false) !== undefined).toBe(unsafe)
  })

  it('waits longer each time, up to a maximum', () => {
    const unlimited = { ...defaultRetryPolicy, deadlineMs: 1e9, attempts: { busy: 99, failing: 99, unreachable: 99 } }
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8].map((count) =>
      retryDelay({ error: errorWithStatus(500), idempotent: true, count, elapsedMs: 0 }, unlimited, clock),
    )
    expect(pauses).toEqual([125, 250, 500, 1000, 2000, 2500, 2500, 2500])
  })

  it('never retries before the time that the server named', () => {
    expect(delay(errorWithStatus(429, 3000), false)).toBeGreaterThanOrEqual(3000)
  })

  it('gives up after the maximum number of attempts, or when the delay would pass the deadline', () => {
    expect(delay(errorWithStatus(500), true, defaultRetryPolicy.attempts.failing)).toBeUndefined()
    expect(delay(errorWithStatus(429, 60_000), true)).toBeUndefined()
    expect(delay(errorWithStatus(429), true, 2, defaultRetryPolicy.deadlineMs)).toBeUndefined()
  })
})
