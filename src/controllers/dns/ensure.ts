/** How children are written: only what differs, and what is not wanted any more goes. */

import type { KubeObject } from '../../api/object.ts'
import { sameJson } from '../../api/same-json.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeClient } from '../../kube/client.ts'
import { FIELD_MANAGER } from './dns-kinds.ts'
import { shortHash } from './shards.ts'

/** Which wish an object was last written for: what a later wish leaves out is seen by it. */
const WISH = 'stackloom.dev/wish'

/** Whether everything that is wanted is there; what the API server adds does not matter. */
export function covers(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const list = (live ?? []) as readonly unknown[]
    return Array.isArray(list) && list.length === wanted.length && wanted.every((one, at) => covers(list[at], one))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    return Object.entries(wanted).every(
      ([key, inner]) => inner === undefined || covers((live as Record<string, unknown> | null)?.[key], inner),
    )
  }
  return live === wanted
}

/** The object as it is to be written, or undefined when it is so already. */
export function differing(live: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  const { annotations } = wanted.metadata
  const wish = shortHash(JSON.stringify(wanted))
  const marked = {
    ...wanted,
    metadata: { ...wanted.metadata, annotations: { ...annotations, [WISH]: wish } },
  }
  return live && covers(live, marked) ? undefined : marked
}

/** Forced: what a DNSMasq owns is written by its controller, whoever wrote it before. */
export async function ensure(
  client: KubeClient,
  live: KubeObject | undefined,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  const next = differing(live, wanted)
  if (!next) return live
  return client.apply(next, { fieldManager: FIELD_MANAGER, force: true, signal })
}

export interface NotingCache {
  readonly get: (key: string) => KubeObject | undefined
  readonly note: (written: KubeObject, basedOn: string) => boolean
}

/** A ConfigMap by whole replacement: the shortest way, for what changes often. */
export async function ensureData(
  client: KubeClient,
  cache: NotingCache,
  wanted: KubeObject,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace, name, labels, ownerReferences = [] } = wanted.metadata
  const live = cache.get(`${namespace}/${name}`)
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (!live) {
    try {
      await client.create(wanted, options)
    } catch (error) {
      // The watch has not told of it yet; when it does, we are called again.
      if (!isApiError(error, 'already-exists')) throw error
      return false
    }
    return true
  }
  if (
    sameJson(live['data'] ?? {}, wanted['data'] ?? {}) &&
    covers(live.metadata.labels, labels) &&
    ownerReferences.every((ownerReference) =>
      live.metadata.ownerReferences?.some(({ uid }) => uid === ownerReference.uid),
    )
  ) {
    return false
  }
  const metadata = { ...live.metadata, labels: { ...live.metadata.labels, ...labels }, ownerReferences }
  const next = { ...live, metadata, data: wanted['data'] }
  const got = await client.update(next, options)
  cache.note(got, live.metadata.resourceVersion ?? '')
  return true
}
