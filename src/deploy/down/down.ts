/** Takes clouds, or everything, out of the cluster: in reverse order, from the inventories alone. */
import { systemClock } from '../../clock/clock.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { Failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { createLimiter } from '../apply.ts'
import { unknownInventory } from '../findings/down.ts'
import { type Inventory, readInventories } from '../inventory.ts'
import { openLiveView } from '../live-view.ts'
import { cloudDownStages } from './cloud-down-stages.ts'
import { sharedDownStages } from './shared-down-stages.ts'

export interface DownOptions {
  readonly client: KubeClient
  /** Clouds by name, or everything. */
  readonly clouds: readonly string[] | 'all'
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly deleteData?: boolean
  /** A finalizer that stays longer counts as stuck. */
  readonly stuckMs?: number
}

export async function down(options: DownOptions): Promise<RunReport> {
  const { client, clouds, run, sink, stop, deleteData = false, stuckMs = 300_000 } = options
  const inventories = await readInventories(client)
  const view = openLiveView(client)
  try {
    const deps = { client, view, limiter: createLimiter(8), deleteData, stuckMs }
    const selected = selectInventories(inventories, clouds)
    const shared = clouds === 'all' ? inventories.find(({ cloud }) => cloud === undefined) : undefined
    const names = selected.flatMap(({ cloud }) => cloud ?? [])
    const stages = [
      ...selected.flatMap((inventory) => cloudDownStages(deps, inventory)),
      ...(shared ? sharedDownStages(deps, shared, names) : []),
    ]
    const what = clouds === 'all' ? 'down --all' : `down ${names.join(' ')}`
    return await runStages({ run, what, stages, sink, clock: systemClock, stop, parallel: 64 })
  } finally {
    await view.close()
  }
}

export function selectInventories(
  inventories: readonly Inventory[],
  clouds: DownOptions['clouds'],
): readonly Inventory[] {
  const all = inventories.filter(({ cloud }) => cloud !== undefined)
  if (clouds === 'all') return all
  const known = all.flatMap(({ cloud }) => cloud ?? [])
  const unknown = clouds.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    const describe = (cloud: string) => finding(unknownInventory, { cloud, known, nearest: closestMatch(cloud, known) })
    throw new Failure(unknown.map(describe), 1)
  }
  return all.filter(({ cloud }) => clouds.includes(cloud ?? ''))
}
