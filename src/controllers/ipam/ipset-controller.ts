/**
 * Reconciles IPSets: claims their addresses, then writes the Reservation and the status.
 *
 * The ledger is written first, so that a crash in between leaves an address with the IPSet that gets it on the next
 * reconcile.
 */
import { type AddressBlock, addressBlocks } from '../../api/address-block.ts'
import {
  type IpSet,
  ipSets as ipSetKind,
  isIpSetReady,
  type Reservation,
  reservations as reservationKind,
} from '../../api/ipset.ts'
import { type NetConfig, netConfigs as netConfigKind, selectNetConfig } from '../../api/netconfig.ts'
import { formatTimestamp, objectKey } from '../../api/object.ts'
import { systemClock } from '../../clock/clock.ts'
import type { Controller, ReconcileContext, Watch } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime, SharedCache } from '../../kube/runtime.ts'
import {
  createOwnWrites,
  createWriter,
  ignoreNotFound,
  type OwnWrites,
  type PendingCreates,
  requeueOnConflict,
  trackPendingCreates,
  type Writer,
} from '../kit/writes.ts'
import { createAllocator } from './allocator.ts'
import { buildClaim, createPoolCache } from './claim.ts'
import { createInputCheck, type FindInputProblem } from './input-problem.ts'
import {
  buildIpSetStatus,
  buildReservation,
  eventForFinding,
  hasFinalizer,
  type IpSetResult,
  type IpSetState,
  type StatusForm,
  summarizeResults,
  withFinalizer,
  withoutFinalizer,
} from './ipset-results.ts'
import { createLedger, type Ledger, ownerKey } from './ledger.ts'
import { existingClaim, hasIpSetOwner, type RecoverDeps, recoverLedger, releaseDeleted } from './recover.ts'
import { createSegmentSharing, sharedNamespaces } from './segment-sharing.ts'

const FIELD_MANAGER = 'stackloom-ipam'

/** Enough to fill a batch: each reconcile waits until its batch is written. */
const WORKERS = 256

export interface IpSetControllerOptions {
  readonly runtime: Pick<Runtime, 'client' | 'cache' | 'add'>
  readonly statusForm: () => Promise<StatusForm>
  readonly record: (event: EventRecord) => void
  /** `segment=namespace`, of the administrator. */
  readonly segmentOwners?: readonly string[]
}

/** What webhooks and metrics read. On a replica that does not lead it is kept current by the caches. */
export interface IpamState {
  readonly ledger: Ledger
  readonly ipSets: SharedCache<IpSet>
  readonly netConfigs: SharedCache<NetConfig>
}

export function startIpSetController(options: IpSetControllerOptions): IpamState {
  const { runtime, statusForm, record, segmentOwners = [] } = options
  const { client } = runtime
  const ipSets = runtime.cache<IpSet>({ kind: ipSetKind })
  const netConfigs = runtime.cache<NetConfig>({ kind: netConfigKind })
  const reservations = runtime.cache<Reservation>({ kind: reservationKind })
  const ledger = createLedger()
  const enqueue = (owner: string): void => controller.enqueue(owner)
  const allocator = createAllocator({ client, ledger, clock: systemClock, fieldManager: FIELD_MANAGER, enqueue })
  const ownWrites = createOwnWrites()
  const controller = runtime.add(
    ipSetController({
      client,
      writer: createWriter({ client, fieldManager: FIELD_MANAGER, ownWrites }),
      ownWrites,
      ipSets,
      netConfigs,
      reservations,
      pendingReservations: trackPendingCreates(reservations),
      ledger,
      allocator,
      parsePool: createPoolCache(),
      findInputProblem: createInputCheck(),
      sharing: createSegmentSharing((namespace) => netConfigs.list(namespace), segmentOwners),
      statusForm,
      record,
    }),
  )
  runtime.cache<AddressBlock>({ kind: addressBlocks }).subscribe((change) => {
    const removed = allocator.observe(change.object, change.kind === 'deleted' ? 'deleted' : 'written')
    // An owner that lost an entry by another writer claims it again, or is gone.
    for (const { holder } of removed) enqueue(ownerKey(holder))
  })
  return { ledger, ipSets, netConfigs }
}

