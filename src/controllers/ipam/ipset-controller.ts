/**
 * The IPSet controller: gathers what an IPSet asks for, has it decided, and writes down what came of it.
 *
 * The ledger is written first, then the Reservation, then the status: a crash in between leaves an address held by
 * the one who gets it on the next look.
 */

import { type IpSet, type IpSetStatus, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { netConfigs, selectNetConfig } from '../../api/netconfig.ts'
import { formatTimestamp, type KubeObject, objectKey } from '../../api/object.ts'
import type { Controller, ReconcileContext, Watch } from '../../kube/controller.ts'
import { ignoreNotFound, requeueOnConflict } from '../kit/writes.ts'
import { addressBlocks } from './block.ts'
import { buildClaim } from './claim.ts'
import { type AllocatedNetwork, buildIpSetStatus, type IpSetState } from './ipset-status.ts'
import { existingClaim, hasIpSetOwner, recoverLedger, releaseDeleted } from './recover.ts'
import { buildReservation, hasFinalizer, withFinalizer, withoutFinalizer } from './reservation.ts'
import { eventForFinding, summarizeResults } from './standing.ts'
import { isReady } from './usage-report.ts'
import { FIELD_MANAGER, type World } from './world.ts'

/** Enough to fill a batch; each look waits for its batch to be written. */
const WORKERS = 256

export function ipSetController(world: World): Controller {
  let recovered: Promise<void> | undefined
  const whenRecovered = (signal: AbortSignal): Promise<void> => {
    recovered ??= recoverLedger(world, signal).catch((error: unknown) => {
      recovered = undefined
      throw error
    })
    return recovered
  }
  const watches: readonly Watch[] = [
    // After a restart whoever has no address yet is served before anybody is found to be as it should be.
    {
      kind: ipSets,
      isLowPriority: (one) => isReady(one as IpSet) && !one.metadata.deletionTimestamp,
      isOwnWrite: world.echoes.has,
    },
    { kind: reservations, isLowPriority: always, isOwnWrite: world.echoes.has },
    {
      kind: netConfigs,
      map: ({ metadata }) => affectedKeys(world, metadata.namespace ?? ''),
      isLowPriority: always,
    },
    // Watched for being whole before the first look; whom a change concerns is told by the world.
    { kind: addressBlocks, map: () => [] },
  ]
  return {
    name: 'ipset',
    watches,
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      await whenRecovered(context.signal)
      await reconcileIpSet(world, objectKey(request), context)
      return undefined
    }),
  }
}

const always = (): boolean => true

async function reconcileIpSet(world: World, key: string, context: ReconcileContext): Promise<void> {
  const ipSet = world.ipSets.get(key)
  if (!ipSet) return reconcileMissing(world, key, context)
  if (ipSet.metadata.deletionTimestamp) return reconcileDelete(world, ipSet, context)
  return reconcileNormal(world, ipSet, context)
}

/** Everybody in a namespace whom its NetConfig concerns. */
function affectedKeys(world: World, namespace: string): readonly string[] {
  return [...world.ipSets.list(namespace), ...world.reservations.list(namespace)].map(({ metadata }) =>
    objectKey(metadata),
  )
}

async function reconcileNormal(world: World, stored: IpSet, context: ReconcileContext): Promise<void> {
  const ipSet = await ensureFinalizer(world, stored, context)
  const { namespace = '' } = ipSet.metadata
  const netConfig = selectNetConfig(world.netConfigs.list(namespace))
  if (!netConfig) {
    const inputProblem = `NetConfig missing in namespace ${namespace}`
    return writeStatus(world, ipSet, { allocated: [], inputProblem, causes: [] }, context)
  }
  const reservation = world.freshReservations.get(objectKey(ipSet.metadata))
  const asked = buildClaim(ipSet, netConfig, reservation, world.poolOf)
  const verdicts = await world.allocator.claim(asked.claim)
  const standing = summarizeResults(asked, verdicts)
  await writeReservation(world, ipSet, standing.allocated, reservation, context)
  for (const finding of standing.findings) world.record(eventForFinding(ipSet, finding))
  await writeStatus(world, ipSet, standing, context)
}

/** Put on by our webhook at creation; by a write of its own where the webhook was not asked. */
async function ensureFinalizer(world: World, ipSet: IpSet, { signal }: ReconcileContext): Promise<IpSet> {
  if (hasFinalizer(ipSet.metadata.finalizers)) return ipSet
  const finalizers = withFinalizer(ipSet.metadata.finalizers)
  const marked = { ...ipSet, metadata: { ...ipSet.metadata, finalizers } }
  return recordWrite(
    world,
    world.ipSets,
    marked,
    await world.client.update(marked, { fieldManager: FIELD_MANAGER, signal }),
  )
}

