/**
 * The data plane of one cloud: node sets first, then the run that deploys them, then nova finds its hosts.
 *
 * A deployment runs once and only on node sets that are set up; before that it would fail and stay failed.
 */
import type { KubeObject } from '../../api/object.ts'
import { nameOf } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import type { StageContext } from '../../run/stage.ts'
import { judgeBy } from '../../verify/readiness/deletion.ts'
import { nodeSetSetUp } from '../../verify/readiness/openstack.ts'
import { progressing, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { FIELD_MANAGER } from '../changes.ts'
import { refOf } from '../inventory.ts'
import { patiently } from '../patience.ts'
import { waitUntilReady } from '../wait.ts'
import { changesOf, type DeployCloud, kindsOf, readinessContext, type World } from '../world.ts'
import { applyAndWait, type StageWork } from './apply-and-wait.ts'
import { aroundDataPlane } from './around.ts'

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
  const nodeSets = objects.filter((object) => groupKindOf(object) === NODE_SET)
  const deployments = objects.filter((object) => !before.includes(object))
  return {
    check: async (context) => {
      const applied = await whole.check(context)
      if (applied.kind === 'needed' || deployments.every((one) => isDiscovered(one, world))) return applied
      return { kind: 'needed', reason: 'nova has not looked for the hosts yet' }
    },
    work: async (context) => {
      await world.lookout.follow([...kindsOf(objects), ...aroundDataPlane], context)
      await applyChanges(changesOf(before, world), world, context)
      const setUp = (): Readiness => worst(nodeSets.map((one) => setUpOf(one, world, context)))
      await waitUntilReady(setUp, world.lookout, context, { namespace })
      await whole.work(context)
      context.emit({ kind: 'progress', message: await discoverHosts(cloud, context) })
      for (const deployment of deployments) await markDiscovered(deployment, world, context)
    },
  }
}

function isDiscovered(desired: KubeObject, { lookout }: World): boolean {
  const { name, namespace } = desired.metadata
  const live = lookout.index().get(groupKindOf(desired), name, namespace)
  return live?.metadata.annotations?.[DISCOVERED] !== undefined
}

/** On the run that brought the hosts: a run that was killed before this line looks for them again. */
async function markDiscovered(desired: KubeObject, world: World, context: StageContext): Promise<void> {
  if (isDiscovered(desired, world)) return
  const ref = refOf(desired)
  const patch = { metadata: { annotations: { [DISCOVERED]: 'true' } } }
  const write = () => world.client.patch(ref, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
  await patiently(write, context, world.patience)
}

function setUpOf(desired: KubeObject, world: World, context: StageContext): Readiness {
  const judging = readinessContext(world, context, desired.metadata.namespace)
  const live = judging.around.get(NODE_SET, desired.metadata.name, desired.metadata.namespace)
  return live ? judgeBy(nodeSetSetUp, live, judging) : progressing(`${nameOf(desired)} to exist`)
}