interface IpSetControllerDeps extends RecoverDeps {
  readonly client: Runtime['client']
  readonly writer: Writer
  readonly ownWrites: OwnWrites
  readonly ipSets: SharedCache<IpSet>
  readonly reservations: SharedCache<Reservation>
  readonly pendingReservations: PendingCreates<Reservation>
  readonly findInputProblem: FindInputProblem
  readonly statusForm: () => Promise<StatusForm>
  readonly record: (event: EventRecord) => void
}

function ipSetController(deps: IpSetControllerDeps): Controller {
  const { ipSets, reservations, ownWrites } = deps
  let recovery: Promise<void> | undefined
  const recoverOnce = (signal: AbortSignal): Promise<void> => {
    recovery ??= recoverLedger(deps, signal).catch((error: unknown) => {
      recovery = undefined
      throw error
    })
    return recovery
  }
  const always = (): boolean => true
  const inNamespace = (namespace = ''): readonly string[] =>
    [...ipSets.list(namespace), ...reservations.list(namespace)].map(({ metadata }) => objectKey(metadata))
  const watches: readonly Watch[] = [
    {
      kind: ipSetKind,
      // After a restart, IPSets without addresses are reconciled before those that are ready.
      isLowPriority: (object) => isIpSetReady(object as IpSet) && !object.metadata.deletionTimestamp,
      isOwnWrite: ownWrites.has,
    },
    { kind: reservationKind, isLowPriority: always, isOwnWrite: ownWrites.has },
    {
      kind: netConfigKind,
      map: ({ metadata }) =>
        [metadata.namespace ?? '', ...sharedNamespaces({ metadata })].flatMap((name) => inNamespace(name)),
      isLowPriority: always,
    },
    // Watched so that the ledger is complete before the first reconcile; the subscription above enqueues owners.
    { kind: addressBlocks, map: () => [] },
  ]
  return {
    name: 'ipset',
    watches,
    workers: WORKERS,
    reconcile: requeueOnConflict(async (request, context) => {
      await recoverOnce(context.signal)
      await deps.allocator.turn()
      const key = objectKey(request)
      const ipSet = ipSets.get(key)
      if (!ipSet) await reconcileMissing(deps, key, context.signal)
      else if (ipSet.metadata.deletionTimestamp) await reconcileDelete(deps, ipSet, context.signal)
      else await reconcileNormal(deps, ipSet, context)
      return undefined
    }),
  }
}

async function reconcileNormal(deps: IpSetControllerDeps, stored: IpSet, context: ReconcileContext): Promise<void> {
  const ipSet = await ensureFinalizer(deps, stored, context.signal)
  const { namespace = '' } = ipSet.metadata
  const netConfig = selectNetConfig(deps.netConfigs.list(namespace))
  if (!netConfig)
    return writeStatus(deps, ipSet, { inputProblem: `NetConfig missing in namespace ${namespace}` }, context)
  const inputProblem = deps.findInputProblem(ipSet, netConfig)
  if (inputProblem) return writeStatus(deps, ipSet, { inputProblem }, context)
  const reservation = deps.pendingReservations.get(objectKey(ipSet.metadata))
  const request = buildClaim(ipSet, netConfig, reservation, deps.parsePool)
  const result = summarizeResults(request, await deps.allocator.claim({ ...request.claim, sharing: deps.sharing }))
  await writeReservation(deps, ipSet, result, reservation, context.signal)
  for (const finding of result.findings) deps.record(eventForFinding(ipSet, finding))
  await writeStatus(deps, ipSet, result, context)
}

