/**
 * The data plane of one cloud: node sets first, then the run that deploys them, then nova finds its hosts.
 *
 * A deployment runs once and only on node sets that are set up; before that it would fail and stay failed.
 */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import type { StageContext } from '../../run/stage.ts'
import { nodeSetSetupReadiness } from '../../verify/readiness/openstack.ts'
import { applyRule, progressing, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { objectRef } from '../inventory.ts'
import { FIELD_MANAGER } from '../object-changes.ts'
import { retry } from '../retry.ts'
import { waitUntilReady } from '../wait.ts'
import { aroundDataPlane } from '../works/around.ts'
import { compareObjects, type DeployCloud, distinctKinds, readinessContext, type World } from '../world.ts'
import { applyAndWait, type StageWork } from './apply-and-wait.ts'

/** Nova has looked for the hosts of this deployment. */
const DISCOVERED = 'stackloom.dev/hosts-discovered'
const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'

/** Makes nova map the new hosts to their cells; says how it went. */
export type DiscoverHosts = (cloud: DeployCloud, context: StageContext) => Promise<string>

export function dataPlaneWork(
  world: World,
  cloud: DeployCloud,
  objects: readonly KubeObject[],
  discoverHosts: DiscoverHosts,
): StageWork {
  const { namespace } = cloud
  const whole = applyAndWait(world, {
    objects,
    around: aroundDataPlane,
    namespace,
    empty: 'the cloud has no hosts',
  })
  const before = objects.filter(({ kind }) => kind !== 'OpenStackDataPlaneDeployment')
  const nodeSets = objects.filter((object) => formatGroupKind(object) === NODE_SET)
  const deployments = objects.filter((object) => !before.includes(object))
  return {
    check: async (context) => {
      const applied = await whole.check(context)
      if (applied.kind === 'needed' || deployments.every((deployment) => isDiscovered(deployment, world)))
        return applied
      return { kind: 'needed', reason: 'nova has not looked for the hosts yet' }
    },
    work: async (context) => {
      await world.lookout.watch([...distinctKinds(objects), ...aroundDataPlane], context)
      await applyChanges(compareObjects(before, world), world, context)
      const setUp = (): Readiness => worst(nodeSets.map((nodeSet) => setUpOf(nodeSet, world, context)))
      await waitUntilReady(setUp, world.lookout, context, { namespace })
      await whole.work(context)
      context.emit({ kind: 'progress', message: await discoverHosts(cloud, context) })
      for (const deployment of deployments) await markDiscovered(deployment, world, context)
    },
  }
}

function isDiscovered(desired: KubeObject, { lookout }: World): boolean {
  const { name, namespace } = desired.metadata
  const live = lookout.index().get(formatGroupKind(desired), name, namespace)
  return live?.metadata.annotations?.[DISCOVERED] !== undefined
}

/** On the run that brought the hosts: a run that was killed before this line looks for them again. */
async function markDiscovered(desired: KubeObject, world: World, context: StageContext): Promise<void> {
  if (isDiscovered(desired, world)) return
  const ref = objectRef(desired)
  const patch = { metadata: { annotations: { [DISCOVERED]: 'true' } } }
  const write = () => world.client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
  await retry(write, context, world.patience)
}

function setUpOf(desired: KubeObject, world: World, context: StageContext): Readiness {
  const judging = readinessContext(world, context, desired.metadata.namespace)
  const live = judging.around.get(NODE_SET, desired.metadata.name, desired.metadata.namespace)
  return live ? applyRule(nodeSetSetupReadiness, live, judging) : progressing(`${formatObjectName(desired)} to exist`)
}
