/** Takes clouds, or everything, out of the cluster: in reverse order, from the inventories alone. */
import { systemClock } from '../../clock/clock.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { createLimiter } from '../apply.ts'
import { keptControlPlane, unknownInventory } from '../findings/down.ts'
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
  /** Whether running data plane deployments may be deleted. */
  readonly mayInterrupt?: boolean
  /** A finalizer that stays longer counts as stuck. */
  readonly stuckMs?: number
}

export async function down(options: DownOptions): Promise<RunReport> {
  const { client, clouds, run, sink, stop, deleteData = false, mayInterrupt = false, stuckMs = 300_000 } = options
  const inventories = await readInventories(client)
  const view = openLiveView(client)
  try {
    const deps = { client, view, limiter: createLimiter(8), deleteData, mayInterrupt, stuckMs }
    const selected = selectInventories(inventories, clouds)
    await refuseKeptControlPlanes(client, selected)
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

const CONTROL_PLANE = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' } as const

/**
 * A control plane that another tool deployed (`keep` of the site file) is not ours to delete. Its Services and pods use what
 * `down` would delete, and would keep it for minutes at the first of them.
 */
export async function refuseKeptControlPlanes(client: KubeClient, inventories: readonly Inventory[]): Promise<void> {
  if (!(await client.resource(CONTROL_PLANE))) return
  const findings: Finding[] = []
  for (const { cloud = '', namespace = '', objects } of inventories) {
    const isOurs = (name: string): boolean =>
      objects.some((ref) => ref.kind === CONTROL_PLANE.kind && ref.name === name && !ref.adopted)
    const { items } = await client.list(CONTROL_PLANE, { namespace })
    const kept = items.find(({ metadata }) => !isOurs(metadata.name))
    if (kept) findings.push(finding(keptControlPlane, { cloud, namespace, name: kept.metadata.name }))
  }
  if (findings.length > 0) throw new Failure(findings, 1)
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
