/** Lists every actor by name and runs them. A new actor is added here. */
import { failure } from '../../errors/failure.ts'
import type { Connection } from '../../kube/connect.ts'
import type { Log } from '../../kube/log.ts'
import { createRuntime } from '../../kube/runtime.ts'
import { unknownActor } from '../findings.ts'
import type { ConfigureNode } from '../nodes/configure-node.ts'
import type { OpenStackClouds } from '../openstack/clouds.ts'
import type { Actor } from './actor.ts'
import { kubelet } from './kubelet.ts'
import { nmstate } from './nmstate/nmstate-actor.ts'
import { olm } from './olm/olm-actor.ts'
import { addOperands } from './olm/operands.ts'
import { backupConfigController } from './openstack/backup-config.ts'
import { controlPlaneController } from './openstack/control-plane.ts'
import { dataPlaneControllers } from './openstack/nodeset.ts'
import { versionController } from './openstack/openstack-version.ts'
import { serviceOperators } from './openstack/service-operators.ts'

const openstack: Actor = {
  simulates: 'the OpenStack operators: control planes to Services and conditions, node sets and their deployments',
  source: 'openstack-operator 0.6.0 and lib-common: service.CreateOrPatch, conditions',
  needs: [],
  addControllers: (deps) => {
    deps.runtime.add(controlPlaneController(deps))
    deps.runtime.add(versionController(deps))
    deps.runtime.add(backupConfigController(deps))
    for (const controller of dataPlaneControllers(deps)) deps.runtime.add(controller)
  },
}

const operators: Actor = {
  simulates: 'the operators that OLM installs: operand to workloads, without containers that do anything',
  source: 'the bundles of the four operators, and the waits of install_yamls',
  needs: ['kubelet'],
  addControllers: addOperands,
}

export const actors: Readonly<Record<string, Actor>> = {
  kubelet,
  nmstate,
  olm,
  openstack,
  operators,
  services: serviceOperators,
}

export interface RunActorsOptions {
  readonly connection: Pick<Connection, 'client' | 'transport'>
  readonly names: readonly string[]
  /** Programs that really run here, so that nothing simulates them. */
  readonly real?: readonly string[]
  readonly signal: AbortSignal
  readonly stepMs?: number
  readonly configureNode?: ConfigureNode | undefined
  readonly openstack?: OpenStackClouds | undefined
  readonly log?: Log
  /** Replaces the default actors. */
  readonly registry?: Readonly<Record<string, Actor>>
}

/** Runs the actors until the signal is aborted. */
export async function runActors(options: RunActorsOptions): Promise<void> {
  const { connection, names, real = [], signal, stepMs = 200, log, registry = actors } = options
  const { configureNode, openstack: clouds } = options
  const runtime = createRuntime({ client: connection.client, ...(log && { log }) })
  for (const actor of resolveActors(names, registry, real))
    actor.addControllers({
      runtime,
      transport: connection.transport,
      stepMs,
      configureNode,
      certManager: real.includes('cert-manager'),
      openstack: clouds,
    })
  await runtime.run(signal)
}

/** The named actors and their dependencies, each once. */
export function resolveActors(
  names: readonly string[],
  cast: Readonly<Record<string, Actor>> = actors,
  real: readonly string[] = [],
): readonly Actor[] {
  const found = new Map<string, Actor>()
  const add = (name: string): void => {
    const actor = cast[name]
    if (!actor) throw failure(unknownActor, { name, known: Object.keys(cast) })
    if (found.has(name)) return
    if (!real.includes(name)) found.set(name, actor)
    actor.needs.forEach(add)
  }
  names.forEach(add)
  return [...found.values()]
}
