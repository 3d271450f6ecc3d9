/** All controllers of the data plane, over one world. */
import type { Controller } from '../kube/controller.ts'
import { dataPlaneController } from './nodes/data-plane-controller.ts'
import { nodeController } from './nodes/node-controller.ts'
import { roleController } from './nodes/role-controller.ts'
import { placementController } from './services/placement-controller.ts'
import { serviceController } from './services/service-controller.ts'
import type { World } from './world.ts'

export function dataPlaneControllers(world: World): readonly Controller[] {
  return [
    dataPlaneController(world),
    roleController(world),
    nodeController(world),
    ...world.services.flatMap((service) => [placementController(world, service), serviceController(world, service)]),
  ]
}
