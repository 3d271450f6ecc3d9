/** The writes that the data plane controllers have in common: only what differs is written, on what was seen. */

import { type Condition, formatTimestamp, type KubeObject, objectKey } from '../api/object.ts'
import { sameJson } from '../api/same-json.ts'
import type { ReconcileContext } from '../kube/controller.ts'
import type { SharedCache } from '../kube/runtime.ts'
import { type ConditionState, stampConditions } from './conditions.ts'
import { FIELD_MANAGER, type Secret, secretKind, type World } from './world.ts'

interface WithConditions {
  readonly conditions?: readonly Condition[]
}

/** The status with these conditions and fields; fields that are not named are gone. */
export async function writeStatus<T extends KubeObject & { readonly status?: WithConditions }>(
  world: World,
  cache: Pick<SharedCache<T>, 'note'>,
  object: T,
  { told, fields }: { readonly told: readonly ConditionState[]; readonly fields: object },
  { signal, clock }: ReconcileContext,
): Promise<T> {
  const now = formatTimestamp(clock.now())
  const conditions = stampConditions(told, object.status?.conditions, now)
  const status = { ...fields, conditions }
  if (sameJson(object.status, status)) return object
  const next = { ...object, status }
  const written = (await world.client.update(next, {
    fieldManager: FIELD_MANAGER,
    subresource: 'status',
    signal,
  })) as T
  world.echoes.add(written)
  cache.note(written, object.metadata.resourceVersion ?? '')
  return written
}

/** Labels and finalizers by a write of their own, where no webhook put them on at birth. */
export async function writeMetadata<T extends KubeObject>(
  world: World,
  cache: Pick<SharedCache<T>, 'note'>,
  object: T,
  change: Partial<KubeObject['metadata']>,
  signal: AbortSignal,
): Promise<T> {
  const metadata = { ...object.metadata, ...change }
  if (sameJson(object.metadata, metadata)) return object
  const written = (await world.client.update({ ...object, metadata }, { fieldManager: FIELD_MANAGER, signal })) as T
  cache.note(written, object.metadata.resourceVersion ?? '')
  return written
}

/** A Secret of ours with exactly these values, owned by the object that it is for. */
export async function writeSecret(
  world: World,
  owner: KubeObject,
  name: string,
  texts: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', uid = '', labels } = owner.metadata
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]),
  )
  const existing = world.freshSecrets.get(objectKey({ namespace, name }))
  if (existing && sameJson(existing.data ?? {}, data)) return
  const { apiVersion, kind } = owner
  const wanted: Secret = {
    ...secretKind,
    metadata: {
      name,
      namespace,
      ...(labels && Object.keys(labels).length > 0 && { labels }),
      ownerReferences: [{ apiVersion, kind, name: owner.metadata.name, uid, controller: true }],
    },
    data,
  }
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (!existing) {
    world.freshSecrets.add((await world.client.create(wanted, options)) as Secret)
    return
  }
  const { resourceVersion } = existing.metadata
  const next = { ...existing, data }
  const written = (await world.client.update(next, options)) as Secret
  world.secrets.note(written, resourceVersion ?? '')
}
