/** Plays the OpenStack operators that OLM's actor has installed: control planes to Services, hosts to deployments. */
import type { Actor } from '../actor.ts'
import { controlPlaneController } from './control-plane.ts'
import { dataPlaneControllers } from './nodeset.ts'
import { versionController } from './openstack-version.ts'

export const openstack: Actor = {
  simulates: 'the OpenStack operators: control planes to Services and conditions, node sets and their deployments',
  source: 'openstack-operator 0.6.0 and lib-common: service.CreateOrPatch, conditions',
  needs: [],
  addControllers: (stage) => {
    stage.runtime.add(controlPlaneController(stage))
    stage.runtime.add(versionController(stage))
    for (const controller of dataPlaneControllers(stage)) stage.runtime.add(controller)
  },
}