/** The webhook adds the finalizer at creation; a separate write is needed only where it was not called. */
async function ensureFinalizer(
  { writer, ipSets }: IpSetControllerDeps,
  ipSet: IpSet,
  signal: AbortSignal,
): Promise<IpSet> {
  if (hasFinalizer(ipSet)) return ipSet
  return writer.updateMetadata(ipSets, ipSet, { finalizers: withFinalizer(ipSet.metadata.finalizers) }, signal)
}

async function writeReservation(
  { client, writer, reservations, pendingReservations }: IpSetControllerDeps,
  ipSet: IpSet,
  { allocated }: IpSetResult,
  existing: Reservation | undefined,
  signal: AbortSignal,
): Promise<void> {
  // If another client deletes a Reservation, its finalizer is removed; it is created again with the same addresses.
  if (existing?.metadata.deletionTimestamp) return removeFinalizer(client, existing, signal)
  const desired = buildReservation(ipSet, allocated, existing)
  if (!desired) return
  if (existing) await writer.update(reservations, desired, signal)
  else pendingReservations.add(await writer.create(desired, signal))
}

async function writeStatus(
  { writer, ipSets, statusForm }: IpSetControllerDeps,
  ipSet: IpSet,
  state: IpSetState,
  { signal, clock }: ReconcileContext,
): Promise<void> {
  const status = buildIpSetStatus(ipSet, state, await statusForm(), formatTimestamp(clock.now()))
  if (status) await writer.updateStatus(ipSets, ipSet, status, signal)
}

/** Releases everything here, because garbage collection comes later and not in every cluster. */
async function reconcileDelete(deps: IpSetControllerDeps, ipSet: IpSet, signal: AbortSignal): Promise<void> {
  if (!hasFinalizer(ipSet)) return
  const key = objectKey(ipSet.metadata)
  const { uid } = ipSet.metadata
  const reservation = deps.pendingReservations.get(key)
  // The Reservation of another IPSet with this name is kept.
  const owners = (reservation?.metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'IPSet')
  if (reservation && (owners.length === 0 || owners.some((owner) => owner.uid === uid))) {
    await deleteReservation(deps, reservation, signal)
  }
  await deps.allocator.release(key, (holder) => holder === uid || holder === reservation?.metadata.uid)
  await removeFinalizer(deps.client, ipSet, signal)
}

/** Without an IPSet, what it held is released; a Reservation that an IPSet may adopt keeps its addresses. */
async function reconcileMissing(deps: IpSetControllerDeps, key: string, signal: AbortSignal): Promise<void> {
  const reservation = deps.reservations.get(key)
  if (reservation && !hasIpSetOwner(reservation) && !reservation.metadata.deletionTimestamp) {
    const claim = existingClaim(deps, reservation)
    if (claim) await deps.allocator.claim(claim)
    return
  }
  if (!reservation && deps.ledger.heldBy(key).length === 0) {
    await deps.allocator.release(key, () => true)
    return
  }
  const [namespace = '', name = ''] = key.split('/')
  // The cache of Reservations may be ahead of that of IPSets: then the event of the IPSet causes another reconcile.
  if (await deps.client.get({ ...ipSetKind, namespace, name }, { signal })) return
  if (reservation) await deleteReservation(deps, reservation, signal)
  await releaseDeleted(deps, key, signal)
}

async function deleteReservation(
  { client, writer }: IpSetControllerDeps,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<void> {
  // The finalizer is removed first, so that the delete is the last write.
  if (hasFinalizer(reservation)) await removeFinalizer(client, reservation, signal)
  if (!reservation.metadata.deletionTimestamp) await writer.delete(reservation, signal)
}

async function removeFinalizer(
  client: Runtime['client'],
  object: IpSet | Reservation,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = withoutFinalizer(object.metadata.finalizers)
  const next = { ...object, metadata: { ...object.metadata, finalizers } }
  await ignoreNotFound(client.update(next, { fieldManager: FIELD_MANAGER, signal }))
}
