/**
 * Tracks one leadership by the leader's own clocks, and stops the writes of a client that has lost it.
 *
 * Must not know leases. A renewal counts from the moment it was sent, which is before it was granted.
 */
import type { Clock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient } from './client.ts'
import { leadershipLost } from './findings/runtime.ts'
import type { WriteGuard } from './write-guard.ts'

export interface Leadership {
  /** Fires when the leadership ends: stopped or lost. */
  readonly signal: AbortSignal
  /** Computed at each call: true only before the deadline, even when no timer could fire yet. */
  readonly isHeld: () => boolean
}

/** `stopped` and `finished` have released the lease; `lost` has not, and nothing may be written any more. */
export type LeadershipEnd = 'finished' | 'stopped' | 'lost'

/** Both clocks: the monotonic one stands still while a machine sleeps, the wall clock may be set back. */
export interface ClockReading {
  readonly elapsed: number
  readonly wall: number
}

export interface LeadershipTerm extends Leadership {
  readonly renewed: (reading: ClockReading) => void
  readonly isBeforeDeadline: () => boolean
  /** The first ending counts. */
  readonly end: (endedBy: LeadershipEnd) => void
  readonly ended: () => LeadershipEnd | undefined
  /** The work has ended: nothing is held any more. */
  readonly close: () => void
}

export function startLeadershipTerm(clock: Clock, renewDeadlineMs: number, first: ClockReading): LeadershipTerm {
  const control = new AbortController()
  let last = first
  let endedBy: LeadershipEnd | undefined
  let closed = false
  let cancel = (): void => {}

  const remainingMs = (): number => renewDeadlineMs - elapsedSince(clock, last)
  const end = (ending: LeadershipEnd): void => {
    if (endedBy) return
    endedBy = ending
    cancel()
    control.abort(new Error(`the leadership is ${ending}`))
  }
  const arm = (): void => {
    cancel()
    if (!endedBy) cancel = clock.after(remainingMs(), () => (remainingMs() > 0 ? arm() : end('lost')))
  }
  arm()
  return {
    signal: control.signal,
    isHeld: () => {
      // After a stall of the whole program this may be called before the timer could fire.
      if (remainingMs() <= 0) end('lost')
      // After a stop it still holds the lease until its work has ended.
      return !closed && remainingMs() > 0 && endedBy !== 'lost'
    },
    isBeforeDeadline: () => remainingMs() > 0,
    renewed: (reading) => {
      last = reading
      arm()
    },
    end,
    ended: () => endedBy,
    close: () => {
      closed = true
      end('finished')
    },
  }
}

export function readClocks(clock: Clock): ClockReading {
  return { elapsed: clock.elapsed(), wall: clock.now() }
}

/** The longer of the two durations: too long only costs the leadership, too short would make two leaders. */
export function elapsedSince(clock: Clock, { elapsed, wall }: ClockReading): number {
  return Math.max(clock.elapsed() - elapsed, clock.now() - wall)
}

/** Returns the client with a guard on every write: each one is refused when the guard throws. */
export function leaderFencedClient(client: KubeClient, guard: WriteGuard): KubeClient {
  return {
    ...client,
    create: async (object, options) => (guard(), client.create(object, { ...options, guard })),
    update: async (object, options) => (guard(), client.update(object, { ...options, guard })),
    apply: async (object, options) => (guard(), client.apply(object, { ...options, guard })),
    patch: async (ref, patch, options) => (guard(), client.patch(ref, patch, { ...options, guard })),
    delete: async (ref, options) => (guard(), client.delete(ref, { ...options, guard })),
  }
}

/** The guard of a program that writes only while it is the leader. */
export function leaderGuard(isLeader: () => boolean): WriteGuard {
  return () => {
    if (!isLeader()) throw failure(leadershipLost, {})
  }
}
