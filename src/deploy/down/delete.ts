/**
 * Deletes objects and waits until they are gone, releases what existed before us, and verifies that nothing is left.
 *
 * A finalizer is a controller's promise to clean up. One that stays is reported with its owner and never removed.
 */

import type { Condition, GroupVersionKind, KubeObject } from '../../api/object.ts'
import { isManagedByStackloom, MANAGED_BY_LABEL } from '../../api/ownership.ts'
import { ageMs, formatObjectName, getField } from '../../api/raw-object.ts'
import { SYSTEM_NAMESPACE } from '../../api/reserved-namespace.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { Failure, failure } from '../../errors/failure.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { CLOUD_LABEL, stackloomLabels } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'
import { failed, formatFinalizers, progressing, type Readiness, ready, worst } from '../../verify/readiness/verdict.ts'
import { type Limiter, runParallel } from '../apply.ts'
import { foreignObjects, objectsRemain, stuckFinalizer, stuckNamespace } from '../findings/down.ts'
import { confirmDeletion } from '../interrupted-deployments.ts'
import type { Inventory, InventoryEntry } from '../inventory.ts'
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
        const content = live.kind === 'Namespace' ? namespaceContent(live) : []
        const kept = content.length > 0 ? ` (${content.join(' ')})` : formatFinalizers(live)
        const waits = `${formatObjectName(live)} to be gone${kept}`
        return isStuck(live) ? failed(waits, '') : progressing(waits)
      }),
    )
  try {
    await waitUntilReady(check, view, context, namespace)
  } catch (thrown) {
    const stuck = refs.map((ref) => findLive(ref, view.index())).find((live) => live && isStuck(live))
    throw stuck ? stuckFailure(stuck, thrown) : thrown
  }
}

function stuckFailure(stuck: KubeObject, cause: unknown): Failure {
  if (stuck.kind === 'Namespace') {
    const facts = { namespace: stuck.metadata.name, remaining: namespaceContent(stuck) }
    return failure(stuckNamespace, facts, { exitCode: 1, cause })
  }
  const { finalizers = [] } = stuck.metadata
  const facts = { object: formatObjectName(stuck), finalizers, owner: finalizerOwner(stuck) }
  return failure(stuckFinalizer, facts, { exitCode: 1, cause })
}

/** What the namespace controller still waits for, in its words: it counts objects and finalizers, also those of other owners. */
function namespaceContent(namespace: KubeObject): readonly string[] {
  const conditions = (getField(namespace, 'status', 'conditions') ?? []) as readonly Condition[]
  return conditions
    .filter(({ type, status }) => type.startsWith('Namespace') && status === 'True')
    .flatMap(({ message }) => message ?? [])
}

/**
 * Waits until the cloud's namespace has no object of a kind that needs what is deleted next. Those of other owners are not
 * ours to delete: when none of them goes, the wait ends and names them.
 */
export async function waitUntilNone(
  kind: GroupVersionKind,
  namespace: string,
  { view, stuckMs }: DeleteDeps,
  context: StageContext,
  isCounted: (object: KubeObject) => boolean = () => true,
): Promise<void> {
  await view.watch([kind], context)
  const remaining = (): readonly KubeObject[] => view.index(namespace).all(formatGroupKind(kind)).filter(isCounted)
  let fewest = { count: Number.POSITIVE_INFINITY, since: context.clock.now() }
  const check = (): Readiness => {
    const objects = remaining()
    const [first] = objects
    if (!first) return ready
    const now = context.clock.now()
    if (objects.length < fewest.count) fewest = { count: objects.length, since: now }
    // The garbage collector deletes what had an owner; the rest goes only if another program deletes it.
    const limit = objects.some(isGoing) ? stuckMs : stuckMs / 10
    const waits = `${formatCount(objects.length, kind.kind)} of ${namespace} to be gone (${first.metadata.name} first${formatFinalizers(first)})`
    return now - fewest.since >= limit ? failed(waits, '') : progressing(waits)
  }
  try {
    await waitUntilReady(check, view, context, namespace)
  } catch (thrown) {
    const objects = remaining()
    if (objects.length === 0 || context.stop.aborted) throw thrown
    const stuck = objects.find((object) => isStuckDeletion(object, stuckMs, context))
    if (stuck) throw stuckFailure(stuck, thrown)
    const facts = { kind: kind.kind, namespace, objects: objects.map(describeOwner) }
    throw failure(foreignObjects, facts, { exitCode: 1, cause: thrown })
  }
}

function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined || (metadata.ownerReferences ?? []).length > 0
}

function describeOwner({ metadata }: KubeObject): { readonly name: string; readonly owner: string | undefined } {
  const [owner] = metadata.ownerReferences ?? []
  return { name: metadata.name, owner: owner && `${owner.kind} ${owner.name}` }
}

/** Adopted objects and objects that are no longer ours stay. */
function isDeletable(ref: InventoryEntry, view: LiveView): boolean {
  if (ref.adopted) return false
  const live = findLive(ref, view.index())
  return live === undefined || isManagedByStackloom(live)
}

function isStuckDeletion(live: KubeObject, stuckMs: number, { clock }: StageContext): boolean {
  const { deletionTimestamp, finalizers = [] } = live.metadata
  const isKept = live.kind === 'Namespace' ? namespaceContent(live).length > 0 : finalizers.length > 0
  return isKept && ageMs(deletionTimestamp, clock.now()) >= stuckMs
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
