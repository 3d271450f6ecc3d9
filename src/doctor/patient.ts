/**
 * The patient: what was gathered, arranged so that rules find things quickly, and what they derive from it once.
 *
 * Pure. Objects may come from a broken dump, so nothing below `metadata` is trusted to have its shape.
 */
import { type KubeObject, keyOf } from '../api/object.ts'
import { groupKindOf, type Snapshot, type SnapshotIndex } from '../api/snapshot.ts'
import type { Plan } from '../plan/plan.ts'
import { textAt } from '../verify/readiness/read.ts'
import { type ReadinessContext, standardGrace } from '../verify/readiness/verdict.ts'
import { isRecord } from '../yaml/loose.ts'

/** What a cluster has said about an object. */
export interface Said {
  readonly reason: string
  readonly message: string
  readonly last: string
}

export interface Patient extends SnapshotIndex {
  readonly in: (groupKind: string, namespace: string) => readonly KubeObject[]
  /** Whether absence means anything: the kind was read, or the cluster has no such kind. */
  readonly knows: (groupKind: string) => boolean
  /** Events about an object, newest first. */
  readonly said: (object: KubeObject) => readonly Said[]
  /** A value that several rules need, made once. */
  readonly derive: <T>(make: (patient: Patient) => T) => T
  /** Namespaces that are clouds. */
  readonly clouds: ReadonlySet<string>
  readonly now: number
  readonly plan?: Plan
  /** For the rules of readiness. */
  readonly context: ReadinessContext
}

export interface Examination {
  readonly snapshot: Snapshot
  readonly now: number
  readonly plan?: Plan
}

export function patientOf({ snapshot, now, plan }: Examination): Patient {
  const kinds = new Map<string, Map<string, KubeObject>>()
  for (const raw of snapshot.objects) {
    const object = tidy(raw)
    const groupKind = groupKindOf(object)
    const found = kinds.get(groupKind)
    if (found) found.set(keyOf(object.metadata), object)
    else kinds.set(groupKind, new Map([[keyOf(object.metadata), object]]))
  }
  const lists = new Map([...kinds].map(([groupKind, objects]) => [groupKind, [...objects.values()]]))
  const unread = new Map(snapshot.unread.map((one) => [groupKindOf(one), one]))
  const all = (groupKind: string): readonly KubeObject[] => lists.get(groupKind) ?? []
  const derived = new Map<unknown, unknown>()
  const namespaces = new Map<string, ReadonlyMap<string, readonly KubeObject[]>>()
  const index: SnapshotIndex = {
    all,
    get: (groupKind, name, namespace) =>
      kinds.get(groupKind)?.get(namespace === undefined ? name : `${namespace}/${name}`),
    unread: (groupKind) => unread.get(groupKind)?.reason,
  }
  const patient: Patient = {
    ...index,
    in: (groupKind, namespace) => {
      const known = namespaces.get(groupKind) ?? byNamespace(all(groupKind))
      namespaces.set(groupKind, known)
      return known.get(namespace) ?? []
    },
    knows: (groupKind) => {
      const { cause = 'not-served' } = unread.get(groupKind) ?? {}
      return cause === 'not-served'
    },
    said: (object) => patient.derive(eventsByObject).get(subject(object.kind, object.metadata)) ?? [],
    derive: (make) => {
      if (!derived.has(make)) derived.set(make, make(patient))
      return derived.get(make) as ReturnType<typeof make>
    },
    clouds: new Set([
      ...(plan?.clouds.map(({ namespace }) => namespace) ?? []),
      ...['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'].flatMap(
        (groupKind) => all(groupKind).flatMap(({ metadata }) => metadata.namespace ?? []),
      ),
    ]),
    now,
    ...(plan && { plan }),
    context: {
      around: index,
      now,
      grace: standardGrace,
      nodes: all('Node').map(({ metadata }) => metadata.name),
    },
  }
  return patient
}

function byNamespace(objects: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> {
  const found = new Map<string, KubeObject[]>()
  for (const object of objects) {
    const { namespace = '' } = object.metadata
    const list = found.get(namespace)
    if (list) list.push(object)
    else found.set(namespace, [object])
  }
  return found
}

function eventsByObject(patient: Patient): ReadonlyMap<string, readonly Said[]> {
  const found = new Map<string, Said[]>()
  for (const event of [...patient.all('Event'), ...patient.all('events.k8s.io/Event')]) {
    const target = event['involvedObject'] ?? event['regarding']
    const kind = textAt(target, 'kind')
    const name = textAt(target, 'name')
    if (kind === undefined || name === undefined) continue
    const key = subject(kind, { name, namespace: textAt(target, 'namespace') })
    const said: Said = {
      reason: textAt(event, 'reason') ?? '',
      message: textAt(event, 'message') ?? textAt(event, 'note') ?? '',
      last:
        textAt(event, 'lastTimestamp') ??
        textAt(event, 'series', 'lastObservedTime') ??
        textAt(event, 'eventTime') ??
        event.metadata.creationTimestamp ??
        '',
    }
    const list = found.get(key)
    if (list) list.push(said)
    else found.set(key, [said])
  }
  for (const list of found.values()) list.sort((a, b) => b.last.localeCompare(a.last))
  return found
}

function subject(
  kind: string,
  { namespace, name }: { namespace?: string | undefined; name: string },
): string {
  return `${kind} ${namespace ?? ''}/${name}`
}

/** Metadata of a hand-made or broken dump may have any shape; whoever reads it may rely on the usual one. */
function tidy(object: KubeObject): KubeObject {
  const { labels, annotations, finalizers, ownerReferences, namespace } = object.metadata
  const odd =
    !isTexts(labels) ||
    !isTexts(annotations) ||
    !isList(finalizers) ||
    !isList(ownerReferences) ||
    (namespace !== undefined && typeof namespace !== 'string')
  if (!odd) return object
  const { name } = object.metadata
  return {
    ...object,
    metadata: {
      name,
      ...(typeof namespace === 'string' && { namespace }),
      ...(isRecord(labels) && { labels: onlyTexts(labels) }),
      ...(isRecord(annotations) && { annotations: onlyTexts(annotations) }),
    },
  }
}

function isTexts(value: unknown): boolean {
  if (value === undefined) return true
  if (!isRecord(value)) return false
  for (const key in value) if (typeof value[key] !== 'string') return false
  return true
}

function onlyTexts(value: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)]))
}

function isList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => one !== null))
}
