/**
 * The inventory: what we have put into the cluster, one ConfigMap per cloud and one for what they share.
 *
 * It is written before the first apply, so that nothing of ours can exist without being listed; it is trimmed only
 * after something is gone. Prune, down and resume work from it, on any machine.
 */
import { type KubeObject, objectKey } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import { failure } from '../errors/failure.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import { forget } from '../plan/lock.ts'
import { writeLock } from '../plan/lock-file.ts'
import { unreadableInventory } from '../run/findings.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { parseRecordedLock } from './recorded-lock.ts'

export const SYSTEM_NAMESPACE = 'stackloom-system'
const SHARED = 'shared'
const LABEL = 'stackloom.dev/inventory'

/** An object that we have applied, or are about to. */
export interface InventoryEntry extends ObjectRef {
  /** It was there before us, made by somebody else: it is not ours to delete. */
  readonly adopted?: true
}

export interface Inventory {
  /** Absent for what the clouds share. */
  readonly cloud?: string
  readonly site: string
  readonly namespace?: string
  readonly objects: readonly InventoryEntry[]
  /** The lock's decisions as they were applied, as text. */
  readonly lock?: string
}

function inventoryName(cloud: string | undefined): string {
  return `inventory-${cloud === undefined ? SHARED : `cloud-${cloud}`}`
}

export function objectRef({ apiVersion, kind, metadata }: KubeObject): ObjectRef {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
}

/** Equal for the same object in any version of its API. */
export function refKey(ref: ObjectRef): string {
  return `${formatGroupKind(ref)} ${objectKey(ref)}`
}

export async function readInventory(client: KubeClient, cloud?: string): Promise<Inventory | undefined> {
  const found = await client.get(configMapRef(cloud))
  return found && parseInventory(found)
}

/** Every inventory in the cluster, whatever the site file still knows. */
export async function readInventories(client: KubeClient): Promise<readonly Inventory[]> {
  const { items } = await client.list(
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { namespace: SYSTEM_NAMESPACE, labelSelector: LABEL },
  )
  return items.map((item) => parseInventory({ ...item, apiVersion: 'v1', kind: 'ConfigMap' }))
}

function configMapRef(cloud: string | undefined): ObjectRef {
  return { apiVersion: 'v1', kind: 'ConfigMap', namespace: SYSTEM_NAMESPACE, name: inventoryName(cloud) }
}

export function parseInventory(configMap: KubeObject): Inventory {
  const data = (configMap['data'] ?? {}) as Readonly<Record<string, string>>
  const cloud = configMap.metadata.labels?.[LABEL]
  try {
    return {
      site: data['site'] ?? '',
      ...(cloud !== undefined && cloud !== SHARED && { cloud: cloud.replace(/^cloud-/, '') }),
      ...(data['namespace'] !== undefined && { namespace: data['namespace'] }),
      objects: JSON.parse(data['objects'] ?? '[]') as readonly InventoryEntry[],
      ...(data['lock'] !== undefined && { lock: data['lock'] }),
    }
  } catch (thrown) {
    throw failure(unreadableInventory, { name: configMap.metadata.name }, { cause: thrown, exitCode: 1 })
  }
}

export function renderInventory({ site, cloud, namespace, objects, lock }: Inventory): KubeObject {
  const sorted = objects.toSorted((a, b) => refKey(a).localeCompare(refKey(b)))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: inventoryName(cloud),
      namespace: SYSTEM_NAMESPACE,
      labels: {
        'app.kubernetes.io/managed-by': 'stackloom',
        [LABEL]: cloud === undefined ? SHARED : `cloud-${cloud}`,
      },
    },
    data: {
      site,
      ...(namespace !== undefined && { namespace }),
      objects: `[\n${sorted.map((ref) => JSON.stringify(ref)).join(',\n')}\n]`,
      ...(lock !== undefined && { lock }),
    },
  }
}

/** Adds to what is listed, never removes: whatever was applied once stays listed until it is gone. */
export function addObjects(before: Inventory | undefined, wanted: Inventory): Inventory {
  const known = new Map((before?.objects ?? []).map((ref) => [refKey(ref), ref]))
  // Whether something was there before us is only seen the first time.
  const all = new Map(wanted.objects.map((ref) => [refKey(ref), known.get(refKey(ref)) ?? ref]))
  return { ...wanted, objects: [...new Map([...known, ...all]).values()] }
}

/** What is listed but no longer wanted. */
export function staleObjects(before: Inventory, wanted: readonly KubeObject[]): readonly InventoryEntry[] {
  const ids = new Set(wanted.map((object) => refKey(objectRef(object))))
  return before.objects.filter((ref) => !ids.has(refKey(ref)))
}

/** Writes it unless it is there already, word for word: a run that changes nothing writes nothing. */
export async function writeInventory(client: KubeClient, inventory: Inventory): Promise<void> {
  const desired = renderInventory(inventory)
  const live = await client.get(configMapRef(inventory.cloud))
  if (live && JSON.stringify(sorted(live['data'])) === JSON.stringify(sorted(desired['data']))) return
  // Nobody else has a say in this object, so there is nothing to be polite about.
  await client.apply(desired, { fieldManager: FIELD_MANAGER, force: true })
}

function sorted(data: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries((data ?? {}) as Record<string, unknown>).toSorted(([a], [b]) => a.localeCompare(b))
}

export async function deleteInventory(client: KubeClient, cloud?: string): Promise<void> {
  await client.delete(configMapRef(cloud))
}

function systemNamespace(): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: SYSTEM_NAMESPACE, labels: { 'app.kubernetes.io/managed-by': 'stackloom' } },
  }
}

/** Where inventories and the lease live; made when it is not there. */
export async function ensureSystemNamespace(client: KubeClient): Promise<void> {
  const there = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: SYSTEM_NAMESPACE })
  if (!there) await client.apply(systemNamespace(), { fieldManager: FIELD_MANAGER })
}

/**
 * Stays while something is listed: the volumes of a cloud whose data was not to go. A namespace goes step by step; it
 * is waited for, so that whoever reads that everything is gone finds nothing, but not for ever.
 */
export async function removeSystemNamespace(
  client: KubeClient,
  clock: Clock = systemClock,
  limitMs = 60_000,
): Promise<void> {
  if ((await readInventories(client)).length > 0) return
  const ref = { apiVersion: 'v1', kind: 'Namespace', name: SYSTEM_NAMESPACE }
  await client.delete(ref)
  const until = clock.now() + limitMs
  while (clock.now() < until && (await client.get(ref))) await clock.sleep(250)
}

/** Takes clouds that are gone out of the lock on record: what they held may be given again. */
export async function forgetRecordedClouds(client: KubeClient, clouds: readonly string[]): Promise<void> {
  const shared = await readInventory(client)
  const lock = parseRecordedLock(shared?.lock)
  if (!shared || !lock) return
  const kept = clouds.reduce((before, cloud) => forget(before, cloud), lock)
  await writeInventory(client, { ...shared, lock: writeLock(kept) })
}
