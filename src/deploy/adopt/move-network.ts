/**
 * One network of a cloud changes its pool. Before any does, every Service is told to keep its address. Nothing waits
 * between the end of the old pool and the new one but the requests themselves.
 */
import { systemClock } from '../../clock/clock.ts'
import { failure } from '../../errors/failure.ts'
import type { StageContext } from '../../run/stage.ts'
import { latestEvent } from '../../verify/readiness/object-events.ts'
import { addressNotRestored } from '../findings/adopt.ts'
import { isInterrupted, type NetworkMove } from './adoption.ts'
import type { Annotations } from './live-slots.ts'
import type { Scene } from './scene.ts'
import { hasAddressesBack } from './service-moves.ts'
import { isEmpty } from './wishes.ts'
import { applySiteObjects, patchControlPlane, patchServices, releaseOldPools } from './writes.ts'

/** Every Service asks for the address that it has: nobody can lose it to somebody else, even if we end right here. */
export async function pinAddresses(scene: Scene, context: StageContext): Promise<void> {
  const now = scene.look()
  const onlyAddress = (lacks: Annotations): Annotations =>
    Object.fromEntries(Object.entries(lacks).filter(([key]) => key.endsWith('/loadBalancerIPs')))
  const slots = now.networks.flatMap(({ slots: all }) =>
    all
      .filter(({ service }) => service !== undefined)
      .map(({ place, lacks }) => ({ place, annotations: onlyAddress(lacks) })),
  )
  await patchControlPlane(
    scene,
    slots.filter(({ annotations }) => !isEmpty(annotations)),
    context,
  )
  const services = now.networks.flatMap(({ services: all }) => all)
  await patchServices(
    scene,
    services.map((service) => ({ ...service, lacks: onlyAddress(service.lacks) })),
    context,
  )
}

export async function moveNetwork(scene: Scene, network: string, context: StageContext): Promise<void> {
  const now = scene.look().networks.find((networkMove) => networkMove.network === network)
  if (!now || now.kind === 'as planned') return
  const { clock = systemClock } = scene
  const begun = clock.now()
  await releaseOldPools(scene, now, context)
  const slots = now.slots
    .filter(({ lacks }) => !isEmpty(lacks))
    .map(({ place, lacks }) => ({ place, annotations: lacks }))
  const patches = [patchServices(scene, now.services, context), patchControlPlane(scene, slots, context)]
  await Promise.all(patches)
  await applySiteObjects(scene, [now.pool], context)
  await waitForAddresses(scene, now, context)
  const ms = clock.now() - begun
  if (!isInterrupted(now)) return
  scene.gaps.set(network, ms)
  const many = now.services.length
  context.emit({
    kind: 'progress',
    message: `${network}: ${many} Services have their addresses again after ${ms} ms`,
  })
}

async function waitForAddresses(scene: Scene, { services }: NetworkMove, context: StageContext): Promise<void> {
  const { lookout, clock = systemClock, returnMs = 60_000, cloud } = scene
  const until = clock.now() + returnMs
  for (;;) {
    context.stop.throwIfAborted()
    const index = lookout.index(cloud.namespace)
    const open = services.find((service) => {
      const live = index.get('Service', service.name, service.namespace)
      // One that was deleted meanwhile waits for nothing.
      return live && !hasAddressesBack(live, service)
    })
    if (!open) return
    const service = index.get('Service', open.name, open.namespace)
    const said = (service && latestEvent(service, ['AllocationFailed'], index)?.message) ?? ''
    const facts = { service: `${open.namespace}/${open.name}`, address: open.addresses.join(', '), said }
    if (clock.now() >= until) throw failure(addressNotRestored, facts, { exitCode: 1 })
    await lookout.waitForChange(cloud.namespace, 250, context)
  }
}
