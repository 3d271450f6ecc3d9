/**
 * Reads and writes inventories: the objects that we put into the cluster, one ConfigMap per cloud and one shared.
 *
 * An inventory is written before the first apply and trimmed only after an object is gone, so none of ours is unlisted.
 * Prune, down and resume need nothing else, on any machine.
 */
import { gunzipSync, gzipSync } from 'node:zlib'
import { asRecord } from '../api/json.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { isManagedByStackloom, MANAGED_BY_LABEL } from '../api/ownership.ts'
import { SYSTEM_NAMESPACE } from '../api/reserved-namespace.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { systemClock } from '../clock/clock.ts'
import { objectInTheWay } from '../errors/common.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import { diffLocks } from '../plan/changes.ts'
import { forget, type Lock } from '../plan/lock.ts'
import { readLock } from '../plan/lock-file.ts'
import { writeLock } from '../plan/written-lock.ts'
import { recordsTerminating, unreadableInventory } from './findings/up.ts'
import { FIELD_MANAGER, objectRef } from './object-changes.ts'

export const INVENTORY_LABEL = 'stackloom.dev/inventory'
const SHARED = 'shared'
const namespaceRef = { apiVersion: 'v1', kind: 'Namespace', name: SYSTEM_NAMESPACE }

/** An object that we have applied, or are about to apply. */
export interface InventoryEntry extends ObjectRef {
  /** It existed before we applied it, so it is not ours to delete. */
  readonly adopted?: true
}

export interface Inventory {
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly site: string
  readonly namespace?: string
  readonly objects: readonly InventoryEntry[]
  /** The text of the lock that was applied. */
  readonly lock?: string
}

/** Equal for the same object in any version of its API. */
export function refKey(ref: ObjectRef): string {
  return `${formatGroupKind(ref)} ${objectKey(ref)}`
}

export async function readInventory(client: KubeClient, cloud?: string): Promise<Inventory | undefined> {
  const found = await client.get(configMapRef(cloud))
  return found && parseInventory(found)
}

/** Reads every inventory in the cluster, also of clouds that left the site file. */
export async function readInventories(client: KubeClient): Promise<readonly Inventory[]> {
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { namespace: SYSTEM_NAMESPACE, labelSelector: INVENTORY_LABEL },
  )
  return items.map((item) => parseInventory({ ...item, apiVersion: 'v1', kind: 'ConfigMap' }))
}

function inventoryLabel(cloud: string | undefined): string {
  return cloud === undefined ? SHARED : `cloud-${cloud}`
}

function configMapRef(cloud: string | undefined): ObjectRef {
  const name = `inventory-${inventoryLabel(cloud)}`
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: SYSTEM_NAMESPACE, name }
}

/** A ConfigMap holds 1 MiB at most. A shorter lock is readable text; of a longer one about a twelfth is left. */
const MAX_LOCK_TEXT = 512 * 1024
const PACKED_LOCK = 'lock.gz'
/** More than any lock that fits when packed. */
const MAX_UNPACKED = 64 * 1024 * 1024

function packLock(lock: string | undefined): Partial<Record<'data' | 'binaryData', Record<string, string>>> {
  if (lock === undefined) return {}
  if (lock.length <= MAX_LOCK_TEXT) return { data: { lock } }
  return { binaryData: { [PACKED_LOCK]: gzipSync(lock, { level: 9 }).toString('base64') } }
}

function unpackLock({ data, binaryData }: KubeObject): string | undefined {
  const packed = asRecord(binaryData)[PACKED_LOCK]
  if (typeof packed !== 'string') return (data as Readonly<Record<string, string>> | undefined)?.['lock']
  return gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString('utf8')
}

