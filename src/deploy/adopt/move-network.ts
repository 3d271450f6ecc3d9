/**
 * Moves one network of a cloud to its own pool and waits until every Service has its address again.
 *
 * Before any network moves, every Service requests its address. Between the deletion of the old pool and the creation of
 * the new one there are only the requests themselves.
 */
import type { KubeObject } from '../../api/object.ts'
import { getNumber } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { failure } from '../../errors/failure.ts'
import type { StageContext } from '../../run/stage.ts'
import { ingressAddresses } from '../../verify/readiness/load-balancer.ts'
import { latestEvent } from '../../verify/readiness/object-events.ts'
import { addressNotRestored } from '../findings/adopt.ts'
import { objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'
import { isInterrupted, type NetworkMove } from './adoption.ts'
import type { Annotations } from './live-slots.ts'
import { hasAddressesBack, isEmpty, missingAnnotations, type ServiceMove } from './service-moves.ts'
import {
  type AdoptDeps,
  applySiteObjects,
  patchControlPlane,
  patchServices,
  releaseOldPools,
  SERVICE,
} from './writes.ts'

/** How long MetalLB may take to assign an address again. */
const RETURN_MS = 60_000

/** Makes every Service request its present address, so that it keeps the address even if the run ends right here. */
export async function pinAddresses(deps: AdoptDeps, context: StageContext): Promise<void> {
  const { networks } = deps.inspect()
  const onlyAddress = (missing: Annotations): Annotations =>
    Object.fromEntries(Object.entries(missing).filter(([key]) => key.endsWith('/loadBalancerIPs')))
  const slots = networks
    .flatMap((network) => network.slots)
    .filter(({ service }) => service !== undefined)
    .map(({ liveSlot, missing }) => ({ slot: liveSlot, annotations: onlyAddress(missing) }))
  await patchControlPlane(deps, slots, context)
  const services = networks
    .flatMap((network) => network.services)
    .map((service) => ({ ...service, missing: onlyAddress(service.missing) }))
  await patchServices(deps, services, context)
}

/** Returns how long the addresses did not answer, in milliseconds; undefined if they always did. */
export async function moveNetwork(
  deps: AdoptDeps,
  network: string,
  context: StageContext,
): Promise<number | undefined> {
  const move = deps.inspect().networks.find((candidate) => candidate.network === network)
  if (!move || move.kind === 'as planned') return undefined
  const started = context.clock.now()
  await releaseOldPools(deps, move, context)
  const slots = move.slots.map(({ liveSlot, missing }) => ({ slot: liveSlot, annotations: missing }))
  await Promise.all([patchServices(deps, move.services, context), patchControlPlane(deps, slots, context)])
  await applySiteObjects(deps, [move.pool], context)
  await waitForAddresses(deps, move, context)
  if (!isInterrupted(move)) return undefined
  const ms = context.clock.now() - started
  const message = `${network}: ${move.services.length} Services have their addresses again after ${ms} ms`
  context.emit({ kind: 'progress', message })
  return ms
}

async function waitForAddresses(deps: AdoptDeps, { services }: NetworkMove, context: StageContext): Promise<void> {
  const { view, namespace } = deps
  const until = context.clock.now() + RETURN_MS
  for (;;) {
    context.stop.throwIfAborted()
    const index = view.index(namespace)
    const find = (move: ServiceMove): KubeObject | undefined => index.get('Service', move.name, move.namespace)
    const pending = services.find((move) => {
      const live = find(move)
      // A Service that was deleted meanwhile gets no address.
      return live && !hasAddressesBack(live, move)
    })
    if (!pending) return
    if (context.clock.now() >= until) throw addressFailure(pending, allocationError(find(pending), index))
    await view.waitForChange(namespace, 250, context)
  }
}

function allocationError(service: KubeObject | undefined, index: SnapshotIndex): string {
  return (service && latestEvent(service, ['AllocationFailed'], index)?.message) ?? ''
}

function addressFailure({ namespace, name, addresses }: ServiceMove, said: string): Error {
  const facts = { service: `${namespace}/${name}`, address: addresses.join(', '), said }
  return failure(addressNotRestored, facts, { exitCode: 1 })
}

/** A Service without its addresses or annotations, as the server has it. */
interface UnsettledService {
  readonly move: ServiceMove
  readonly live: KubeObject
}

/**
 * Waits until every Service has its address and annotations and no operator writes the old ones again.
 *
 * An operator that has not observed the new control plane may write its old annotations once more. MetalLB accepts them,
 * but the VIP policy would refuse every later change of that Service, so the policy is applied only after the operator
 * has observed the new ones. An operator that does not run writes nothing, so it is waited for only up to the limit.
 * A run that was interrupted after its last write finds every pool as planned while MetalLB still assigns addresses.
 */
export async function waitUntilSettled(deps: AdoptDeps, context: StageContext): Promise<void> {
  const { view, namespace } = deps
  const until = context.clock.now() + RETURN_MS
  for (;;) {
    context.stop.throwIfAborted()
    const { networks, controlPlane } = deps.inspect()
    // In this order: an operator that has observed the new annotations writes no old ones.
    const observed = await isObserved(deps, controlPlane, context)
    const moves = networks.flatMap(({ services }) => services)
    const unsettled = await findUnsettled(deps, moves, context)
    const [first] = unsettled
    const isLate = context.clock.now() >= until
    if (!first && (observed || isLate)) return
    if (first && isLate) {
      const missing = Object.keys(first.move.missing).join(', ')
      const error = allocationError(first.live, view.index(namespace))
      throw addressFailure(first.move, missing === '' ? error : `another client removes ${missing}`)
    }
    if (first) context.emit({ kind: 'waiting', reason: formatWait(first) })
    const incomplete = unsettled.map(({ move }) => move)
    await patchServices(deps, incomplete, context)
    await view.waitForChange(namespace, 250, context)
  }
}

function formatWait({ move: { namespace, name, addresses, missing } }: UnsettledService): string {
  return isEmpty(missing)
    ? `MetalLB to give ${addresses.join(', ')} back to Service ${namespace}/${name}`
    : `Service ${namespace}/${name} to ask for its address`
}

/** Whether the operator has observed the present control plane; one that reports no generation counts as such. */
async function isObserved(
  { client }: AdoptDeps,
  controlPlane: KubeObject | undefined,
  context: StageContext,
): Promise<boolean> {
  if (!controlPlane) return true
  const live = await retry(() => client.get(objectRef(controlPlane)), context)
  const observed = getNumber(live, 'status', 'observedGeneration')
  return observed === undefined || observed >= (live?.metadata.generation ?? 0)
}

/** Reads from the server, not from the view. A Service that was deleted meanwhile is settled. */
async function findUnsettled(
  { client, namespace }: AdoptDeps,
  moves: readonly ServiceMove[],
  context: StageContext,
): Promise<readonly UnsettledService[]> {
  const { items } = await retry(() => client.list(SERVICE, { namespace }), context)
  const byName = new Map(items.map((item) => [item.metadata.name, { ...item, ...SERVICE }]))
  return moves.flatMap((planned) => {
    const live = byName.get(planned.name)
    if (!live) return []
    const move = { ...planned, missing: missingAnnotations(planned.requested, live.metadata.annotations) }
    const assigned = ingressAddresses(live)
    const isIncomplete = planned.addresses.some((address) => !assigned.includes(address))
    return isIncomplete || !isEmpty(move.missing) ? [{ move, live }] : []
  })
}
