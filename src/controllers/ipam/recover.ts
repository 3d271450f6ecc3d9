/**
 * What must be true before the first grant: every Reservation's addresses are in the ledger, and nobody who is gone
 * is. Run once per start; a crash between any two writes is repaired here.
 */
import { type IpSet, ipSets, type Reservation } from '../../api/ipset.ts'
import { findSubnet, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { parseAddress } from '../../net/address.ts'
import { buildClaim, buildReservationClaim } from './claim.ts'
import { ownerKey } from './ledger.ts'
import type { Claim } from './plan-allocation.ts'
import { segmentName } from './pool.ts'
import type { World } from './world.ts'

export async function recoverLedger(world: World, signal: AbortSignal): Promise<void> {
  await releaseAllDeleted(world, signal)
  const isHeld = createHeldCheck(world)
  const claims = world.reservations
    .list()
    .filter((reservation) => !isHeld(reservation))
    .flatMap((reservation) => existingClaim(world, reservation) ?? [])
  await Promise.all(claims.map((claim) => world.allocator.claim(claim)))
}

/** Whether the ledger says of a Reservation what it says itself: then there is nothing to claim. */
function createHeldCheck({ ledger, netConfigs, ipSets: sets }: World): (reservation: Reservation) => boolean {
  const segments = new Map<string, string | undefined>()
  const segmentFor = (namespace: string, network: string, subnet: string): string | undefined => {
    const key = `${namespace}|${network}|${subnet}`
    if (!segments.has(key)) {
      const netConfig = selectNetConfig(netConfigs.list(namespace))
      const found = netConfig && findSubnet(netConfig.spec, network, subnet).subnet
      segments.set(key, found && segmentName(netConfig, found))
    }
    return segments.get(key)
  }
  return ({ metadata, spec }) => {
    const { namespace = '' } = metadata
    const owner = objectKey(metadata)
    const uid = sets.get(owner)?.metadata.uid
    const held = ledger.heldBy(owner)
    return Object.values(spec.reservation ?? {}).every(({ network, subnet, address }) => {
      const read = parseAddress(address)
      const segment = segmentFor(namespace, network, subnet)
      if (!read || segment === undefined || uid === undefined) return false
      return held.some(
        ({ spot, holder }) =>
          spot.value === read.value &&
          spot.family === read.family &&
          spot.segment === segment &&
          holder.uid === uid &&
          holder.network === network,
      )
    })
  }
}

/** What a Reservation says is held: in the name of its IPSet, or in its own while no IPSet has adopted it. */
export function existingClaim(world: World, reservation: Reservation): Claim | undefined {
  const { namespace = '' } = reservation.metadata
  const netConfig = selectNetConfig(world.netConfigs.list(namespace))
  const ipSet = world.ipSets.get(objectKey(reservation.metadata))
  if (!netConfig || ipSet?.metadata.deletionTimestamp) return undefined
  if (!ipSet) return hasIpSetOwner(reservation) ? undefined : buildReservationClaim(reservation, netConfig)
  const { claim } = buildClaim(ipSet, netConfig, reservation, world.poolOf)
  // Nothing new is granted here: not before all that exists is claimed.
  return { ...claim, requests: claim.requests.filter((want) => want.reserved !== undefined) }
}

/** Made for an IPSet: it goes with it. One without an owner was restored or made by hand, and waits for its IPSet. */
export function hasIpSetOwner({ metadata }: Reservation): boolean {
  return (metadata.ownerReferences ?? []).some((ownerReference) => ownerReference.kind === 'IPSet')
}

async function releaseAllDeleted(world: World, signal: AbortSignal): Promise<void> {
  const suspects = new Set<string>()
  // Every address is looked at before the first grant: this is all that may be done for each.
  for (const { holder } of world.ledger.all()) {
    const owner = ownerKey(holder)
    if (!isHolderAlive(world, owner, world.ipSets.get(owner), holder.uid)) suspects.add(owner)
  }
  await Promise.all([...suspects].map((owner) => releaseDeleted(world, owner, signal)))
}

/** Gives back what UIDs hold that do not exist any more. The cache may be old, so the API server is asked. */
export async function releaseDeleted(world: World, owner: string, signal: AbortSignal): Promise<void> {
  const [namespace = '', name = ''] = owner.split('/')
  const live = (await world.client.get({ ...ipSets, namespace, name }, { signal })) as IpSet | undefined
  await world.allocator.release(owner, (uid) => !isHolderAlive(world, owner, live, uid))
}

/** While an IPSet adopts a Reservation, what the Reservation held is on its way to the IPSet. */
function isHolderAlive(world: World, owner: string, ipSet: IpSet | undefined, uid: string): boolean {
  if (ipSet && (ipSet.metadata.uid ?? '') === uid) return true
  const reservation = world.reservations.get(owner)
  return reservation !== undefined && !hasIpSetOwner(reservation) && (reservation.metadata.uid ?? '') === uid
}
