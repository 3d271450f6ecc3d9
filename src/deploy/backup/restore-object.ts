/**
 * Restores one object with the owners of its fields as they were: `up` then changes and removes the same fields as before, and
 * values that no manager had set, such as defaults, stay without an owner. Every object carries the name of the backup.
 */
import type { KubeObject, ManagedFields } from '../../api/object.ts'
import { isAppliedBy } from '../../api/ownership.ts'
import { outsideKinds } from '../../backup/backup-kinds.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { StageContext } from '../../run/stage.ts'
import { FIELD_MANAGER, objectRef } from '../object-changes.ts'
import { retry } from '../retry.ts'

/** On the namespace and on every object that a restore has created; its value is the name of the backup. */
export const RESTORING = 'stackloom.dev/restoring'
/** Owns every field between the two writes, so an interrupted restore is noticed. */
const RESTORE_MANAGER = 'stackloom-restore'

/**
 * What this restore has created is left as it is: controllers may have changed it since. Outside of the namespace nothing that
 * exists is written: it may belong to another cloud.
 */
export async function restoreObject(
  client: KubeClient,
  object: KubeObject,
  backup: string,
  context: StageContext,
): Promise<void> {
  context.stop.throwIfAborted()
  const ref = objectRef(object)
  const { managedFields: owners = [], annotations, ...metadata } = object.metadata
  let live = await retry(() => client.get(ref), context)
  const isMarked = live?.metadata.annotations?.[RESTORING] === backup
  const isOutside = outsideKinds.some(({ kind }) => kind === object.kind)
  const change = live ? 'changed' : 'created'
  if (live && (isMarked || isOutside) && !isAppliedBy(live, RESTORE_MANAGER))
    return context.emit({ kind: 'applied', change: 'unchanged', object: ref })
  if (!live || !isMarked) {
    const marked = { ...object, metadata: { ...metadata, annotations: { ...annotations, [RESTORING]: backup } } }
    const fieldManager = owners.length > 0 ? RESTORE_MANAGER : FIELD_MANAGER
    live = await retry(() => client.apply(marked, { fieldManager, force: true }), context)
  }
  if (owners.length > 0) {
    await retry(async () => {
      const { resourceVersion, managedFields = [] } = (live ?? (await client.get(ref)))?.metadata ?? {}
      live = undefined
      const patch = { metadata: { resourceVersion, managedFields: mergeOwners(owners, managedFields) } }
      await client.patch(ref, patch, { type: 'merge', fieldManager: RESTORE_MANAGER })
    }, context)
  }
  context.emit({ kind: 'applied', change, object: ref })
}

/** The owners of the backup, and controllers that have written since. */
function mergeOwners(owners: readonly ManagedFields[], live: readonly ManagedFields[]): readonly ManagedFields[] {
  const key = ({ manager, operation, subresource = '' }: ManagedFields): string =>
    [manager, operation, subresource].join(' ')
  const known = new Set(owners.map(key))
  return [...owners, ...live.filter((entry) => entry.manager !== RESTORE_MANAGER && !known.has(key(entry)))]
}
