/** Indexes gathered objects for the rules and caches derived values. Pure. Objects of a broken dump may have any shape. */

import { groupBy } from '../api/collections.ts'
import { isRecord } from '../api/json.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { formatGroupKind, type Snapshot, type SnapshotIndex } from '../api/snapshot.ts'
import type { Plan } from '../plan/plan.ts'
import { eventSubject, eventsAbout, listEvents, type ObjectEvent } from '../verify/readiness/object-events.ts'
import { defaultGrace, type ReadinessContext } from '../verify/readiness/verdict.ts'

export interface ClusterState extends SnapshotIndex {
  readonly inNamespace: (groupKind: string, namespace: string) => readonly KubeObject[]
  /** Whether the absence of an object is meaningful: the kind was read, or the cluster does not serve it. */
  readonly knows: (groupKind: string) => boolean
  /** Events about an object, newest first. */
  readonly eventsFor: (object: KubeObject) => readonly ObjectEvent[]
  /** Computes a value once for all rules. */
  readonly derive: <T>(compute: (cluster: ClusterState) => T) => T
  /** Namespaces that are clouds. */
  readonly clouds: ReadonlySet<string>
  readonly now: number
  readonly plan?: Plan
  /** For readiness rules. */
  readonly context: ReadinessContext
}

export interface DiagnoseInput {
  readonly snapshot: Snapshot
  readonly now: number
  readonly plan?: Plan
}

export function createClusterState({ snapshot, now, plan }: DiagnoseInput): ClusterState {
  const kinds = new Map<string, Map<string, KubeObject>>()
  for (const raw of snapshot.objects) {
    const object = normalizeMetadata(raw)
    const groupKind = formatGroupKind(object)
    const found = kinds.get(groupKind)
    if (found) found.set(objectKey(object.metadata), object)
    else kinds.set(groupKind, new Map([[objectKey(object.metadata), object]]))
  }
  const lists = new Map([...kinds].map(([groupKind, objects]) => [groupKind, [...objects.values()]]))
  const unread = new Map(snapshot.unread.map((unreadKind) => [formatGroupKind(unreadKind), unreadKind]))
  const all = (groupKind: string): readonly KubeObject[] => lists.get(groupKind) ?? []
  const derived = new Map<unknown, unknown>()
  const namespaces = new Map<string, ReadonlyMap<string, readonly KubeObject[]>>()
  const index: SnapshotIndex = {
    all,
    get: (groupKind, name, namespace) =>
      kinds.get(groupKind)?.get(namespace === undefined ? name : `${namespace}/${name}`),
    unread: (groupKind) => unread.get(groupKind)?.reason,
  }
  const cluster: ClusterState = {
    ...index,
    inNamespace: (groupKind, namespace) => {
      const known = namespaces.get(groupKind) ?? groupBy(all(groupKind), ({ metadata }) => metadata.namespace ?? '')
      namespaces.set(groupKind, known)
      return known.get(namespace) ?? []
    },
    knows: (groupKind) => {
      const { cause = 'not-served' } = unread.get(groupKind) ?? {}
      return cause === 'not-served'
    },
    eventsFor: (object) => eventsAbout(object, cluster.derive(eventsByName).get(object.metadata.name) ?? []),
    derive: (compute) => {
      if (!derived.has(compute)) derived.set(compute, compute(cluster))
      return derived.get(compute) as ReturnType<typeof compute>
    },
    clouds: new Set([
      ...(plan?.clouds.map(({ namespace }) => namespace) ?? []),
      ...['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'].flatMap((groupKind) =>
        all(groupKind).flatMap(({ metadata }) => metadata.namespace ?? []),
      ),
    ]),
    now,
    ...(plan && { plan }),
    context: { around: index, now, grace: defaultGrace, nodes: all('Node').map(({ metadata }) => metadata.name) },
  }
  return cluster
}

/** By the name of their subject, so that a lookup does not scan all events. */
function eventsByName(cluster: ClusterState): ReadonlyMap<string, readonly KubeObject[]> {
  return groupBy(listEvents(cluster), (event) => getString(eventSubject(event), 'name') ?? '')
}

/** Drops invalid metadata of manually edited or broken dumps, so that rules can rely on its types. */
function normalizeMetadata(object: KubeObject): KubeObject {
  const { labels, annotations, finalizers, ownerReferences, namespace } = object.metadata
  const isInvalid =
    !isStringMap(labels) ||
    !isStringMap(annotations) ||
    !isCleanList(finalizers) ||
    !isCleanList(ownerReferences) ||
    (namespace !== undefined && typeof namespace !== 'string')
  if (!isInvalid) return object
  const { name } = object.metadata
  return {
    ...object,
    metadata: {
      name,
      ...(typeof namespace === 'string' && { namespace }),
      ...(isRecord(labels) && { labels: toStringMap(labels) }),
      ...(isRecord(annotations) && { annotations: toStringMap(annotations) }),
    },
  }
}

function isStringMap(value: unknown): boolean {
  if (value === undefined) return true
  if (!isRecord(value)) return false
  for (const key in value) if (typeof value[key] !== 'string') return false
  return true
}

function toStringMap(value: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)]))
}

function isCleanList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((entry) => entry !== null))
}
