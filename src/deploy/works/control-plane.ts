/** The control plane of one cloud: ready when its operator says so and every Service has its planned address. */
import type { KubeObject } from '../../api/object.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { worst } from '../../verify/readiness/verdict.ts'
import { applyAndWait, type StageWork } from '../stages/apply-and-wait.ts'
import { type DeployCloud, readinessContext, type World } from '../world.ts'
import { aroundControlPlane } from './around.ts'

export function controlPlaneWork(world: World, cloud: DeployCloud, objects: readonly KubeObject[]): StageWork {
  return applyAndWait(world, {
    objects,
    around: aroundControlPlane,
    namespace: cloud.namespace,
    also: (context) => {
      const judging = readinessContext(world, context, cloud.namespace)
      return worst(judging.around.all('Service').map((service) => liveReadiness(service, judging)))
    },
  })
}
