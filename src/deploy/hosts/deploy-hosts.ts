/**
 * Deploys planned hosts: one stage per deployment, which creates it and waits. A stage for a deployment that an interrupted
 * run has created only waits. Writes only to the namespaces of these clouds and to their inventories.
 */
import type { KubeObject } from '../../api/object.ts'
import { systemClock } from '../../clock/clock.ts'
import { type HostDeployment, renderHostDeployment } from '../../hosts/plan-host-deployments.ts'
import type { KubeClient } from '../../kube/client.ts'
import { addOwnershipLabels } from '../../render/labels.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Stage, type StageContext, stageId } from '../../run/stage.ts'
import { addObjects, type Inventory, readInventory, writeInventory } from '../inventory.ts'
import type { LiveView } from '../live-view.ts'
import { objectRef } from '../object-changes.ts'
import type { DiscoverHosts } from '../stages/data-plane-stage.ts'
import { createAndWait } from './create-deployment.ts'

/** Marks the deployments of `stackloom hosts deploy`, which an interrupted run finds by it. */
export const HOSTS_LABEL = 'stackloom.dev/hosts'

const watchedKinds = [
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneDeployment' },
  { apiVersion: 'batch/v1', kind: 'Job' },
] as const

export interface DeployHostsOptions {
  readonly client: KubeClient
  readonly view: LiveView
  readonly deployments: readonly HostDeployment[]
  /** Of the clouds that Stackloom has deployed. */
  readonly inventories: readonly Inventory[]
  readonly discoverHosts: DiscoverHosts
  /** The command, for the record of the run. */
  readonly what: string
  readonly run: string
  readonly sink: EventSink
  readonly stop: AbortSignal
}

export async function deployHosts(options: DeployHostsOptions): Promise<RunReport> {
  const { view, deployments, what, run, sink, stop } = options
  await view.watch(watchedKinds, { emit: () => undefined, stop, clock: systemClock })
  const stages = deployments.map((deployment) => createStage(options, deployment))
  return runStages({ run, what, stages, sink, clock: systemClock, stop })
}

function createStage(options: DeployHostsOptions, deployment: HostDeployment): Stage {
  const owner = options.inventories.find(({ namespace }) => namespace === deployment.namespace)
  const cloud = owner?.cloud ?? deployment.namespace
  return {
    id: stageId(deployment.name, cloud),
    name: deployment.name,
    cloud,
    after: [],
    locks: [],
    work: (context) => deployAndWait(options, deployment, owner, context),
  }
}

async function deployAndWait(
  options: DeployHostsOptions,
  deployment: HostDeployment,
  owner: Inventory | undefined,
  context: StageContext,
): Promise<void> {
  const { client, view } = options
  const { namespace, isFirst } = deployment
  const object = buildObject(deployment, owner)
  await createAndWait({ client, view }, object, context, true, async () => {
    if (owner?.cloud === undefined) return
    const before = await readInventory(client, owner.cloud)
    await writeInventory(client, addObjects(before, { ...owner, objects: [objectRef(object)] }))
  })
  if (isFirst) context.emit({ kind: 'progress', message: await options.discoverHosts(namespace, context) })
}

function buildObject(deployment: HostDeployment, owner: Inventory | undefined): KubeObject {
  const object = renderHostDeployment(deployment)
  const labelled = { ...object, metadata: { ...object.metadata, labels: { [HOSTS_LABEL]: 'true' } } }
  if (owner?.cloud === undefined) return labelled
  return addOwnershipLabels(labelled, { site: owner.site, cloud: owner.cloud })
}
