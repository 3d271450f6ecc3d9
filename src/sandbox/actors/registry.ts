/** Every actor by name, and the way onto the stage. A new one is an entry here. */
import { failure } from '../../errors/failure.ts'
import { unknownActor } from '../../errors/sandbox.ts'
import type { Connection } from '../../kube/connect.ts'
import type { Log } from '../../kube/log.ts'
import { createRuntime } from '../../kube/runtime.ts'
import type { Actor } from './actor.ts'
import { kubelet } from './kubelet.ts'
import { nmstate } from './nmstate/nmstate.ts'
import { olm } from './olm/olm.ts'
import { openstack } from './openstack/openstack.ts'
import { serviceOperators } from './openstack/services.ts'

export const actors: Readonly<Record<string, Actor>> = {
  kubelet,
  nmstate,
  olm,
  openstack,
  services: serviceOperators,
}

export interface PlayOptions {
  readonly connection: Pick<Connection, 'client' | 'transport'>
  readonly names: readonly string[]
  readonly signal: AbortSignal
  readonly stepMs?: number
  readonly log?: Log
  /** More actors, or others in place of ours. */
  readonly cast?: Readonly<Record<string, Actor>>
}

/** Plays until the signal fires. */
export async function play(options: PlayOptions): Promise<void> {
  const { connection, names, signal, stepMs = 200, log, cast = actors } = options
  const runtime = createRuntime({ client: connection.client, ...(log && { log }) })
  for (const actor of castOf(names, cast)) actor.enter({ runtime, transport: connection.transport, stepMs })
  await runtime.run(signal)
}

/** Those named and those whom they need, each once. */
export function castOf(
  names: readonly string[],
  cast: Readonly<Record<string, Actor>> = actors,
): readonly Actor[] {
  const found = new Map<string, Actor>()
  const add = (name: string): void => {
    const actor = cast[name]
    if (!actor) throw failure(unknownActor, { name, known: Object.keys(cast) })
    if (found.has(name)) return
    found.set(name, actor)
    actor.needs.forEach(add)
  }
  names.forEach(add)
  return [...found.values()]
}
