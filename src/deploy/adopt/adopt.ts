/**
 * Adopts a cloud in stages: first every Service requests the address that it has, then network by network the old pool
 * is replaced by the cloud's own, and the VIP policy comes last. Each stage reads the live state, so the same command
 * resumes after any end.
 */
import { systemClock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { addObjects, ensureSystemNamespace, readInventory, writeInventory } from '../inventory.ts'
import type { LiveView } from '../live-view.ts'
import { objectRef } from '../object-changes.ts'
import { type Adoption, adoptionKinds, planAdoption } from './adoption.ts'
import { moveNetwork, pinAddresses, waitUntilSettled } from './move-network.ts'
import { type AdoptDeps, applySiteObjects, removeOldAdvertisements } from './writes.ts'

export interface AdoptOptions {
  readonly client: KubeClient
  readonly view: LiveView
  readonly plan: Plan
  readonly cloud: PlannedCloud
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

export interface AdoptReport {
  readonly report: RunReport
  /** Milliseconds from the deletion of the old pool until the last address was assigned again, by network. */
  readonly gaps: ReadonlyMap<string, number>
}

/** Plans the adoption from the live state; `adopt` shows the result before it starts. */
export async function inspectCloud(
  { view, plan, cloud }: Pick<AdoptOptions, 'view' | 'plan' | 'cloud'>,
  context: StageContext,
): Promise<Adoption> {
  await view.watch(adoptionKinds, context)
  return planAdoption(plan, cloud, view.index())
}

export async function adopt(options: AdoptOptions): Promise<AdoptReport> {
  const { client, view, plan, cloud, run, sink, stop } = options
  const adoption = await inspectCloud(options, { emit: () => undefined, stop, clock: systemClock })
  if (hasErrors(adoption.findings)) throw new Failure(adoption.findings, 1)
  const gaps = new Map<string, number>()
  const inspect = (): Adoption => planAdoption(plan, cloud, view.index())
  const deps: AdoptDeps = { client, view, namespace: cloud.namespace, inspect }
  await recordInventory(client, plan.site, adoption)
  const stages = adoptStages(deps, adoption, gaps)
  const report = await runStages({ run, what: `adopt ${cloud.name}`, stages, sink, clock: systemClock, stop })
  return { report, gaps }
}

/** Lists every object before it is applied, so that none of ours exists unlisted. */
async function recordInventory(client: KubeClient, site: string, adoption: Adoption): Promise<void> {
  const { cloud, namespace, networks, advertisements, guard } = adoption
  await ensureSystemNamespace(client)
  const objects = [...networks.map(({ pool }) => pool), ...advertisements, ...guard].map(objectRef)
  const before = await readInventory(client, cloud)
  await writeInventory(client, addObjects(before, { site, cloud, namespace, objects }))
}

function adoptStages(deps: AdoptDeps, { cloud, networks }: Adoption, gaps: Map<string, number>): readonly Stage[] {
  type Step = readonly [name: string, work: (context: StageContext) => Promise<void>]
  const steps: readonly Step[] = [
    ['pin', (context) => pinAddresses(deps, context)],
    ['advertise', (context) => applySiteObjects(deps, deps.inspect().advertisements, context)],
    ...networks.map(
      ({ network }): Step => [
        `move-${network}`,
        async (context) => {
          const gapMs = await moveNetwork(deps, network, context)
          if (gapMs !== undefined) gaps.set(network, gapMs)
        },
      ],
    ),
    ['settle', (context) => waitUntilSettled(deps, context)],
    ['tidy', (context) => removeOldAdvertisements(deps, context)],
    ['guard', (context) => applySiteObjects(deps, deps.inspect().guard, context)],
  ]
  return steps.map(([name, work], index) => {
    const before = steps[index - 1]?.[0]
    // In sequence, so that the gap of a network is as short as its own requests.
    const after = before === undefined ? [] : [{ id: stageId(before, cloud), why: 'one step after the other' }]
    return { id: stageId(name, cloud), name, cloud, after, locks: [], work }
  })
}
