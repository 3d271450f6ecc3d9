/**
 * The end of a move: every Service has its address and the new words, and nobody writes the old ones any more, neither
 * we nor an operator that was late.
 */
import type { KubeObject } from '../../api/object.ts'
import { getNumber } from '../../api/raw-object.ts'
import { systemClock } from '../../clock/clock.ts'
import { failure } from '../../errors/failure.ts'
import type { StageContext } from '../../run/stage.ts'
import { ingressAddresses } from '../../verify/readiness/load-balancer.ts'
import { latestEvent } from '../../verify/readiness/object-events.ts'
import { addressNotRestored } from '../findings/adopt.ts'
import { objectRef } from '../inventory.ts'
import { retry } from '../retry.ts'
import type { Scene } from './scene.ts'
import type { ServiceMove } from './service-moves.ts'
import { isEmpty, missingAnnotations } from './wishes.ts'
import { patchServices } from './writes.ts'

const SERVICE = { apiVersion: 'v1', kind: 'Service' }

/** A Service that is not yet as it must be, as the server has it. */
interface UnsettledService {
  readonly move: ServiceMove
  readonly live: KubeObject
}

/**
 * An operator that had not seen the new control plane yet may write its old words once more. MetalLB does not mind, but
 * the guard would refuse every later change of that Service: so it comes only when the operator has seen the new words
 * and every Service has them. An operator that is away writes nothing, so it is not waited for without end.
 *
 * A run that was cut off after its last write finds every pool as planned while MetalLB is still giving addresses back:
 * that is waited for here, too.
 */
export async function waitUntilSettled(scene: Scene, context: StageContext): Promise<void> {
  const { lookout, clock = systemClock, returnMs = 60_000, cloud } = scene
  const until = clock.now() + returnMs
  for (;;) {
    context.stop.throwIfAborted()
    const { networks, controlPlane } = scene.look()
    // In this order: after it has seen the new words an operator writes no old ones.
    const seen = await isObserved(scene, controlPlane, context)
    const moves = networks.flatMap(({ services }) => services)
    const open = await findUnsettled(scene, moves, context)
    const [first] = open
    const late = clock.now() >= until
    if (!first && (seen || late)) return
    if (first && late) throw addressFailure(first, scene)
    if (first) context.emit({ kind: 'waiting', reason: formatWait(first) })
    await patchServices(
      scene,
      open.map(({ move }) => move),
      context,
    )
    await lookout.waitForChange(cloud.namespace, 250, context)
  }
}

function formatWait({ move: { namespace, name, addresses, lacks } }: UnsettledService): string {
  return isEmpty(lacks)
    ? `MetalLB to give ${addresses.join(', ')} back to Service ${namespace}/${name}`
    : `Service ${namespace}/${name} to ask for its address`
}

function addressFailure({ move, live }: UnsettledService, { lookout, cloud }: Scene): Error {
  const { namespace, name, addresses, lacks } = move
  const said = isEmpty(lacks)
    ? (latestEvent(live, ['AllocationFailed'], lookout.index(cloud.namespace))?.message ?? '')
    : `somebody takes ${Object.keys(lacks).join(', ')} back`
  const facts = { service: `${namespace}/${name}`, address: addresses.join(', '), said }
  return failure(addressNotRestored, facts, { exitCode: 1 })
}

/** Whether the operator has looked at the control plane as it is now; one that does not say is taken at its word. */
async function isObserved(
  { client, patience }: Scene,
  controlPlane: KubeObject | undefined,
  context: StageContext,
): Promise<boolean> {
  if (!controlPlane) return true
  const live = await retry(() => client.get(objectRef(controlPlane)), context, patience)
  const observed = getNumber(live, 'status', 'observedGeneration')
  return observed === undefined || observed >= (live?.metadata.generation ?? 0)
}

/** As the server has them, not as the view shows them. One that was deleted meanwhile waits for nothing. */
async function findUnsettled(
  { client, cloud, patience }: Scene,
  moves: readonly ServiceMove[],
  context: StageContext,
): Promise<readonly UnsettledService[]> {
  const { namespace } = cloud
  const list = () => client.list(SERVICE, { namespace })
  const { items } = await retry(list, context, patience)
  const byName = new Map(items.map((item) => [item.metadata.name, { ...item, ...SERVICE }]))
  return moves.flatMap((serviceMove) => {
    const live = byName.get(serviceMove.name)
    if (!live) return []
    const move = { ...serviceMove, lacks: missingAnnotations(serviceMove.wants, live.metadata.annotations) }
    const given = ingressAddresses(live)
    const isAway = serviceMove.addresses.some((address) => !given.includes(address))
    return isAway || !isEmpty(move.lacks) ? [{ move, live }] : []
  })
}
