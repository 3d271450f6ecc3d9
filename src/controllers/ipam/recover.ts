/**
 * Repairs the ledger before the first grant: claims what existing Reservations hold and releases what deleted IPSets
 * held. Runs once per start, because a crash may have happened between any two writes.
 */
import { type IpSet, ipSets as ipSetKind, type Reservation } from '../../api/ipset.ts'
import { findSubnet, type NetConfig, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import type { CacheReader } from '../../kube/cache.ts'
import type { KubeClient } from '../../kube/client.ts'
import { parseAddress } from '../../net/address.ts'
import type { Allocator } from './allocator.ts'
import { buildClaim, buildReservationClaim, type Claim, type ParsePool, segmentName } from './claim.ts'
import { addressKey, type Ledger, ownerKey } from './ledger.ts'
import type { SegmentSharing } from './segment-sharing.ts'

export interface RecoverDeps {
  readonly client: Pick<KubeClient, 'get'>
  readonly ipSets: Pick<CacheReader<IpSet>, 'get'>
  readonly netConfigs: Pick<CacheReader<NetConfig>, 'list'>
  readonly reservations: Pick<CacheReader<Reservation>, 'get' | 'list'>
  readonly ledger: Ledger
  readonly allocator: Allocator
  readonly parsePool: ParsePool
  readonly sharing: SegmentSharing
}

export async function recoverLedger(deps: RecoverDeps, signal: AbortSignal): Promise<void> {
  await releaseAllDeleted(deps, signal)
  const isHeld = createHeldCheck(deps)
  const claims = deps.reservations
    .list()
    .filter((reservation) => !isHeld(reservation))
    .flatMap((reservation) => existingClaim(deps, reservation) ?? [])
  // The first start in a cluster: what infra-operator assigned is taken over, whichever namespaces share a segment.
  const isFirstStart = deps.ledger.all()[Symbol.iterator]().next().done === true
  await Promise.all(
    claims.map(({ sharing, ...claim }) =>
      deps.allocator.claim(isFirstStart || !sharing ? claim : { ...claim, sharing }),
    ),
  )
}

/** Whether the ledger has everything that a Reservation has: then nothing is left to claim. */
function createHeldCheck({
  ledger,
  netConfigs,
  ipSets,
}: Pick<RecoverDeps, 'ledger' | 'netConfigs' | 'ipSets'>): (reservation: Reservation) => boolean {
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
    const uid = ipSets.get(owner)?.metadata.uid
    const held = new Map(ledger.heldBy(owner).map(({ address, holder }) => [addressKey(address), holder]))
    return Object.values(spec.reservation ?? {}).every(({ network, subnet, address: text }) => {
      const parsed = parseAddress(text)
      const segment = segmentFor(namespace, network, subnet)
      if (!parsed || segment === undefined || uid === undefined) return false
      const holder = held.get(addressKey({ segment, ...parsed }))
      return holder?.uid === uid && holder.network === network
    })
  }
}

/** A claim on what a Reservation holds, in the name of its IPSet, or in its own until an IPSet adopts it. */
export function existingClaim(
  { netConfigs, ipSets, parsePool, sharing }: Pick<RecoverDeps, 'netConfigs' | 'ipSets' | 'parsePool' | 'sharing'>,
  reservation: Reservation,
): Claim | undefined {
  const netConfig = selectNetConfig(netConfigs.list(reservation.metadata.namespace ?? ''))
  const ipSet = ipSets.get(objectKey(reservation.metadata))
  if (!netConfig || ipSet?.metadata.deletionTimestamp) return undefined
  if (!ipSet)
    return hasIpSetOwner(reservation)
      ? undefined
      : { ...buildReservationClaim(reservation, netConfig, parsePool), sharing }
  const { claim } = buildClaim(ipSet, netConfig, reservation, parsePool)
  // No new address is granted before everything that exists is claimed.
  return { ...claim, sharing, requests: claim.requests.filter(({ reserved }) => reserved !== undefined) }
}

/** A Reservation with an owner is deleted with its owner. A Reservation without was restored or created manually: an IPSet may adopt it. */
export function hasIpSetOwner({ metadata }: Reservation): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind }) => kind === 'IPSet')
}

async function releaseAllDeleted(deps: RecoverDeps, signal: AbortSignal): Promise<void> {
  const suspects = new Set<string>()
  // This loop visits every held address before the first grant, so it must stay cheap.
  for (const { holder } of deps.ledger.all()) {
    const owner = ownerKey(holder)
    if (!isHolderAlive(deps, owner, deps.ipSets.get(owner), holder.uid)) suspects.add(owner)
  }
  await Promise.all([...suspects].map((owner) => releaseDeleted(deps, owner, signal)))
}

/** Releases the addresses held by UIDs that no longer exist. The cache may be behind, so the API server is asked. */
export async function releaseDeleted(
  deps: Pick<RecoverDeps, 'client' | 'allocator' | 'reservations'>,
  owner: string,
  signal: AbortSignal,
): Promise<void> {
  const [namespace = '', name = ''] = owner.split('/')
  const live = (await deps.client.get({ ...ipSetKind, namespace, name }, { signal })) as IpSet | undefined
  await deps.allocator.release(owner, (uid) => !isHolderAlive(deps, owner, live, uid))
}

/** A Reservation without an owner holds addresses itself until an IPSet adopts it. */
function isHolderAlive(
  { reservations }: Pick<RecoverDeps, 'reservations'>,
  owner: string,
  ipSet: IpSet | undefined,
  uid: string,
): boolean {
  if (ipSet && (ipSet.metadata.uid ?? '') === uid) return true
  const reservation = reservations.get(owner)
  return reservation !== undefined && !hasIpSetOwner(reservation) && (reservation.metadata.uid ?? '') === uid
}
