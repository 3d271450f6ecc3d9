/**
 * Leader election by a Lease: of several programs one works, and it stops before another may start.
 *
 * A leader trusts only its own clocks: what it last renewed counts from the moment it asked, and after the renew
 * deadline it is leader no more, whatever the server would say. Others wait the whole lease from the moment they saw
 * the renewal, which is later. The difference between the two is the time in which nobody works.
 *
 * Every request goes ahead of the work's own: a leader with much to do must not lose its lease behind its own writes.
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
  /** So long others wait after the last sign of life. The API counts whole seconds: it is rounded up. */
  readonly leaseMs: number
  /** So long a leader works on after the last renewal that it asked for and got. */
  readonly renewDeadlineMs: number
  /** Between two attempts, to renew or to become leader. */
  readonly retryMs: number
  /** So long one attempt may take: a silent connection must leave time for another try. */
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
  /** Unlike that of every other candidate, and of every earlier life of this one. */
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

/** Waits to become leader, works while it is, and says how it ended. The work must end soon after its signal. */
export async function runAsLeader(
  options: LeaseOptions,
  work: (leadership: Leadership) => Promise<void>,
  stop: AbortSignal,
): Promise<LeadershipEnd> {
  const timing = checked(options.timing ?? defaultLeaseTiming)
  const { clock, identity, observer = {} } = options
  const log = withFields(options.log ?? silentLog, { lease: `${options.namespace}/${options.name}`, identity })

  const acquired = await campaign(options, timing, log, stop)
  if (!acquired) return 'stopped'
  const tenure = startLeadershipTerm(clock, timing.renewDeadlineMs, acquired.renewed)
  const onStop = (): void => tenure.end('stopped')
  stop.addEventListener('abort', onStop)
  if (stop.aborted) onStop()
  observer.leading?.(true)
  log({ level: 'info', message: 'became leader' })

  const workEnded = new AbortController()
  // The lease is renewed until the work has ended, not until it was told to: winding down is work too.
  const renewing = keepRenewing(options, timing, {
    lease: acquired.lease,
    tenure,
    log,
    until: workEnded.signal,
  })
  try {
    await work(tenure)
  } finally {
    workEnded.abort()
    const lease = await renewing
    stop.removeEventListener('abort', onStop)
    tenure.close()
    observer.leading?.(false)
    log({ level: tenure.ended() === 'lost' ? 'error' : 'info', message: `leadership ${tenure.ended()}` })
    if (tenure.ended() !== 'lost' && tenure.isBeforeDeadline()) await release(options, timing, lease, log)
  }
  return tenure.ended() ?? 'finished'
}

/** Tries until it holds the lease; undefined when it was told to stop. */
async function campaign(
  options: LeaseOptions,
  timing: LeaseTiming,
  log: Log,
  stop: AbortSignal,
): Promise<{ readonly lease: Lease; readonly renewed: ClockReading } | undefined> {
  const { clock, client, identity } = options
  let seen: { readonly spec: string; readonly at: ClockReading } | undefined
  let told: string | undefined

  const attempt = async (signal: AbortSignal): Promise<Lease | undefined> => {
    const lease = (await client.get(refOf(options), { signal, ahead: true })) as Lease | undefined
    if (!lease) {
      const created = newLease(options, nextSpec(undefined, options, timing))
      return (await client.create(created, { signal, ahead: true })) as Lease
    }
    // When it was renewed by the other's clock means nothing here: what counts is how long it has not changed.
    const spec = JSON.stringify(lease.spec ?? {})
    if (seen?.spec !== spec) seen = { spec, at: readClocks(clock) }
    const { holderIdentity: holder = '', leaseDurationSeconds } = lease.spec ?? {}
    const waitMs = leaseDurationSeconds === undefined ? timing.leaseMs : leaseDurationSeconds * 1000
    const free = holder === '' || holder === identity || clock.elapsed() - seen.at.elapsed >= waitMs
    if (!free) {
      if (told !== holder) log({ level: 'info', message: 'another one is leader', holder })
      told = holder
      return undefined
    }
    const taken = { ...lease, spec: nextSpec(lease.spec, options, timing) }
    return (await client.update(taken, { signal, ahead: true })) as Lease
  }

  while (!stop.aborted) {
    const asked = readClocks(clock)
    const lease = await within(clock, timing.attemptMs, stop, attempt).catch((error: unknown) => {
      const beaten = isApiError(error, 'conflict', 'already-exists')
      if (!beaten && !stop.aborted)
        log({ level: 'warn', message: 'cannot try to become leader', reason: formatError(error) })
      return undefined
    })
    if (lease && elapsedSince(clock, asked) < timing.renewDeadlineMs) return { lease, renewed: asked }
    // Jitter, so that candidates that started together do not collide for ever.
    await clock.sleep(timing.retryMs * (1 + clock.random() / 5), stop)
  }
  return undefined
}

