/**
 * Frees reservations without an owner. Reads the reservation and then its owner again right before each write, and writes only
 * the version that it read: a reservation that was taken in between is left as it is.
 */
import { type AddressFault, IP_SET, reservationOwner } from '../../addresses/audit-addresses.ts'
import { parseOverlap } from '../../addresses/overlapping-reservation.ts'
import { groupBy } from '../../api/collections.ts'
import { asRecord } from '../../api/json.ts'
import { type KubeObject, objectIdentity } from '../../api/object.ts'
import { formatObjectName, getField, getString } from '../../api/raw-object.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient, ObjectRef } from '../../kube/client.ts'
import { objectRef } from '../object-changes.ts'

export interface FreedAddress {
  readonly fault: AddressFault
  /** `kept`: its owner exists now, or the reservation changed. */
  readonly outcome: 'freed' | 'kept'
  /** What was read right before: `Pod openstack/ovn-0: not found`. */
  readonly evidence: string
}

type Client = Pick<KubeClient, 'get' | 'update' | 'delete'>

/** Writes of whereabouts to a busy IPPool may come between several times. */
const ATTEMPTS = 20
const CONCURRENT_READS = 8

/** The entries of one IPPool are freed by one write. */
export async function freeAddresses(
  client: Client,
  faults: readonly AddressFault[],
  signal: AbortSignal,
): Promise<readonly FreedAddress[]> {
  const freed: FreedAddress[] = []
  for (const group of groupBy(faults, ({ object }) => objectIdentity(object)).values())
    freed.push(...(await freeReservations(client, group, signal)))
  return freed
}

/** Frees reservations that one object has. */
async function freeReservations(
  client: Client,
  faults: readonly AddressFault[],
  signal: AbortSignal,
): Promise<readonly FreedAddress[]> {
  const [first] = faults
  if (!first) return []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    signal.throwIfAborted()
    const read = await client.get(objectRef(first.object), { signal })
    // After the reservation: an owner that is created later writes it, and the write below is refused.
    const judged = await mapConcurrently(faults, CONCURRENT_READS, (fault) => judge(client, fault, read, signal))
    const free = judged.filter(({ outcome }) => outcome === 'freed').map(({ fault }) => fault)
    if (!read || free.length === 0 || (await release(client, free, read, signal))) return judged
  }
  return faults.map((fault) => ({ fault, outcome: 'kept', evidence: 'the reservation is written all the time' }))
}

async function judge(
  client: Client,
  fault: AddressFault,
  read: KubeObject | undefined,
  signal: AbortSignal,
): Promise<FreedAddress> {
  if (!read || !isSame(fault, read)) return { fault, outcome: 'kept', evidence: 'the reservation changed' }
  const owner = ownerRef(fault)
  const name = `${owner.kind} ${owner.namespace}/${owner.name}`
  if (await client.get(owner, { signal })) return { fault, outcome: 'kept', evidence: `${name} exists` }
  const version = `${formatObjectName(read)} at version ${read.metadata.resourceVersion}`
  return { fault, outcome: 'freed', evidence: `${name}: not found; ${version}` }
}

/** False when the object changed since it was read. */
async function release(
  client: Client,
  faults: readonly AddressFault[],
  read: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  const offsets = new Set(faults.flatMap(({ entry }) => entry?.offset ?? []))
  const { uid, resourceVersion } = read.metadata
  try {
    if (offsets.size > 0) {
      const allocations = Object.entries(asRecord(getField(read, 'spec', 'allocations')))
      const rest = Object.fromEntries(allocations.filter(([offset]) => !offsets.has(offset)))
      await client.update({ ...read, spec: { ...asRecord(read['spec']), allocations: rest } }, { signal })
      return true
    }
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    }
    await client.delete(objectRef(read), { signal, preconditions })
    return true
  } catch (thrown) {
    if (isApiError(thrown, 'conflict')) return false
    throw thrown
  }
}

/** Whether the reservation is still for the same owner, and for the same container of it. */
function isSame({ kind, entry, owner, object }: AddressFault, read: KubeObject): boolean {
  if (read.metadata.uid !== object.metadata.uid || read.metadata.deletionTimestamp !== undefined) return false
  if (kind === 'leaked' && entry) {
    const allocation = getField(read, 'spec', 'allocations', entry.offset)
    return getString(allocation, 'podref') === entry.podRef && (getString(allocation, 'id') ?? '') === entry.container
  }
  if (kind === 'leaked-overlap') return `Pod ${parseOverlap(read).podRef}` === owner
  return reservationOwner(read) === reservationOwner(object)
}

function ownerRef({ kind, owner, object }: AddressFault): ObjectRef & { readonly namespace: string } {
  if (kind === 'orphaned')
    return { ...IP_SET, namespace: object.metadata.namespace ?? '', name: reservationOwner(object) }
  const [namespace = '', name = ''] = owner.replace(/^Pod /, '').split('/')
  return { apiVersion: 'v1', kind: 'Pod', namespace, name }
}
