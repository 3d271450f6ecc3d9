/**
 * Deletes objects and waits until they are gone, releases what existed before us, and verifies that nothing is left.
 *
 * A finalizer is a controller's promise to clean up. One that stays is reported with its owner and never removed.
 */

import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom, MANAGED_BY_LABEL } from '../../api/ownership.ts'
import { ageMs, formatObjectName, getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { CLOUD_LABEL, stackloomLabels } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { failed, formatFinalizers, progressing, type Readiness, ready, worst } from '../../verify/readiness/verdict.ts'
import { type Limiter, runParallel } from '../apply.ts'
import { objectsRemain, stuckFinalizer } from '../findings/down.ts'
import { confirmDeletion } from '../interrupted-deployments.ts'
import { type Inventory, type InventoryEntry, SYSTEM_NAMESPACE } from '../inventory.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { FIELD_MANAGER, findLive } from '../object-changes.ts'
import { retry } from '../retry.ts'

export interface DeleteDeps {
  readonly client: KubeClient
  readonly view: LiveView
  readonly limiter: Limiter
  readonly stuckMs: number
  /** Whether running data plane deployments may be deleted. */
  readonly mayInterrupt: boolean
}

/** Deletes those objects that exist and are ours, and waits until they are gone. */
export async function deleteAll(
  refs: readonly InventoryEntry[],
  deps: DeleteDeps,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const { client, view, limiter, mayInterrupt } = deps
  const ours = refs.filter((ref) => isDeletable(ref, view))
  await view.watch(refs, context)
  await runParallel(ours, 8, async (ref) => {
    context.stop.throwIfAborted()
    const live = findLive(ref, view.index())
    const uid = live?.metadata.uid
    if (live) await confirmDeletion(live, mayInterrupt, client)
    const request = () => limiter(() => client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) }))
    if (live && (await retry(request, context))) context.emit({ kind: 'applied', change: 'deleted', object: ref })
  })
  await waitUntilGone(ours, deps, context, namespace)
}

export async function waitUntilGone(
  refs: readonly InventoryEntry[],
  { view, stuckMs }: DeleteDeps,
  context: StageContext,
  namespace?: string,
): Promise<void> {
  const isStuck = (live: KubeObject): boolean => isStuckDeletion(live, stuckMs, context)
  const check = (): Readiness =>
    worst(
      refs.map((ref) => {
        const live = findLive(ref, view.index())
        if (!live) return ready
        const waits = `${formatObjectName(live)} to be gone${formatFinalizers(live)}`
        return isStuck(live) ? failed(waits, '') : progressing(waits)
      }),
    )
  try {
    await waitUntilReady(check, view, context, namespace)
  } catch (thrown) {
    const stuck = refs.map((ref) => findLive(ref, view.index())).find((live) => live && isStuck(live))
    if (!stuck) throw thrown
    const { finalizers = [] } = stuck.metadata
    const facts = { object: formatObjectName(stuck), finalizers, owner: finalizerOwner(stuck) }
    throw failure(stuckFinalizer, facts, { exitCode: 1, cause: thrown })
  }
}

/** Adopted objects and objects that are no longer ours stay. */
function isDeletable(ref: InventoryEntry, view: LiveView): boolean {
  if (ref.adopted) return false
  const live = findLive(ref, view.index())
  return live === undefined || isManagedByStackloom(live)
}

function isStuckDeletion(live: KubeObject, stuckMs: number, { clock }: StageContext): boolean {
  const { deletionTimestamp, finalizers = [] } = live.metadata
  const isTerminating = live.kind === 'Namespace' ? getString(live, 'status', 'phase') === 'Terminating' : true
  return finalizers.length > 0 && isTerminating && ageMs(deletionTimestamp, clock.now()) >= stuckMs
}

function finalizerOwner({ metadata }: KubeObject): string {
  const writer = (metadata.managedFields ?? []).findLast(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('f:finalizers'),
  )
  return writer?.manager ?? 'an unknown manager'
}

/**
 * Removes our labels from adopted objects and changes nothing else in them. With the labels a later run would take them
 * for its own, and the next `down` would delete them.
 */
export async function releaseAdopted(
  objects: readonly InventoryEntry[],
  { client, view, limiter }: DeleteDeps,
  context: StageContext,
): Promise<void> {
  const labels = Object.fromEntries(stackloomLabels.map((label) => [label, null]))
  const refs = objects.filter(({ adopted }) => adopted)
  await view.watch(refs, context)
  for (const ref of refs) {
    context.stop.throwIfAborted()
    const live = findLive(ref, view.index())
    if (!live || !isManagedByStackloom(live)) continue
    const patch = () => client.patch(ref, { metadata: { labels } }, { type: 'merge', fieldManager: FIELD_MANAGER })
    await retry(() => limiter(patch), context)
    context.emit({ kind: 'applied', change: 'changed', object: ref })
  }
}

/** Lists every kind of the inventory by our labels; throws what is left, returns the number of kinds. */
export async function verifyGone(
  { cloud, objects, namespace }: Inventory,
  { client, deleteData }: DeleteDeps & { readonly deleteData: boolean },
  context: StageContext,
): Promise<number> {
  const nameKey = (groupKind: string, name: string): string => `${groupKind} ${name}`
  const adopted = new Set(objects.filter((ref) => ref.adopted).map((ref) => nameKey(formatGroupKind(ref), ref.name)))
  const kinds = [...new Map(objects.map((ref) => [formatGroupKind(ref), ref])).values()]
  const ofCloud = cloud === undefined ? `!${CLOUD_LABEL}` : `${CLOUD_LABEL}=${cloud}`
  const labelSelector = `${MANAGED_BY_LABEL}=stackloom,${ofCloud}`
  const keepsData = !deleteData && (await hasNamespace(namespace, client))
  const remaining: Finding[] = []
  for (const { apiVersion, kind } of kinds) {
    if (keepsData && (kind === 'Namespace' || kind === 'Secret' || kind === 'ConfigMap')) continue
    const list = () => client.list({ apiVersion, kind }, { labelSelector })
    const { items } = await retry(list, context).catch((thrown: unknown) => {
      if (isApiError(thrown, 'not-served')) return { items: [] }
      throw thrown
    })
    for (const item of items) {
      const object = { ...item, apiVersion, kind }
      const { name } = object.metadata
      // Inventories and the Lease are deleted after this check.
      if (kind === 'Namespace' && name === SYSTEM_NAMESPACE) continue
      if (adopted.has(nameKey(formatGroupKind(object), name))) continue
      remaining.push(finding(objectsRemain, { object: formatObjectName(object) }))
    }
  }
  if (remaining.length > 0) throw new Failure(remaining, 1)
  return kinds.length
}

async function hasNamespace(namespace: string | undefined, client: KubeClient): Promise<boolean> {
  if (namespace === undefined) return false
  const live = await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
  return live !== undefined && live.metadata.deletionTimestamp === undefined
}
