/**
 * One leadership, from its first moment to its end: how much of it is left, by the leader's own clocks.
 *
 * It knows no lease and no server. Who renews it tells when the renewal was asked for, which is before it was granted.
 */
import type { Clock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient } from './client.ts'
import { leadershipLost } from './findings/runtime.ts'

export interface Leadership {
  /** Fires when the leadership ends: asked to stop, or lost. */
  readonly signal: AbortSignal
  /** Looked up, not remembered: true only while the deadline has not passed, even if no timer could tell so yet. */
  readonly isHeld: () => boolean
}

/** `stopped` and `finished` have released the lease; `lost` has not, and nothing may be written any more. */
export type LeadershipEnd = 'finished' | 'stopped' | 'lost'

/** A moment by both clocks: the steady one stands still while a machine sleeps, the wall may be set back. */
export interface ClockReading {
  readonly elapsed: number
  readonly wall: number
}

export interface LeadershipTerm extends Leadership {
  readonly renewed: (at: ClockReading) => void
  readonly isBeforeDeadline: () => boolean
  /** The first ending counts. */
  readonly end: (how: LeadershipEnd) => void
  readonly ended: () => LeadershipEnd | undefined
  /** The work is over: whatever ended it, nothing is held any more. */
  readonly close: () => void
}

export function startLeadershipTerm(clock: Clock, renewDeadlineMs: number, first: ClockReading): LeadershipTerm {
  const control = new AbortController()
  let last = first
  let how: LeadershipEnd | undefined
  let closed = false
  let cancel = (): void => {}

  const left = (): number => renewDeadlineMs - elapsedSince(clock, last)
  const end = (ending: LeadershipEnd): void => {
    if (how) return
    how = ending
    cancel()
    control.abort(new Error(`the leadership is ${ending}`))
  }
  const arm = (): void => {
    cancel()
    if (!how) cancel = clock.after(left(), () => (left() > 0 ? arm() : end('lost')))
  }
  arm()
  return {
    signal: control.signal,
    isHeld: () => {
      // After a stall of the whole program this may be asked before the timer could fire.
      if (left() <= 0) end('lost')
      // Told to stop, it still holds the lease until its work has ended.
      return !closed && left() > 0 && how !== 'lost'
    },
    isBeforeDeadline: () => left() > 0,
    renewed: (at) => {
      last = at
      arm()
    },
    end,
    ended: () => how,
    close: () => {
      closed = true
      end('finished')
    },
  }
}

export function readClocks(clock: Clock): ClockReading {
  return { elapsed: clock.elapsed(), wall: clock.now() }
}

/** The longer of what the two clocks say: too much costs the leadership, too little costs the truth. */
export function elapsedSince(clock: Clock, { elapsed, wall }: ClockReading): number {
  return Math.max(clock.elapsed() - elapsed, clock.now() - wall)
}

export function leaderFencedClient(client: KubeClient, holds: () => boolean): KubeClient {
  const check = <A extends readonly unknown[], R>(write: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      if (!holds()) throw failure(leadershipLost, {})
      return write(...given)
    }
  }
  return {
    ...client,
    create: check(client.create),
    update: check(client.update),
    apply: check(client.apply),
    patch: check(client.patch),
    delete: check(client.delete),
  }
}
