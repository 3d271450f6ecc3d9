/**
 * The move itself, as stages: first every Service is told to keep its address, then network after network the old pool
 * goes and the cloud's own comes, and the guard is turned on last.
 *
 * Each stage looks anew at what lives, so the same command goes on after any end. Nothing waits between the end of the
 * old pool and the new one but the requests themselves.
 */
import type { KubeObject } from '../../api/object.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import { addressNotBack } from '../../errors/adopt.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { hasErrors } from '../../errors/finding.ts'
import type { KubeClient, ObjectRef } from '../../kube/client.ts'
import type { Plan, PlannedCloud } from '../../plan/plan.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { lastSaid } from '../../verify/readiness/events.ts'
import { numberAt } from '../../verify/readiness/read.ts'
import { inParallel } from '../apply.ts'
import { FIELD_MANAGER } from '../changes.ts'
import { ensureSystemNamespace, readInventory, refOf, withObjects, writeInventory } from '../inventory.ts'
import type { Lookout } from '../lookout.ts'
import { type Patience, patiently, standardPatience } from '../patience.ts'
import { type Adoption, adoptedKinds, adoption, interrupts, type NetworkMove } from './adoption.ts'
import { inTheWay } from './old-pools.ts'
import { controlPlanePatch } from './patch.ts'
import type { Annotations } from './places.ts'
import { isBack, type ServiceMove } from './services.ts'
import { isEmpty, lacking } from './wishes.ts'

/** Of what we change in objects of others: the operators' Services, the control plane, the old pools. */
export const ADOPT_MANAGER = 'stackloom-adopt'

export interface AdoptSettings {
  readonly client: KubeClient
  readonly lookout: Lookout
  readonly plan: Plan
  readonly cloud: PlannedCloud
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly clock?: Clock
  readonly patience?: Patience
  /** How long MetalLB may take to give an address back. */
  readonly returnMs?: number
}

export interface AdoptReport {
  readonly report: RunReport
  /** Milliseconds from the end of the old pool until the last address was back, by network. */
  readonly gaps: ReadonlyMap<string, number>
}

interface Scene extends AdoptSettings {
  readonly gaps: Map<string, number>
  readonly look: () => Adoption
}

/** The look at the cluster that `adopt` shows and works from. */
export async function lookAt(
  { lookout, plan, cloud }: Pick<AdoptSettings, 'lookout' | 'plan' | 'cloud'>,
  context: StageContext,
): Promise<Adoption> {
  await lookout.follow(adoptedKinds, context)
  return adoption(plan, cloud, lookout.index())
}

export async function adopt(settings: AdoptSettings): Promise<AdoptReport> {
  const { lookout, plan, cloud, run, sink, stop, clock = systemClock } = settings
  const context: StageContext = { emit: () => undefined, stop, clock }
  const first = await lookAt(settings, context)
  if (hasErrors(first.findings)) throw new Failure(first.findings, 1)
  const scene: Scene = { ...settings, gaps: new Map(), look: () => adoption(plan, cloud, lookout.index()) }
  await record(settings.client, plan, first)
  const what = `adopt ${cloud.name}`
  const report = await runStages({ run, what, stages: stagesOf(scene, first), sink, clock, stop })
  return { report, gaps: scene.gaps }
}

/** Nothing of ours may exist that is not listed. */
async function record(
  client: KubeClient,
  plan: Plan,
  { cloud, namespace, ...made }: Adoption,
): Promise<void> {
  await ensureSystemNamespace(client)
  const objects = [...made.networks.map(({ pool }) => pool), ...made.advertisements, ...made.guard].map(refOf)
  const before = await readInventory(client, cloud)
  await writeInventory(client, withObjects(before, { site: plan.site, cloud, namespace, objects }))
}

function stagesOf(scene: Scene, first: Adoption): readonly Stage[] {
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
    pin: (context) => pin(scene, context),
    advertise: (context) => applyOwn(scene, scene.look().advertisements, context),
    settle: (context) => settle(scene, context),
    tidy: (context) => tidy(scene, context),
    guard: (context) => applyOwn(scene, scene.look().guard, context),
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
      work: works[stage] ?? ((context) => move(scene, network, context)),
    }
  })
}

