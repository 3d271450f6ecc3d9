/** `down`: takes one cloud, or everything, out of the cluster; in reverse order, from the inventories alone. */

import { type Clock, systemClock } from '../../clock/clock.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { Failure, failure } from '../../errors/failure.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { unknownInventory } from '../findings/down.ts'
import { type Inventory, readInventories } from '../inventory.ts'
import { createLimiter } from '../limiter.ts'
import { type LiveView, openLiveView } from '../live-view.ts'
import { defaultRetryPolicy, type RetryPolicy } from '../retry.ts'
import { cloudDownStages } from './cloud-stages.ts'
import { sharedDownStages } from './shared-stages.ts'
import type { DownDeps } from './world.ts'

export interface DownOptions {
  readonly client: KubeClient
  /** Clouds by name, or everything. */
  readonly clouds: readonly string[] | 'all'
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly deleteData?: boolean
  readonly stuckMs?: number
  readonly clock?: Clock
  readonly lookout?: LiveView
  readonly patience?: RetryPolicy
}

export async function down(settings: DownOptions): Promise<RunReport> {
  const { client, clouds, run, sink, stop, clock = systemClock } = settings
  const inventories = await readInventories(client)
  const lookout = settings.lookout ?? openLiveView({ client })
  try {
    const world: DownDeps = {
      client,
      lookout,
      inventories,
      patience: settings.patience ?? defaultRetryPolicy,
      gate: createLimiter(8),
      deleteData: settings.deleteData ?? false,
      stuckMs: settings.stuckMs ?? 300_000,
    }
    const chosen = selectInventories(inventories, clouds)
    const shared = clouds === 'all' ? inventories.find(({ cloud }) => cloud === undefined) : undefined
    const names = chosen.flatMap(({ cloud }) => cloud ?? [])
    const stages = [
      ...chosen.flatMap((inventory) => cloudDownStages(world, inventory)),
      ...(shared ? sharedDownStages(world, shared, names) : []),
    ]
    const what = clouds === 'all' ? 'down --all' : `down ${names.join(' ')}`
    return await runStages({ run, what, stages, sink, clock, stop, parallel: 64 })
  } finally {
    if (!settings.lookout) await lookout.close()
  }
}

function selectInventories(inventories: readonly Inventory[], clouds: DownOptions['clouds']): readonly Inventory[] {
  const all = inventories.filter(({ cloud }) => cloud !== undefined)
  if (clouds === 'all') return all
  const known = all.flatMap(({ cloud }) => cloud ?? [])
  const unknown = clouds.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Failure(
      unknown.flatMap(
        (cloud) => failure(unknownInventory, { cloud, known, nearest: closestMatch(cloud, known) }).findings,
      ),
      1,
    )
  return all.filter(({ cloud }) => clouds.includes(cloud ?? ''))
}
