/**
 * Updates one cloud in stages: sets the target, then follows upstream's order: OVN on the control plane, OVN on the
 * hosts, the control plane, the hosts. Writes only to this cloud's namespace. The same command resumes.
 */
import type { KubeObject } from '../../api/object.ts'
import { systemClock } from '../../clock/clock.ts'
import type { KubeClient } from '../../kube/client.ts'
import { addOwnershipLabels } from '../../render/labels.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { objectReadiness } from '../../verify/readiness/readiness.ts'
import { defaultGrace, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { addObjects, ensureSystemNamespace, readInventory, writeInventory } from '../inventory.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { FIELD_MANAGER, findLive, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'
import { deployedReadiness, stepReadiness, type UpdatePlan, type UpdateStep, updateKinds } from './update-plan.ts'

export interface UpdateOptions {
  readonly client: KubeClient
  readonly view: LiveView
  readonly site: string
  /** A plan without errors, and with a version to go to. */
  readonly plan: UpdatePlan & { readonly version: KubeObject; readonly wanted: string }
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

/** The data plane service that each step runs on the hosts. */
const hostServices = { 'ovn-data-plane': 'ovn', 'data-plane': 'update' } as const

type HostStep = keyof typeof hostServices

export async function update(options: UpdateOptions): Promise<RunReport> {
  const { client, view, plan, run, sink, stop } = options
  await view.watch(updateKinds, { emit: () => undefined, stop, clock: systemClock })
  await ensureSystemNamespace(client)
  const what = `update ${plan.cloud} to ${plan.wanted}`
  return runStages({ run, what, stages: updateStages(options), sink, clock: systemClock, stop })
}

function updateStages(options: UpdateOptions): readonly Stage[] {
  const { cloud, nodeSets, wanted } = options.plan
  type Step = readonly [name: string, work: (context: StageContext) => Promise<void>]
  const waitForStep = (step: UpdateStep): Step => [
    step,
    (context) => waitForVersion(options, (version) => stepReadiness(version, step, wanted), context),
  ]
  const updateHosts = (step: HostStep): readonly Step[] =>
    nodeSets.length > 0 ? [[step, (context) => deployToHosts(options, step, context)]] : []
  const steps: readonly Step[] = [
    ['target', (context) => setTarget(options, context)],
    waitForStep('ovn-control-plane'),
    ...updateHosts('ovn-data-plane'),
    waitForStep('control-plane'),
    ...updateHosts('data-plane'),
    ['deployed', (context) => waitForVersion(options, (version) => deployedReadiness(version, wanted), context)],
  ]
  return steps.map(([name, work], index) => {
    const before = steps[index - 1]?.[0]
    const after = before === undefined ? [] : [{ id: stageId(before, cloud), why: "upstream's order" }]
    return { id: stageId(name, cloud), name, cloud, after, locks: [], work }
  })
}

async function setTarget({ client, plan }: UpdateOptions, context: StageContext): Promise<void> {
  const { version, wanted, target } = plan
  if (target === wanted) return
  const ref = objectRef(version)
  const patch = { spec: { targetVersion: wanted } }
  const write = () => client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
  await retry(write, context)
  context.emit({ kind: 'applied', change: 'changed', object: ref })
}

async function waitForVersion(
  { view, plan }: UpdateOptions,
  judge: (version: KubeObject | undefined) => Readiness,
  context: StageContext,
): Promise<void> {
  const check = (): Readiness => judge(findLive(objectRef(plan.version), view.index()))
  await waitUntilReady(check, view, context, plan.namespace)
}

/** A Deployment runs once, so each step of each version has its own; a second run of the command finds it. */
async function deployToHosts(options: UpdateOptions, step: HostStep, context: StageContext): Promise<void> {
  const { client, view, plan } = options
  const deployment = buildDeployment(options, step)
  await recordDeployment(options, deployment)
  const ref = objectRef(deployment)
  if (!(await client.get(ref))) {
    await retry(() => client.apply(deployment, { fieldManager: FIELD_MANAGER }), context)
    context.emit({ kind: 'applied', change: 'created', object: ref })
  }
  const judge = (version: KubeObject | undefined): Readiness => {
    const around = view.index(plan.namespace)
    const readiness = objectReadiness(ref, { around, now: context.clock.now(), grace: defaultGrace, nodes: [] })
    return worst([readiness, stepReadiness(version, step, plan.wanted)])
  }
  await waitForVersion(options, judge, context)
}

function buildDeployment({ plan, site }: UpdateOptions, step: HostStep): KubeObject {
  const { cloud, namespace, nodeSets, wanted } = plan
  const service = hostServices[step]
  const object = {
    apiVersion: 'dataplane.openstack.org/v1beta1',
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name: `update-${service}-${formatNamePart(wanted)}`, namespace },
    spec: { nodeSets, servicesOverride: [service] },
  }
  return addOwnershipLabels(object, { site, cloud })
}

/** A version in the characters that object names allow. */
function formatNamePart(version: string): string {
  return version
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

async function recordDeployment({ client, site, plan }: UpdateOptions, deployment: KubeObject): Promise<void> {
  const { cloud, namespace } = plan
  const before = await readInventory(client, cloud)
  const added = { site, cloud, namespace, objects: [objectRef(deployment)] }
  await writeInventory(client, addObjects(before, added))
}
