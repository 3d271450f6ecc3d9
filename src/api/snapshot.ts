/**
 * A snapshot: what a cluster held when somebody looked, as one value.
 *
 * Gathered live or read from a folder of dumps by `kube/snapshot.ts`; read by importers, status, verify and doctor.
 */
import { type GroupVersionKind, type KubeObject, objectKey } from './object.ts'

/** A kind that was asked for and could not be read: it is unknown, which is not the same as absent. */
export interface UnreadKind extends GroupVersionKind {
  readonly reason: string
  /** `not-served`: the server has no such kind, so there are no objects either. `not-dumped`: the dump says nothing of it. */
  readonly cause?: 'forbidden' | 'not-served' | 'not-dumped' | 'failed'
}

export interface Snapshot {
  readonly objects: readonly KubeObject[]
  readonly unread: readonly UnreadKind[]
}

/** A snapshot that answers quickly who is there. Kinds are matched by group, so a version step does not hide objects. */
export interface SnapshotIndex {
  readonly all: (groupKind: string) => readonly KubeObject[]
  readonly get: (groupKind: string, name: string, namespace?: string) => KubeObject | undefined
  /** Why this kind is unknown, or undefined when it was read. */
  readonly unread: (groupKind: string) => string | undefined
}

/** `metallb.io/IPAddressPool`, or `Service` for the core group. */
export function formatGroupKind({ apiVersion, kind }: GroupVersionKind): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? kind : `${apiVersion.slice(0, slash)}/${kind}`
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