/** Every Service asks for the address that it has: nobody can lose it to somebody else, even if we end right here. */
async function pin(scene: Scene, context: StageContext): Promise<void> {
  const now = scene.look()
  const onlyAddress = (lacks: Annotations): Annotations =>
    Object.fromEntries(Object.entries(lacks).filter(([key]) => key.endsWith('/loadBalancerIPs')))
  const slots = now.networks.flatMap(({ slots: all }) =>
    all
      .filter(({ service }) => service !== undefined)
      .map(({ place, lacks }) => ({ place, annotations: onlyAddress(lacks) })),
  )
  await patchControlPlane(
    scene,
    slots.filter(({ annotations }) => !isEmpty(annotations)),
    context,
  )
  const services = now.networks.flatMap(({ services: all }) => all)
  await patchServices(
    scene,
    services.map((one) => ({ ...one, lacks: onlyAddress(one.lacks) })),
    context,
  )
}

async function move(scene: Scene, network: string, context: StageContext): Promise<void> {
  const now = scene.look().networks.find((one) => one.network === network)
  if (!now || now.kind === 'as planned') return
  const { clock = systemClock } = scene
  const begun = clock.now()
  await clearTheWay(scene, now, context)
  const slots = now.slots
    .filter(({ lacks }) => !isEmpty(lacks))
    .map(({ place, lacks }) => ({ place, annotations: lacks }))
  const patches = [patchServices(scene, now.services, context), patchControlPlane(scene, slots, context)]
  await Promise.all(patches)
  await applyOwn(scene, [now.pool], context)
  await addressesBack(scene, now, context)
  const ms = clock.now() - begun
  if (!interrupts(now)) return
  scene.gaps.set(network, ms)
  const many = now.services.length
  context.emit({
    kind: 'progress',
    message: `${network}: ${many} Services have their addresses again after ${ms} ms`,
  })
}

/** The old pool ends here, or lets go of our range. */
async function clearTheWay(
  { client, patience }: Scene,
  { pool }: NetworkMove,
  context: StageContext,
): Promise<void> {
  const { namespace = '' } = pool.metadata
  const kind = { apiVersion: pool.apiVersion, kind: pool.kind }
  const { items } = await patiently(() => client.list(kind, { namespace }), context, patience)
  const old = inTheWay(pool, items)
  for (const { pool: one, keeps } of old) {
    const ref: ObjectRef = { ...kind, namespace, name: one.metadata.name }
    const act =
      keeps.length > 0
        ? () =>
            client.patch(ref, { spec: { addresses: keeps } }, { type: 'merge', fieldManager: ADOPT_MANAGER })
        : () => client.delete(ref)
    await patiently<unknown>(act, context, patience)
    context.emit({ kind: 'applied', change: keeps.length > 0 ? 'changed' : 'deleted', object: ref })
  }
}

async function patchServices(
  { client, patience }: Scene,
  services: readonly ServiceMove[],
  context: StageContext,
): Promise<void> {
  const open = services.filter(({ lacks }) => !isEmpty(lacks))
  await inParallel(open, 16, async ({ name, namespace, lacks }) => {
    const ref = { apiVersion: 'v1', kind: 'Service', namespace, name }
    const patch = { metadata: { annotations: lacks } }
    await patiently(
      () => client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER }),
      context,
      patience,
    )
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  })
}

async function patchControlPlane(
  { client, look, patience }: Scene,
  patches: Parameters<typeof controlPlanePatch>[1],
  context: StageContext,
): Promise<void> {
  const { controlPlane } = look()
  if (!controlPlane || patches.length === 0) return
  const ref = refOf(controlPlane)
  await patiently(
    async () => {
      // Read anew each time: a list is only sent over the version that it was read from.
      const fresh = (await client.get(ref)) ?? controlPlane
      const patch = controlPlanePatch(fresh, patches)
      return client.patch(ref, patch, { type: 'merge', fieldManager: ADOPT_MANAGER })
    },
    context,
    patience,
  )
  context.emit({ kind: 'applied', change: 'changed', object: ref })
}

/**
 * Objects of the site, by the site's own manager, so that `up` finds them as its own. The person has agreed to the
 * move, so what another tool has set in a pool of the right name gives way.
 */