export function parseInventory(configMap: KubeObject): Inventory {
  const data = (configMap['data'] ?? {}) as Readonly<Record<string, string>>
  const cloud = configMap.metadata.labels?.[INVENTORY_LABEL]
  try {
    const lock = unpackLock(configMap)
    return {
      site: data['site'] ?? '',
      ...(cloud !== undefined && cloud !== SHARED && { cloud: cloud.replace(/^cloud-/, '') }),
      ...(data['namespace'] !== undefined && { namespace: data['namespace'] }),
      objects: parseEntries(data['objects'] ?? '[]'),
      ...(lock !== undefined && { lock }),
    }
  } catch (thrown) {
    throw failure(unreadableInventory, { name: configMap.metadata.name }, { cause: thrown, exitCode: 1 })
  }
}

function parseEntries(text: string): readonly InventoryEntry[] {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw new TypeError('not a list of objects')
  return entries
}

function isEntry(value: unknown): value is InventoryEntry {
  const { apiVersion, kind, name, namespace = '', uid = '' } = asRecord(value)
  return [apiVersion, kind, name, namespace, uid].every((field) => typeof field === 'string')
}

export function renderInventory({ site, cloud, namespace, objects, lock }: Inventory): KubeObject {
  const { apiVersion, kind, name } = configMapRef(cloud)
  const sorted = objects.toSorted((a, b) => refKey(a).localeCompare(refKey(b)))
  const { data, ...packed } = packLock(lock)
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: SYSTEM_NAMESPACE,
      labels: { [MANAGED_BY_LABEL]: 'stackloom', [INVENTORY_LABEL]: inventoryLabel(cloud) },
    },
    data: {
      site,
      ...(namespace !== undefined && { namespace }),
      objects: `[\n${sorted.map((ref) => JSON.stringify(ref)).join(',\n')}\n]`,
      ...data,
    },
    ...packed,
  }
}

/** Adds to the listed objects and removes none: an applied object stays listed until it is gone. */
export function addObjects(before: Inventory | undefined, added: Inventory): Inventory {
  const known = new Map((before?.objects ?? []).map((ref) => [refKey(ref), ref]))
  // Whether an object existed before us can be seen only the first time.
  const all = new Map(added.objects.map((ref) => [refKey(ref), known.get(refKey(ref)) ?? ref]))
  return { ...added, objects: [...new Map([...known, ...all]).values()] }
}

/** Listed objects that are no longer desired. */
export function staleObjects(before: Inventory, desired: readonly KubeObject[]): readonly InventoryEntry[] {
  const keys = new Set(desired.map((object) => refKey(objectRef(object))))
  return before.objects.filter((ref) => !keys.has(refKey(ref)))
}

/** Writes only if the content differs, so that a run without changes writes nothing. */
export async function writeInventory(client: KubeClient, inventory: Inventory): Promise<void> {
  const desired = renderInventory(inventory)
  const live = await client.get(configMapRef(inventory.cloud))
  if (live && isSameContent(live, desired)) return
  if (live && !isManagedByStackloom(live)) {
    const { name } = configMapRef(inventory.cloud)
    const facts = { kind: 'ConfigMap', namespace: SYSTEM_NAMESPACE, name, owner: 'Stackloom did not create it' }
    throw failure(objectInTheWay, facts, { exitCode: 1 })
  }
  // No other manager has fields in this object, so forcing overrides nothing.
  await client.apply(desired, { fieldManager: FIELD_MANAGER, force: true })
}

function isSameContent(a: KubeObject, b: KubeObject): boolean {
  const fields = ({ data, binaryData }: KubeObject): string =>
    JSON.stringify([sortedEntries(data), sortedEntries(binaryData)])
  return fields(a) === fields(b)
}

function sortedEntries(data: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries((data ?? {}) as Record<string, unknown>).toSorted(([a], [b]) => a.localeCompare(b))
}

export async function deleteInventory(client: KubeClient, cloud?: string): Promise<void> {
  await deleteManaged(client, configMapRef(cloud))
}

/** Returns false where the object is not Stackloom's; then it stays. */
async function deleteManaged(client: KubeClient, ref: ObjectRef): Promise<boolean> {
  const live = await client.get(ref)
  if (!live || !isManagedByStackloom(live)) return false
  const { uid } = live.metadata
  await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
  return true
}

