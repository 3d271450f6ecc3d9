/** Runs work that writes to the cluster under the site's Lease and prints its events, for up, down, adopt and update. */

import { leaseLost } from '../deploy/findings/up.ts'
import { finding } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { WriteGuard } from '../kube/write-guard.ts'
import type { EventSink } from '../run/events.ts'
import type { Io } from './io.ts'
import { formatFinding } from './output/findings.ts'
import type { EventFormat } from './output/format.ts'
import { choosePrinter } from './output/run/printer.ts'

/** What the work gets. */
export interface LeasedRun {
  /** Identity of the run: holder of the Lease and part of every event. */
  readonly run: string
  readonly sink: EventSink
  /** Aborted by Ctrl-C and when the Lease is lost. */
  readonly stop: AbortSignal
  /** Its writes are refused when the Lease is lost, also after a pause of the whole process. */
  readonly client: KubeClient
  /** For what is done past the client: throws when the Lease is lost. */
  readonly guard: WriteGuard
}

export async function runWithLease<T>(
  client: KubeClient,
  events: EventFormat,
  io: Io,
  work: (run: LeasedRun) => Promise<T>,
): Promise<T> {
  const { withRunLease, runIdentity } = await import('../deploy/run-lease.ts')
  const { ensureSystemNamespace } = await import('../deploy/inventory.ts')
  await ensureSystemNamespace(client)
  const identity = runIdentity()
  const onDoubt = (holder: string): void => io.stderr(`waiting to see whether the run of ${holder} is still alive\n`)
  return withRunLease({ client, identity, stop: io.stop, onDoubt }, async ({ lost, client, guard }) => {
    const printer = choosePrinter(events, io)
    try {
      const stop = AbortSignal.any([io.stop, lost])
      return await work({ run: identity, sink: printer.sink, stop, client, guard })
    } finally {
      printer.close()
      if (lost.aborted && !io.stop.aborted) io.stderr(formatFinding(finding(leaseLost, {}), io.colour.stderr))
    }
  })
}
