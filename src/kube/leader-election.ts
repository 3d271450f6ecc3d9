/**
 * Elects a leader by a Lease: one program works, and it stops before another may start.
 *
 * A leader trusts only its own clocks: a renewal counts from the moment it was sent, and after the renew deadline the
 * leader stops regardless of the server. Candidates wait the whole lease from the moment they saw the renewal, which is
 * later. Between the two no program works.
 *
 * Its requests have priority: a busy leader must not lose its lease behind its own writes.
 */
import type { KubeObject } from '../api/object.ts'
import { formatMicroTime } from '../api/object.ts'
import type { Clock } from '../clock/clock.ts'
import { failure, formatError } from '../errors/failure.ts'
import { isApiError } from './api-error.ts'
import type { KubeClient } from './client.ts'
import { leaseTimesWrong } from './findings/runtime.ts'
import {
  type ClockReading,
  elapsedSince,
  type Leadership,
  type LeadershipEnd,
  type LeadershipTerm,
  readClocks,
  startLeadershipTerm,
} from './leadership.ts'
import { type Log, silentLog, withFields } from './log.ts'

export interface LeaseTiming {
  /** Candidates wait this long after the last renewal. The API counts whole seconds: it is rounded up. */
  readonly leaseMs: number
  /** A leader works this long after the last successful renewal was sent. */
  readonly renewDeadlineMs: number
  /** Between two attempts to renew or to acquire. */
  readonly retryMs: number
  /** Limit for one attempt: a silent connection must leave time for another. */
  readonly attemptMs: number
}

const defaultLeaseTiming: LeaseTiming = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryMs: 2_000,
  attemptMs: 4_000,
}

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>
  readonly namespace: string
  readonly name: string
  /** Different from every other candidate and from every earlier run of this one. */
  readonly identity: string
  readonly clock: Clock
  readonly timing?: LeaseTiming
  readonly log?: Log
  readonly observer?: { readonly leading?: (leading: boolean) => void }
}

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly acquireTime?: string
  readonly renewTime?: string
  readonly leaseTransitions?: number
}

type Lease = KubeObject & { readonly spec?: LeaseSpec }

/** Waits to become leader, runs the work, and returns how it ended. The work must end soon after its signal. */
export async function runAsLeader(
  options: LeaseOptions,
  work: (leadership: Leadership) => Promise<void>,
  stop: AbortSignal,
): Promise<LeadershipEnd> {
  const timing = validateTiming(options.timing ?? defaultLeaseTiming)
  const { clock, identity, observer = {} } = options
  const log = withFields(options.log ?? silentLog, { lease: `${options.namespace}/${options.name}`, identity })

  const acquired = await acquire(options, timing, log, stop)
  if (!acquired) return 'stopped'
  const term = startLeadershipTerm(clock, timing.renewDeadlineMs, acquired.renewed)
  const onStop = (): void => term.end('stopped')
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  observer.leading?.(true)
  log({ level: 'info', message: 'became leader' })

  const workEnded = new AbortController()
  // The lease is renewed until the work has ended, not only until the stop: shutting down is work too.
  const renewal = keepRenewing(options, timing, {
    lease: acquired.lease,
    term,
    log,
    until: workEnded.signal,
  })
  try {
    await work(term)
  } finally {
    workEnded.abort()
    const lease = await renewal
    stop.removeEventListener('abort', onStop)
    term.close()
    observer.leading?.(false)
    log({ level: term.ended() === 'lost' ? 'error' : 'info', message: `leadership ${term.ended()}` })
    if (term.ended() !== 'lost' && term.isBeforeDeadline()) await release(options, timing, lease, log)
  }
  return term.ended() ?? 'finished'
}

/** Tries until it holds the lease; undefined when it was stopped. */
async function acquire(
  options: LeaseOptions,
  timing: LeaseTiming,
  log: Log,
  stop: AbortSignal,
): Promise<{ readonly lease: Lease; readonly renewed: ClockReading } | undefined> {
  const { clock, client, identity } = options
  let observed: { readonly spec: string; readonly at: ClockReading } | undefined
  let reportedHolder: string | undefined

  const attempt = async (signal: AbortSignal): Promise<Lease | undefined> => {
    const lease = (await client.get(leaseRef(options), { signal, priority: true })) as Lease | undefined
    if (!lease) {
      const created = newLease(options, nextSpec(undefined, options, timing))
      return (await client.create(created, { signal, priority: true })) as Lease
    }
    // The renew time of another clock means nothing here: what counts is how long the lease has not changed.
    const spec = JSON.stringify(lease.spec ?? {})
    if (observed?.spec !== spec) observed = { spec, at: readClocks(clock) }
    const { holderIdentity: holder = '', leaseDurationSeconds } = lease.spec ?? {}
    const waitMs = leaseDurationSeconds === undefined ? timing.leaseMs : leaseDurationSeconds * 1000
    const free = holder === '' || holder === identity || clock.elapsed() - observed.at.elapsed >= waitMs
    if (!free) {
      if (reportedHolder !== holder) log({ level: 'info', message: 'another candidate is leader', holder })
      reportedHolder = holder
      return undefined
    }
    const claimed = { ...lease, spec: nextSpec(lease.spec, options, timing) }
    return (await client.update(claimed, { signal, priority: true })) as Lease
  }

  while (!stop.aborted) {
    const sentAt = readClocks(clock)
    const lease = await runWithTimeout(clock, timing.attemptMs, stop, attempt).catch((error: unknown) => {
      const lostRace = isApiError(error, 'conflict', 'already-exists')
      if (!lostRace && !stop.aborted)
        log({ level: 'warn', message: 'cannot acquire the lease', reason: formatError(error) })
      return undefined
    })
    if (lease && elapsedSince(clock, sentAt) < timing.renewDeadlineMs) return { lease, renewed: sentAt }
    // Jitter, so that candidates that started together do not collide forever.
    await clock.sleep(timing.retryMs * (1 + clock.random() / 5), stop)
  }
  return undefined
}