/**
 * Creates the namespace of the inventories and the Lease if it does not exist. One that is being deleted accepts neither:
 * the end of the deletion is awaited, and the run is refused when it takes too long.
 */
export async function ensureSystemNamespace(client: KubeClient, wait: TerminationWait = {}): Promise<void> {
  await waitForSystemNamespace(client, wait)
  await refuseTerminatingNamespace(client)
  if (await client.get(namespaceRef)) return
  const { apiVersion, kind, name } = namespaceRef
  const metadata = { name, labels: { [MANAGED_BY_LABEL]: 'stackloom' } }
  await client.apply({ apiVersion, kind, metadata }, { fieldManager: FIELD_MANAGER })
}

/** Deletes the namespace unless an inventory is left, such as that of a cloud whose volumes were kept. */
export async function deleteSystemNamespace(client: KubeClient): Promise<void> {
  if ((await readInventories(client)).length === 0) await deleteManaged(client, namespaceRef)
}

/** Throws while the namespace is being deleted: every attempt to write the Lease would be refused. */
export async function refuseTerminatingNamespace(client: Pick<KubeClient, 'get'>): Promise<void> {
  if (await isTerminating(client)) throw failure(recordsTerminating, { namespace: SYSTEM_NAMESPACE }, { exitCode: 1 })
}

async function isTerminating(client: Pick<KubeClient, 'get'>): Promise<boolean> {
  return (await client.get(namespaceRef))?.metadata.deletionTimestamp !== undefined
}

export interface TerminationWait {
  readonly signal?: AbortSignal
  /** A minute by default. */
  readonly limitMs?: number
}

/** Waits for the end of a deletion, so that nothing is left when the command says so, but not longer than the limit. */
export async function waitForSystemNamespace(
  client: Pick<KubeClient, 'get'>,
  { signal, limitMs = 60_000 }: TerminationWait = {},
): Promise<void> {
  const until = systemClock.now() + limitMs
  while (systemClock.now() < until && !signal?.aborted && (await isTerminating(client))) {
    await systemClock.sleep(250, signal)
  }
  signal?.throwIfAborted()
}

/** Removes deleted clouds from the recorded lock, so that their addresses are free again. */
export async function forgetRecordedClouds(client: KubeClient, clouds: readonly string[]): Promise<void> {
  const shared = await readInventory(client)
  const lock = parseRecordedLock(shared?.lock)
  if (!shared || !lock) return
  const remaining = clouds.reduce((before, cloud) => forget(before, cloud), lock)
  await writeInventory(client, { ...shared, lock: writeLock(remaining) })
}

/** Parses the lock of the shared inventory; an unreadable one counts as none. */
export function parseRecordedLock(text: string | undefined): Lock | undefined {
  return text === undefined ? undefined : readLock(text, 'the lock on record').lock
}

/** The lock to record after a run for some clouds: their decisions are new, those of the other clouds stay. */
export function mergeRecordedLock(recorded: Lock | undefined, present: Lock, clouds: ReadonlySet<string>): Lock {
  const isDeployed = (name: string): boolean => clouds.has(name) || present.clouds[name]?.leaving === true
  if (Object.keys(present.clouds).every(isDeployed)) return present
  const selected = Object.entries(present.clouds).filter(([name]) => clouds.has(name))
  return { ...present, ...recorded, clouds: { ...recorded?.clouds, ...Object.fromEntries(selected) } }
}

/** Decisions that differ between both locks and that the user has not allowed to move. New decisions do not conflict. */
export function findLockConflicts(recorded: Lock, present: Lock, allowed: readonly string[] = []): readonly string[] {
  return diffLocks(recorded, present)
    .filter(({ moves }) => moves)
    .map((change) => ({ ...change, where: [change.cloud, change.network].filter(Boolean).join('/') }))
    .filter(({ cloud, where }) => !allowed.includes(cloud) && !allowed.includes(where))
    .map(({ where, what, from, to }) => `${where} ${what}: ${from} -> ${to}`)
}
