/** All controllers of the data plane, over one world. */
import type { Controller } from '../../kube/controller.ts'
import { dataPlaneController } from './dataplane-controller.ts'
import { nodeController } from './node-controller.ts'
import { roleController } from './role-controller.ts'
import { serviceController } from './service-controller.ts'
import { serviceCreator } from './service-creator.ts'
import type { World } from './world.ts'

export function dataPlaneControllers(world: World): readonly Controller[] {
  return [
    dataPlaneController(world),
    roleController(world),
    nodeController(world),
    ...world.services.flatMap((one) => [serviceCreator(world, one), serviceController(world, one)]),
  ]
}
