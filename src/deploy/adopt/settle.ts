/** The end of a move: nobody writes the old words any more, neither we nor an operator that was late. */
import type { KubeObject } from '../../api/object.ts'
import { systemClock } from '../../clock/clock.ts'
import { addressNotBack } from '../../errors/adopt.ts'
import { failure } from '../../errors/failure.ts'
import type { StageContext } from '../../run/stage.ts'
import { numberAt } from '../../verify/readiness/read.ts'
import { refOf } from '../inventory.ts'
import { patiently } from '../patience.ts'
import type { Scene } from './scene.ts'
import type { ServiceMove } from './services.ts'
import { isEmpty, lacking } from './wishes.ts'
import { patchServices } from './writes.ts'

/**
 * An operator that had not seen the new control plane yet may write its old words once more. MetalLB does not mind, but
 * the guard would refuse every later change of that Service: so it comes only when the operator has seen the new words
 * and every Service has them. An operator that is away writes nothing, so it is not waited for without end.
 */
export async function settle(scene: Scene, context: StageContext): Promise<void> {
  const { lookout, clock = systemClock, returnMs = 60_000, cloud } = scene
  const until = clock.now() + returnMs
  for (;;) {
    context.stop.throwIfAborted()
    const { networks, controlPlane } = scene.look()
    // In this order: after it has seen the new words an operator writes no old ones.
    const seen = await isSeen(scene, controlPlane, context)
    const open = await lackingNow(
      scene,
      networks.flatMap(({ services }) => services),
      context,
    )
    const [first] = open
    const late = clock.now() >= until
    if (!first && (seen || late)) return
    if (first && late) {
      const said = `somebody takes ${Object.keys(first.lacks).join(', ')} back`
      const facts = { service: `${first.namespace}/${first.name}`, address: first.addresses.join(', '), said }
      throw failure(addressNotBack, facts, { exitCode: 1 })
    }
    await patchServices(scene, open, context)
    await lookout.changed(cloud.namespace, 250, context)
  }
}

/** Whether the operator has looked at the control plane as it is now; one that does not say is taken at its word. */
async function isSeen(
  { client, patience }: Scene,
  controlPlane: KubeObject | undefined,
  context: StageContext,
): Promise<boolean> {
  if (!controlPlane) return true
  const live = await patiently(() => client.get(refOf(controlPlane)), context, patience)
  const observed = numberAt(live, 'status', 'observedGeneration')
  return observed === undefined || observed >= (live?.metadata.generation ?? 0)
}

/** As the server has them, not as the view shows them. */
async function lackingNow(
  { client, cloud, patience }: Scene,
  moves: readonly ServiceMove[],
  context: StageContext,
): Promise<readonly ServiceMove[]> {
  const { namespace } = cloud
  const list = () => client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
  const { items } = await patiently(list, context, patience)
  const live = new Map(items.map((one) => [one.metadata.name, one.metadata.annotations ?? {}]))
  return moves
    .filter(({ name }) => live.has(name))
    .map((one) => ({ ...one, lacks: lacking(one.wants, live.get(one.name)) }))
    .filter(({ lacks }) => !isEmpty(lacks))
}