interface Renewal {
  readonly lease: Lease
  readonly tenure: LeadershipTerm
  readonly log: Log
  readonly until: AbortSignal
}

/** Renews until told otherwise or lost; answers with the last lease that it knows. */
async function keepRenewing(
  options: LeaseOptions,
  timing: LeaseTiming,
  { lease: first, tenure, log, until }: Renewal,
): Promise<Lease> {
  const { clock, client, identity } = options
  let lease = first

  const renew = async (signal: AbortSignal): Promise<'renewed' | 'taken'> => {
    const asked = readClocks(clock)
    try {
      const spec = nextSpec(lease.spec, options, timing)
      lease = (await client.update({ ...lease, spec }, { signal, ahead: true })) as Lease
      tenure.renewed(asked)
      return 'renewed'
    } catch (error) {
      if (!isApiError(error, 'conflict', 'not-found')) throw error
      const now = (await client.get(refOf(options), { signal, ahead: true })) as Lease | undefined
      if (now?.spec?.holderIdentity !== identity) return 'taken'
      // Ours still: somebody labelled it, or an earlier attempt of ours arrived after all.
      lease = now
      return renew(signal)
    }
  }

  while (!until.aborted && tenure.ended() !== 'lost') {
    await clock.sleep(timing.retryMs, until)
    if (until.aborted || tenure.ended() === 'lost') break
    const outcome = await within(clock, timing.attemptMs, until, renew).catch((error: unknown) => {
      if (!until.aborted) log({ level: 'warn', message: 'cannot renew', reason: formatError(error) })
      return undefined
    })
    if (outcome === 'taken') tenure.end('lost')
  }
  return lease
}

/** Gives the lease back, so that the next one need not wait. A failure only costs that wait. */
async function release(options: LeaseOptions, timing: LeaseTiming, lease: Lease, log: Log): Promise<void> {
  const { client, clock } = options
  const never = new AbortController().signal
  const giveBack = (held: Lease, signal: AbortSignal): Promise<unknown> => {
    const times = { leaseDurationSeconds: 1, renewTime: formatMicroTime(clock.now()) }
    return client.update({ ...held, spec: { ...held.spec, holderIdentity: '', ...times } }, { signal, ahead: true })
  }
  try {
    await within(clock, timing.attemptMs, never, async (signal) => {
      try {
        await giveBack(lease, signal)
      } catch (error) {
        if (!isApiError(error, 'conflict')) throw error
        // The last renewal, broken off when the work ended, arrived after all.
        const now = (await client.get(refOf(options), { signal, ahead: true })) as Lease | undefined
        if (now?.spec?.holderIdentity === options.identity) await giveBack(now, signal)
      }
    })
  } catch (error) {
    log({ level: 'warn', message: 'cannot give the lease back', reason: formatError(error) })
  }
}

function nextSpec(before: LeaseSpec | undefined, options: LeaseOptions, timing: LeaseTiming): LeaseSpec {
  const now = formatMicroTime(options.clock.now())
  const same = before?.holderIdentity === options.identity
  const transitions = before?.leaseTransitions ?? 0
  return {
    ...before,
    holderIdentity: options.identity,
    leaseDurationSeconds: Math.ceil(timing.leaseMs / 1000),
    acquireTime: same ? (before.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: same || !before ? transitions : transitions + 1,
  }
}

const leaseKind = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }

function refOf({ namespace, name }: LeaseOptions): { apiVersion: string; kind: string } & {
  namespace: string
  name: string
} {
  return { ...leaseKind, namespace, name }
}

function newLease({ namespace, name }: LeaseOptions, spec: LeaseSpec): Lease {
  return { ...leaseKind, metadata: { namespace, name }, spec }
}

/** Runs with a signal that fires after so long, or when the outer one does. */
async function within<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const control = new AbortController()
  const give = (): void => control.abort(outer.reason)
  const cancel = clock.after(ms, () => control.abort(new Error(`no answer within ${ms} ms`)))
  outer.addEventListener('abort', give)
  if (outer.aborted) give()
  try {
    return await run(control.signal)
  } finally {
    cancel()
    outer.removeEventListener('abort', give)
  }
}

function checked(timing: LeaseTiming): LeaseTiming {
  const { leaseMs, renewDeadlineMs, retryMs, attemptMs } = timing
  const ordered = retryMs > 0 && renewDeadlineMs > retryMs && leaseMs > renewDeadlineMs
  if (ordered && attemptMs > 0 && attemptMs <= renewDeadlineMs) return timing
  throw failure(leaseTimesWrong, timing)
}
