/**
 * The data plane of one cloud: node sets first, then the run that deploys them, then nova finds its hosts.
 *
 * A deployment runs once and only on node sets that are set up; before that it would fail and stay failed.
 */
import type { KubeObject } from '../../api/object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import type { StageContext } from '../../run/stage.ts'
import { nodeSetSetUp } from '../../verify/readiness/openstack.ts'
import { nameOf } from '../../verify/readiness/read.ts'
import { progressing, type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { waitUntilReady } from '../wait.ts'
import { changesOf, type DeployCloud, kindsOf, readinessContext, type World } from '../world.ts'
import { applyAndWait, type StageWork } from './apply-and-wait.ts'
import { aroundDataPlane } from './around.ts'

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
  return {
    check: whole.check,
    work: async (context) => {
      await world.lookout.follow([...kindsOf(objects), ...aroundDataPlane], context)
      await applyChanges(changesOf(before, world), world, context)
      const setUp = (): Readiness => worst(nodeSets.map((one) => setUpOf(one, world, context)))
      await waitUntilReady(setUp, world.lookout, context, { namespace })
      await whole.work(context)
      context.emit({ kind: 'progress', message: await discoverHosts(cloud, context) })
    },
  }
}

function setUpOf(desired: KubeObject, world: World, context: StageContext): Readiness {
  const judging = readinessContext(world, context, desired.metadata.namespace)
  const live = judging.around.get(NODE_SET, desired.metadata.name, desired.metadata.namespace)
  return live ? nodeSetSetUp(live, judging) : progressing(`${nameOf(desired)} to exist`)
}
