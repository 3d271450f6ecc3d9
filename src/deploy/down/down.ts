/** `down`: takes one cloud, or everything, out of the cluster; in reverse order, from the inventories alone. */

import { type Clock, systemClock } from '../../clock/clock.ts'
import { unknownInventory } from '../../errors/down.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { nearest } from '../../errors/nearest.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { openGate } from '../gate.ts'
import { type Inventory, readInventories } from '../inventory.ts'
import { type Lookout, openLookout } from '../lookout.ts'
import { type Patience, standardPatience } from '../patience.ts'
import { cloudDownStages } from './cloud-stages.ts'
import { sharedDownStages } from './shared-stages.ts'
import type { DownWorld } from './world.ts'

export interface DownSettings {
  readonly client: KubeClient
  /** Clouds by name, or everything. */
  readonly clouds: readonly string[] | 'all'
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly deleteData?: boolean
  readonly stuckMs?: number
  readonly clock?: Clock
  readonly lookout?: Lookout
  readonly patience?: Patience
}

export async function down(settings: DownSettings): Promise<RunReport> {
  const { client, clouds, run, sink, stop, clock = systemClock } = settings
  const inventories = await readInventories(client)
  const lookout = settings.lookout ?? openLookout({ client })
  try {
    const world: DownWorld = {
      client,
      lookout,
      inventories,
      patience: settings.patience ?? standardPatience,
      gate: openGate(8),
      deleteData: settings.deleteData ?? false,
      stuckMs: settings.stuckMs ?? 300_000,
    }
    const chosen = chosenOf(inventories, clouds)
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

function chosenOf(inventories: readonly Inventory[], clouds: DownSettings['clouds']): readonly Inventory[] {
  const all = inventories.filter(({ cloud }) => cloud !== undefined)
  if (clouds === 'all') return all
  const known = all.flatMap(({ cloud }) => cloud ?? [])
  const unknown = clouds.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Failure(
      unknown.flatMap(
        (cloud) => failure(unknownInventory, { cloud, known, nearest: nearest(cloud, known) }).findings,
      ),
      1,
    )
  return all.filter(({ cloud }) => clouds.includes(cloud ?? ''))
}
