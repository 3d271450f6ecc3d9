/**
 * Represents the state of a cluster at one moment as a value.
 *
 * `kube/` takes it live or loads it from dumps; importers, status, verify and doctor read it.
 */
import { apiGroup, type GroupVersionKind, type KubeObject, objectKey } from './object.ts'

/** A kind that was requested and could not be read: it is unknown, which is not the same as absent. */
export interface UnreadKind extends GroupVersionKind {
  readonly reason: string
  /** `not-served`: the server does not have the kind, so there are no objects. `not-dumped`: the dump does not mention it. */
  readonly cause?: 'forbidden' | 'not-served' | 'not-dumped' | 'failed'
}

export interface Snapshot {
  readonly objects: readonly KubeObject[]
  readonly unread: readonly UnreadKind[]
}

/** An indexed snapshot. Kinds are matched by group, so that another version does not hide objects. */
export interface SnapshotIndex {
  readonly all: (groupKind: string) => readonly KubeObject[]
  readonly get: (groupKind: string, name: string, namespace?: string) => KubeObject | undefined
  /** Why this kind is unknown, or undefined when it was read. */
  readonly unread: (groupKind: string) => string | undefined
}

/** `metallb.io/IPAddressPool`, or `Service` for the core group. */
export function formatGroupKind({ apiVersion, kind }: GroupVersionKind): string {
  const group = apiGroup(apiVersion)
  return group ? `${group}/${kind}` : kind
}

export function indexSnapshot(snapshot: Snapshot): SnapshotIndex {
  const byKind = new Map<string, Map<string, KubeObject>>()
  for (const object of snapshot.objects) {
    const groupKind = formatGroupKind(object)
    const objects = byKind.get(groupKind) ?? new Map<string, KubeObject>()
    objects.set(objectKey(object.metadata), object)
    byKind.set(groupKind, objects)
  }
  const unread = new Map(snapshot.unread.map((unreadKind) => [formatGroupKind(unreadKind), unreadKind.reason]))
  return {
    all: (groupKind) => [...(byKind.get(groupKind)?.values() ?? [])],
    get: (groupKind, name, namespace) =>
      byKind.get(groupKind)?.get(objectKey(namespace === undefined ? { name } : { namespace, name })),
    unread: (groupKind) => unread.get(groupKind),
  }
}