async function applyOwn(scene: Scene, objects: readonly KubeObject[], context: StageContext): Promise<void> {
  const { client, patience = standardPatience } = scene
  // MetalLB's webhook refuses the new pool until its own view has lost the old one.
  const eager: Patience = { limits: { ...patience.limits, denied: 15_000 }, pauseMs: 50 }
  for (const object of objects) {
    const write = (): Promise<KubeObject> =>
      client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
    await patiently(write, context, eager)
    context.emit({ kind: 'applied', change: 'changed', object: refOf(object) })
  }
}

async function addressesBack(scene: Scene, { services }: NetworkMove, context: StageContext): Promise<void> {
  const { lookout, clock = systemClock, returnMs = 60_000, cloud } = scene
  const until = clock.now() + returnMs
  for (;;) {
    context.stop.throwIfAborted()
    const index = lookout.index(cloud.namespace)
    const open = services.find((service) => {
      const live = index.get('Service', service.name, service.namespace)
      // One that was deleted meanwhile waits for nothing.
      return live && !isBack(live, service)
    })
    if (!open) return
    const service = index.get('Service', open.name, open.namespace)
    const said = (service && lastSaid(service, ['AllocationFailed'], index)?.message) ?? ''
    const facts = { service: `${open.namespace}/${open.name}`, address: open.addresses.join(', '), said }
    if (clock.now() >= until) throw failure(addressNotBack, facts, { exitCode: 1 })
    await lookout.changed(cloud.namespace, 250, context)
  }
}

/**
 * An operator that had not seen the new control plane yet may write its old words once more. MetalLB does not mind, but
 * the guard would refuse every later change of that Service: so it comes only when the operator has seen the new words
 * and every Service has them. An operator that is away writes nothing, so it is not waited for without end.
 */
async function settle(scene: Scene, context: StageContext): Promise<void> {
  const { lookout, clock = systemClock, returnMs = 60_000, cloud } = scene
  const until = clock.now() + returnMs
  for (;;) {
    context.stop.throwIfAborted()
    const { networks, controlPlane } = scene.look()
    // In this order: after it has seen the new words an operator writes no old ones.
    const seen = await isSeen(scene, controlPlane, context)
    const open = await lackingNow(
      scene,
      networks.flatMap(({ services }) => services),
      context,
    )
    const [first] = open
    const late = clock.now() >= until
    if (!first && (seen || late)) return
    if (first && late) {
      const said = `somebody takes ${Object.keys(first.lacks).join(', ')} back`
      const facts = { service: `${first.namespace}/${first.name}`, address: first.addresses.join(', '), said }
      throw failure(addressNotBack, facts, { exitCode: 1 })
    }
    await patchServices(scene, open, context)
    await lookout.changed(cloud.namespace, 250, context)
  }
}

/** Whether the operator has looked at the control plane as it is now; one that does not say is taken at its word. */
async function isSeen(
  { client, patience }: Scene,
  controlPlane: KubeObject | undefined,
  context: StageContext,
): Promise<boolean> {
  if (!controlPlane) return true
  const live = await patiently(() => client.get(refOf(controlPlane)), context, patience)
  const observed = numberAt(live, 'status', 'observedGeneration')
  return observed === undefined || observed >= (live?.metadata.generation ?? 0)
}

/** As the server has them, not as the view shows them. */
async function lackingNow(
  { client, cloud, patience }: Scene,
  moves: readonly ServiceMove[],
  context: StageContext,
): Promise<readonly ServiceMove[]> {
  const { namespace } = cloud
  const list = () => client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
  const { items } = await patiently(list, context, patience)
  const live = new Map(items.map((one) => [one.metadata.name, one.metadata.annotations ?? {}]))
  return moves
    .filter(({ name }) => live.has(name))
    .map((one) => ({ ...one, lacks: lacking(one.wants, live.get(one.name)) }))
    .filter(({ lacks }) => !isEmpty(lacks))
}

async function tidy({ client, look, patience }: Scene, context: StageContext): Promise<void> {
  for (const one of look().oldAdvertisements) {
    await patiently(() => client.delete(refOf(one)), context, patience)
    context.emit({ kind: 'applied', change: 'deleted', object: refOf(one) })
  }
}
