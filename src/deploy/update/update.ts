/**
 * An update, as stages: the target is set, then upstream's order is followed: OVN on the control plane, OVN on the
 * hosts, the control plane, the hosts. Only this cloud's namespace is written to. The same command resumes.
 */
import type { KubeObject } from '../../api/object.ts'
import { type Clock, systemClock } from '../../clock/clock.ts'
import type { KubeClient } from '../../kube/client.ts'
import { addOwnershipLabels } from '../../render/labels.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { objectReadiness } from '../../verify/readiness/readiness.ts'
import { defaultGrace, type Grace, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { addObjects, ensureSystemNamespace, objectRef, readInventory, writeInventory } from '../inventory.ts'
import type { LiveView } from '../live-view.ts'
import { FIELD_MANAGER } from '../object-changes.ts'
import { type RetryPolicy, retry } from '../retry.ts'
import { waitUntilReady } from '../wait.ts'
import { type UpdatePlan, updateKinds } from './update-plan.ts'
import { deployedReadiness, stepReadiness, type UpdateStep } from './update-readiness.ts'

export interface UpdateOptions {
  readonly client: KubeClient
  readonly lookout: LiveView
  readonly site: string
  /** Without errors, and with a version to go to. */
  readonly plan: UpdatePlan & { readonly version: KubeObject; readonly wanted: string }
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly clock?: Clock
  readonly grace?: Grace
  readonly patience?: RetryPolicy
}

/** Which service of the data plane each step runs on the hosts. */
const onHosts = { 'ovn-data-plane': 'ovn', 'data-plane': 'update' } as const

export async function update(settings: UpdateOptions): Promise<RunReport> {
  const { client, lookout, plan, run, sink, stop, clock = systemClock } = settings
  await lookout.watch(updateKinds, { emit: () => undefined, stop, clock })
  await ensureSystemNamespace(client)
  const what = `update ${plan.cloud} to ${plan.wanted}`
  return runStages({ run, what, stages: updateStages(settings), sink, clock, stop })
}

function updateStages(settings: UpdateOptions): readonly Stage[] {
  const { cloud, nodeSets } = settings.plan
  const hosts = nodeSets.length > 0
  const works: readonly (readonly [string, (context: StageContext) => Promise<void>])[] = [
    ['target', (context) => setTarget(settings, context)],
    ['ovn-control-plane', (context) => waitForStep(settings, 'ovn-control-plane', context)],
    ...(hosts
      ? [['ovn-data-plane', (context: StageContext) => deployToHosts(settings, 'ovn-data-plane', context)] as const]
      : []),
    ['control-plane', (context) => waitForStep(settings, 'control-plane', context)],
    ...(hosts
      ? [['data-plane', (context: StageContext) => deployToHosts(settings, 'data-plane', context)] as const]
      : []),
    ['deployed', (context) => waitDeployed(settings, context)],
  ]
  return works.map(([name, work], at) => {
    const before = works[at - 1]?.[0]
    const after = before === undefined ? [] : [{ id: stageId(before, cloud), why: "upstream's order" }]
    return { id: stageId(name, cloud), name, cloud, after, locks: [], work }
  })
}

async function setTarget({ client, plan, patience }: UpdateOptions, context: StageContext): Promise<void> {
  const { version, wanted, target } = plan
  if (target === wanted) return
  const ref = objectRef(version)
  const patch = { spec: { targetVersion: wanted } }
  await retry(() => client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER }), context, patience)
  context.emit({ kind: 'applied', change: 'changed', object: ref })
}

async function waitForStep(settings: UpdateOptions, step: UpdateStep, context: StageContext): Promise<void> {
  const { lookout, plan } = settings
  const look = (): Readiness => stepReadiness(liveVersion(settings), step, plan.wanted)
  await waitUntilReady(look, lookout, context, { namespace: plan.namespace })
}

async function waitDeployed(settings: UpdateOptions, context: StageContext): Promise<void> {
  const { lookout, plan } = settings
  const look = (): Readiness => deployedReadiness(liveVersion(settings), plan.wanted)
  await waitUntilReady(look, lookout, context, { namespace: plan.namespace })
}

/** A deployment runs once, so each step of each version has one of its own; a second run of the command finds it. */
async function deployToHosts(
  settings: UpdateOptions,
  step: keyof typeof onHosts,
  context: StageContext,
): Promise<void> {
  const { client, lookout, plan, patience, grace = defaultGrace } = settings
  const desired = buildDeployment(settings, step)
  await recordDeployment(settings, desired)
  const write = (): Promise<KubeObject> => client.apply(desired, { fieldManager: FIELD_MANAGER })
  const ref = objectRef(desired)
  const there = await client.get(ref)
  if (!there) {
    await retry(write, context, patience)
    context.emit({ kind: 'applied', change: 'created', object: ref })
  }
  const look = (): Readiness =>
    worst([
      objectReadiness(ref, { around: lookout.index(plan.namespace), now: context.clock.now(), grace, nodes: [] }),
      stepReadiness(liveVersion(settings), step, plan.wanted),
    ])
  await waitUntilReady(look, lookout, context, { namespace: plan.namespace })
}

function buildDeployment({ plan, site }: UpdateOptions, step: keyof typeof onHosts): KubeObject {
  const { cloud, namespace, nodeSets, wanted } = plan
  const object = {
    apiVersion: 'dataplane.openstack.org/v1beta1',
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name: `update-${onHosts[step]}-${slug(wanted)}`, namespace },
    spec: { nodeSets, servicesOverride: [onHosts[step]] },
  }
  return addOwnershipLabels(object, { site, cloud })
}

/** A version as part of a name. */
function slug(version: string): string {
  return version
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

async function recordDeployment({ client, site, plan }: UpdateOptions, object: KubeObject): Promise<void> {
  const { cloud, namespace } = plan
  const before = await readInventory(client, cloud)
  await writeInventory(client, addObjects(before, { site, cloud, namespace, objects: [objectRef(object)] }))
}

function liveVersion({ lookout, plan }: UpdateOptions): KubeObject | undefined {
  const { name, namespace } = plan.version.metadata
  return lookout.index().get('core.openstack.org/OpenStackVersion', name, namespace)
}