interface Renewal {
  readonly lease: Lease
  readonly term: LeadershipTerm
  readonly log: Log
  readonly until: AbortSignal
}

/** Renews until aborted or lost; returns the last known lease. */
async function keepRenewing(
  options: LeaseOptions,
  timing: LeaseTiming,
  { lease: first, term, log, until }: Renewal,
): Promise<Lease> {
  const { clock, client, identity } = options
  let lease = first

  const renew = async (signal: AbortSignal): Promise<'renewed' | 'taken'> => {
    const sentAt = readClocks(clock)
    try {
      const spec = nextSpec(lease.spec, options, timing)
      lease = (await client.update({ ...lease, spec }, { signal, priority: true })) as Lease
      term.renewed(sentAt)
      return 'renewed'
    } catch (error) {
      if (!isApiError(error, 'conflict', 'not-found')) throw error
      const now = (await client.get(leaseRef(options), { signal, priority: true })) as Lease | undefined
      if (now?.spec?.holderIdentity !== identity) return 'taken'
      // Still ours: it was labelled, or an earlier attempt of ours did arrive.
      lease = now
      return renew(signal)
    }
  }

  while (!until.aborted && term.ended() !== 'lost') {
    await clock.sleep(timing.retryMs, until)
    if (until.aborted || term.ended() === 'lost') break
    const outcome = await runWithTimeout(clock, timing.attemptMs, until, renew).catch((error: unknown) => {
      if (!until.aborted) log({ level: 'warn', message: 'cannot renew', reason: formatError(error) })
      return undefined
    })
    if (outcome === 'taken') term.end('lost')
  }
  return lease
}

/** Releases the lease, so that the next leader need not wait. A failure only costs that wait. */
async function release(options: LeaseOptions, timing: LeaseTiming, lease: Lease, log: Log): Promise<void> {
  const { client, clock } = options
  const never = new AbortController().signal
  const releaseLease = (current: Lease, signal: AbortSignal): Promise<unknown> => {
    const times = { leaseDurationSeconds: 1, renewTime: formatMicroTime(clock.now()) }
    return client.update(
      { ...current, spec: { ...current.spec, holderIdentity: '', ...times } },
      { signal, priority: true },
    )
  }
  try {
    await runWithTimeout(clock, timing.attemptMs, never, async (signal) => {
      try {
        await releaseLease(lease, signal)
      } catch (error) {
        if (!isApiError(error, 'conflict')) throw error
        // The last renewal was interrupted when the work ended, but it did arrive.
        const now = (await client.get(leaseRef(options), { signal, priority: true })) as Lease | undefined
        if (now?.spec?.holderIdentity === options.identity) await releaseLease(now, signal)
      }
    })
  } catch (error) {
    log({ level: 'warn', message: 'cannot release the lease', reason: formatError(error) })
  }
}

function nextSpec(before: LeaseSpec | undefined, options: LeaseOptions, timing: LeaseTiming): LeaseSpec {
  const now = formatMicroTime(options.clock.now())
  const renewing = before?.holderIdentity === options.identity
  const transitions = before?.leaseTransitions ?? 0
  return {
    ...before,
    holderIdentity: options.identity,
    leaseDurationSeconds: Math.ceil(timing.leaseMs / 1000),
    acquireTime: renewing ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: renewing || !before ? transitions : transitions + 1,
  }
}

const leaseKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }

function leaseRef({ namespace, name }: LeaseOptions): { apiVersion: string; kind: string } & {
  namespace: string
  name: string
} {
  return { ...leaseKind, namespace, name }
}

function newLease({ namespace, name }: LeaseOptions, spec: LeaseSpec): Lease {
  return { ...leaseKind, metadata: { namespace, name }, spec }
}

/** Runs with a signal that fires after this time, or when the outer signal does. */
async function runWithTimeout<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const control = new AbortController()
  const forwardAbort = (): void => control.abort(outer.reason)
  const cancel = clock.after(ms, () => control.abort(new Error(`no response within ${ms} ms`)))
  outer.addEventListener('abort', forwardAbort)
  if (outer.aborted) forwardAbort()
  try {
    return await run(control.signal)
  } finally {
    cancel()
    outer.removeEventListener('abort', forwardAbort)
  }
}

function validateTiming(timing: LeaseTiming): LeaseTiming {
  const { leaseMs, renewDeadlineMs, retryMs, attemptMs } = timing
  const ordered = retryMs > 0 && renewDeadlineMs > retryMs && leaseMs > renewDeadlineMs
  if (ordered && attemptMs > 0 && attemptMs <= renewDeadlineMs) return timing
  throw failure(leaseTimesWrong, timing)
}