/** What we wrote is known before the watch tells of it, and no reason to look. */
function recordWrite<T extends KubeObject>(
  { echoes }: World,
  cache: { note: (object: T, on: string) => boolean },
  sent: T,
  got: KubeObject,
): T {
  echoes.add(got)
  cache.note(got as T, sent.metadata.resourceVersion ?? '')
  return got as T
}

async function writeReservation(
  world: World,
  ipSet: IpSet,
  allotments: readonly AllocatedNetwork[],
  existing: Reservation | undefined,
  { signal }: ReconcileContext,
): Promise<void> {
  // One that is being deleted by somebody else is let go; it comes back with the same addresses.
  if (existing?.metadata.deletionTimestamp) return removeFinalizer(world, existing, signal)
  const given = allotments.map(({ network, subnet, address }) => ({
    network: network.name,
    subnet: subnet.name,
    address,
  }))
  const wanted = buildReservation(ipSet, given, existing)
  if (!wanted || (given.length === 0 && !existing)) return
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (existing) {
    recordWrite(world, world.reservations, wanted, await world.client.update(wanted, options))
    return
  }
  const created = (await world.client.create(wanted, options)) as Reservation
  world.echoes.add(created)
  world.freshReservations.add(created)
}

async function writeStatus(
  world: World,
  ipSet: IpSet,
  standing: IpSetState,
  { signal, clock }: ReconcileContext,
): Promise<void> {
  const now = formatTimestamp(clock.now())
  const status: IpSetStatus | undefined = buildIpSetStatus(ipSet, standing, await world.form(), now)
  if (!status) return
  const next: IpSet = { ...ipSet, status }
  const options = { fieldManager: FIELD_MANAGER, subresource: 'status', signal } as const
  recordWrite(world, world.ipSets, next, await world.client.update(next, options))
}

/** An IPSet that is being deleted gives everything back, by our hand and not by garbage collection. */
async function reconcileDelete(world: World, ipSet: IpSet, { signal }: ReconcileContext): Promise<void> {
  if (!hasFinalizer(ipSet.metadata.finalizers)) return
  const key = objectKey(ipSet.metadata)
  const { uid } = ipSet.metadata
  const reservation = world.freshReservations.get(key)
  // One that another IPSet of this name owns is not this one's to delete.
  const owners = (reservation?.metadata.ownerReferences ?? []).filter(
    (ownerReference) => ownerReference.kind === 'IPSet',
  )
  if (reservation && (owners.length === 0 || owners.some((owner) => owner.uid === uid))) {
    await removeReservation(world, reservation, signal)
  }
  await world.allocator.release(key, (held) => held === uid || held === reservation?.metadata.uid)
  const finalizers = withoutFinalizer(ipSet.metadata.finalizers)
  const left = { ...ipSet, metadata: { ...ipSet.metadata, finalizers } }
  await ignoreNotFound(world.client.update(left, { fieldManager: FIELD_MANAGER, signal }))
}

/** No IPSet of this name: what is left of it is given back; a Reservation that waits for one is claimed. */
async function reconcileMissing(world: World, key: string, { signal }: ReconcileContext): Promise<void> {
  const reservation = world.reservations.get(key)
  if (reservation && !hasIpSetOwner(reservation) && !reservation.metadata.deletionTimestamp) {
    const claim = existingClaim(world, reservation)
    if (claim) await world.allocator.claim(claim)
    return
  }
  if (!reservation && world.ledger.heldBy(key).length === 0) {
    await world.allocator.release(key, () => true)
    return
  }
  const [namespace = '', name = ''] = key.split('/')
  // The cache of Reservations may be ahead of that of IPSets: then the IPSet's own change brings us back.
  if (await world.client.get({ ...ipSets, namespace, name }, { signal })) return
  if (reservation) await removeReservation(world, reservation, signal)
  await releaseDeleted(world, key, signal)
}

async function removeReservation(world: World, reservation: Reservation, signal: AbortSignal): Promise<void> {
  const { name, namespace = '', uid } = reservation.metadata
  // The finalizer first: then the delete is the last write, and needs no garbage collection.
  if (hasFinalizer(reservation.metadata.finalizers)) await removeFinalizer(world, reservation, signal)
  if (reservation.metadata.deletionTimestamp) return
  const ref = { ...reservations, namespace, name }
  await ignoreNotFound(world.client.delete(ref, { signal, ...(uid && { preconditions: { uid } }) }))
}

async function removeFinalizer(world: World, object: Reservation, signal: AbortSignal): Promise<void> {
  const finalizers = withoutFinalizer(object.metadata.finalizers)
  const next = { ...object, metadata: { ...object.metadata, finalizers } }
  await ignoreNotFound(world.client.update(next, { fieldManager: FIELD_MANAGER, signal }))
}
