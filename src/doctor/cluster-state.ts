/**
 * The patient: what was gathered, arranged so that rules find things quickly, and what they derive from it once.
 *
 * Pure. Objects may come from a broken dump, so nothing below `metadata` is trusted to have its shape.
 */

import { isRecord } from '../api/json.ts'
import { type KubeObject, objectKey } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { formatGroupKind, type Snapshot, type SnapshotIndex } from '../api/snapshot.ts'
import { groupBy } from '../plan/collections.ts'
import type { Plan } from '../plan/plan.ts'
import { eventSubject, eventsAbout, listEvents, type ObjectEvent } from '../verify/readiness/object-events.ts'
import { defaultGrace, type ReadinessContext } from '../verify/readiness/verdict.ts'

export interface ClusterState extends SnapshotIndex {
  readonly inNamespace: (groupKind: string, namespace: string) => readonly KubeObject[]
  /** Whether absence means anything: the kind was read, or the cluster has no such kind. */
  readonly knows: (groupKind: string) => boolean
  /** Events about an object, newest first. */
  readonly eventsFor: (object: KubeObject) => readonly ObjectEvent[]
  /** A value that several rules need, made once. */
  readonly derive: <T>(make: (patient: ClusterState) => T) => T
  /** Namespaces that are clouds. */
  readonly clouds: ReadonlySet<string>
  readonly now: number
  readonly plan?: Plan
  /** For the rules of readiness. */
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
  const patient: ClusterState = {
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
    eventsFor: (object) => eventsAbout(object, patient.derive(eventsByName).get(object.metadata.name) ?? []),
    derive: (make) => {
      if (!derived.has(make)) derived.set(make, make(patient))
      return derived.get(make) as ReturnType<typeof make>
    },
    clouds: new Set([
      ...(plan?.clouds.map(({ namespace }) => namespace) ?? []),
      ...['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'].flatMap((groupKind) =>
        all(groupKind).flatMap(({ metadata }) => metadata.namespace ?? []),
      ),
    ]),
    now,
    ...(plan && { plan }),
    context: {
      around: index,
      now,
      grace: defaultGrace,
      nodes: all('Node').map(({ metadata }) => metadata.name),
    },
  }
  return patient
}

/** By the name of what they are about, so that nobody looks through all of them. */
function eventsByName(patient: ClusterState): ReadonlyMap<string, readonly KubeObject[]> {
  return groupBy(listEvents(patient), (event) => getString(eventSubject(event), 'name') ?? '')
}

/** Metadata of a hand-made or broken dump may have any shape; whoever reads it may rely on the usual one. */
function normalizeMetadata(object: KubeObject): KubeObject {
  const { labels, annotations, finalizers, ownerReferences, namespace } = object.metadata
  const odd =
    !isStringMap(labels) ||
    !isStringMap(annotations) ||
    !isCleanList(finalizers) ||
    !isCleanList(ownerReferences) ||
    (namespace !== undefined && typeof namespace !== 'string')
  if (!odd) return object
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
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]))
}

function isCleanList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => one !== null))
}
