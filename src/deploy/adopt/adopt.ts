/**
 * The move itself, as stages: first every Service is told to keep its address, then network after network the old pool
 * goes and the cloud's own comes, and the guard is turned on last.
 *
 * Each stage looks anew at what lives, so the same command goes on after any end.
 */
import { systemClock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Plan } from '../../plan/plan.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { addObjects, ensureSystemNamespace, objectRef, readInventory, writeInventory } from '../inventory.ts'
import { type Adoption, adoptionKinds, planAdoption } from './adoption.ts'
import { moveNetwork, pinAddresses } from './move-network.ts'
import type { AdoptOptions, Scene } from './scene.ts'
import { waitUntilSettled } from './settle.ts'
import { applySiteObjects, removeOldAdvertisements } from './writes.ts'

export interface AdoptReport {
  readonly report: RunReport
  /** Milliseconds from the end of the old pool until the last address was back, by network. */
  readonly gaps: ReadonlyMap<string, number>
}

/** The look at the cluster that `adopt` shows and works from. */
export async function inspectCloud(
  { lookout, plan, cloud }: Pick<AdoptOptions, 'lookout' | 'plan' | 'cloud'>,
  context: StageContext,
): Promise<Adoption> {
  await lookout.watch(adoptionKinds, context)
  return planAdoption(plan, cloud, lookout.index())
}

export async function adopt(settings: AdoptOptions): Promise<AdoptReport> {
  const { lookout, plan, cloud, run, sink, stop, clock = systemClock } = settings
  const context: StageContext = { emit: () => undefined, stop, clock }
  const first = await inspectCloud(settings, context)
  if (hasErrors(first.findings)) throw new Failure(first.findings, 1)
  const scene: Scene = { ...settings, gaps: new Map(), look: () => planAdoption(plan, cloud, lookout.index()) }
  await recordInventory(settings.client, plan, first)
  const what = `adopt ${cloud.name}`
  const report = await runStages({ run, what, stages: adoptStages(scene, first), sink, clock, stop })
  return { report, gaps: scene.gaps }
}

/** Nothing of ours may exist that is not listed. */
async function recordInventory(client: KubeClient, plan: Plan, { cloud, namespace, ...made }: Adoption): Promise<void> {
  await ensureSystemNamespace(client)
  const objects = [...made.networks.map(({ pool }) => pool), ...made.advertisements, ...made.guard].map(objectRef)
  const before = await readInventory(client, cloud)
  await writeInventory(client, addObjects(before, { site: plan.site, cloud, namespace, objects }))
}

function adoptStages(scene: Scene, first: Adoption): readonly Stage[] {
  const { name } = scene.cloud
  const names = [
    'pin',
    'advertise',
    ...first.networks.map(({ network }) => `move-${network}`),
    'settle',
    'tidy',
    'guard',
  ]
  const works: Readonly<Record<string, (context: StageContext) => Promise<void>>> = {
    pin: (context) => pinAddresses(scene, context),
    advertise: (context) => applySiteObjects(scene, scene.look().advertisements, context),
    settle: (context) => waitUntilSettled(scene, context),
    tidy: (context) => removeOldAdvertisements(scene, context),
    guard: (context) => applySiteObjects(scene, scene.look().guard, context),
  }
  return names.map((stage, at) => {
    const before = names[at - 1]
    const network = stage.replace(/^move-/, '')
    return {
      id: stageId(stage, name),
      name: stage,
      cloud: name,
      // One after the other: a network is gone for as long as its own requests take, no longer.
      after: before === undefined ? [] : [{ id: stageId(before, name), why: 'one step after the other' }],
      locks: [],
      work: works[stage] ?? ((context) => moveNetwork(scene, network, context)),
    }
  })
}
