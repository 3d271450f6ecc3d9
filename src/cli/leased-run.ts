/** Runs work that writes to the cluster under the site's Lease and prints its events, for up, down, adopt and update. */

import { systemClock } from '../clock/clock.ts'
import { leaseLost, runTimedOut } from '../deploy/findings/up.ts'
import { failure } from '../errors/failure.ts'
import { finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { WriteGuard } from '../kube/write-guard.ts'
import type { EventSink } from '../run/events.ts'
import { recordRun, runRecordFolder } from '../run/run-record.ts'
import type { Io } from './io.ts'
import { aimRemedy, printFindings } from './output/findings.ts'
import type { EventFormat } from './output/format.ts'
import { choosePrinter } from './output/run/printer.ts'
import { openTraces } from './output/run/traces.ts'

/** What the work gets. */
export interface LeasedRun {
  /** Identity of the run: holder of the Lease and part of every event. */
  readonly run: string
  readonly sink: EventSink
  /** Aborted by Ctrl-C, after `--timeout`, and when the Lease is lost. */
  readonly stop: AbortSignal
  /** Its writes are refused when the Lease is lost, also after a pause of the whole process. */
  readonly client: KubeClient
  /** For what is done past the client: throws when the Lease is lost. */
  readonly guard: WriteGuard
}

interface RunFlags {
  readonly events: EventFormat
  /** In milliseconds. */
  readonly timeout?: number
}

export async function runWithLease<T>(
  client: KubeClient,
  { events, timeout }: RunFlags,
  io: Io,
  work: (run: LeasedRun) => Promise<T>,
): Promise<T> {
  const { withRunLease, runIdentity } = await import('../deploy/run-lease.ts')
  const { ensureSystemNamespace } = await import('../deploy/inventory.ts')
  await ensureSystemNamespace(client, { signal: io.stop })
  const identity = runIdentity()
  const onDoubt = (holder: string): void => io.stderr(`waiting to see whether the run of ${holder} is still alive\n`)
  // Not AbortSignal.timeout: everything below stops at an AbortError, as for Ctrl-C.
  const late = new AbortController()
  const timer = timeout === undefined ? undefined : setTimeout(() => late.abort(), timeout)
  const stop = AbortSignal.any([io.stop, late.signal])
  const timedOut = (): boolean => late.signal.aborted && !io.stop.aborted
  const traces = await openTraces(io)
  const leased = withRunLease({ client, identity, stop, onDoubt }, async ({ lost, client, guard }) => {
    const printer = choosePrinter(events, io)
    const sink = nameCommand(traces.record(recordRun(printer.sink, runRecordFolder(io.env), systemClock.now())), io)
    try {
      return await work({ run: identity, sink, stop: AbortSignal.any([stop, lost]), client, guard })
    } finally {
      printer.close()
      if (lost.aborted && !io.stop.aborted) printFindings([finding(leaseLost, {})], io)
    }
  })
  try {
    const result = await leased
    if (timedOut()) printFindings([finding(runTimedOut, { ms: timeout ?? 0 })], io)
    return result
  } catch (thrown) {
    // Between two stages, or before the first one.
    if (timedOut() && thrown instanceof Error && thrown.name === 'AbortError')
      throw failure(runTimedOut, { ms: timeout ?? 0 }, { exitCode: 1 })
    throw thrown
  } finally {
    clearTimeout(timer)
    // After the Lease is released: a collector may be slow.
    await traces.close()
  }
}

/** The record of a run has its command line, and its findings have commands for the same cluster. */
export function nameCommand(sink: EventSink, io: Pick<Io, 'commandLine'>): EventSink {
  const { commandLine } = io
  if (commandLine === undefined) return sink
  return (event) => {
    if (event.kind === 'run-started') sink({ ...event, command: commandLine })
    else if (event.kind === 'finding') sink({ ...event, finding: aimRemedy(event.finding, io) })
    else sink(event)
  }
}
