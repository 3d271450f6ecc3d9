/** Waits that know why: they end with ready, or with the cause and the next command, and say in between what is missing. */

import { failure } from '../errors/failure.ts'
import { notReady } from '../run/findings.ts'
import type { StageContext } from '../run/stage.ts'
import type { Readiness } from '../verify/readiness/verdict.ts'
import type { LiveView } from './live-view.ts'

export interface WaitOptions {
  /** Wakes for changes in this namespace, or for all. */
  readonly namespace?: string
  /** Looks again after so long even when nothing changed: grace periods end by the clock. */
  readonly lookMs?: number
  /** Least time between two looks: a busy cluster must not keep us busy. */
  readonly restMs?: number
  /** Repeats the reason after so long, for those who came late. */
  readonly repeatMs?: number
}

/** Looks until ready; throws what a failed verdict says. */
export async function waitUntilReady(
  look: () => Readiness,
  lookout: LiveView,
  context: StageContext,
  settings: WaitOptions = {},
): Promise<void> {
  const { namespace, lookMs = 1_000, restMs = 50, repeatMs = 15_000 } = settings
  const { clock, emit, stop } = context
  let told: { readonly reason: string; readonly at: number } | undefined
  for (;;) {
    stop.throwIfAborted()
    const verdict = look()
    if (verdict.kind === 'ready') return
    if (verdict.kind === 'failed') throw failure(notReady, verdict, { exitCode: 1 })
    const now = clock.now()
    if (told?.reason !== verdict.waits || now - told.at >= repeatMs) {
      emit({ kind: 'waiting', reason: `waits for ${verdict.waits}` })
      told = { reason: verdict.waits, at: now }
    }
    await lookout.waitForChange(namespace, lookMs, context)
    await clock.sleep(restMs, stop)
  }
}
