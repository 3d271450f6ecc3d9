/**
 * Watches a cluster for the console: every kind is listed once and then watched, changes are reported one by one.
 *
 * A kind that may not be listed as a whole is read in the namespaces that may be; what cannot be read is known as unread.
 */
import { setMaxListeners } from 'node:events'
import { apiGroup, type GroupVersionKind, type KubeObject, type ManagedFields, objectKey } from '../api/object.ts'
import { getField, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex, type UnreadKind } from '../api/snapshot.ts'
import { mapConcurrently } from '../async/map-concurrently.ts'
import type { Clock } from '../clock/clock.ts'
import { formatError } from '../errors/failure.ts'
import { isApiError } from '../kube/api-error.ts'
import { type Cache, createCache, type Source } from '../kube/cache.ts'
import type { KubeClient, KubeReader, Resource } from '../kube/client.ts'
import { createNamespacesReflector } from '../kube/namespaces-reflector.ts'
import { createReflector, defaultReflectorTiming, type ReflectorTiming } from '../kube/reflector.ts'
import { servedVersion } from '../kube/snapshot.ts'
import type { Connection } from './documents/meta.ts'

export interface ClusterChange {
  readonly groupKind: string
  readonly namespace: string | undefined
  readonly object: KubeObject
  readonly isDeleted: boolean
}

export interface ClusterView {
  /** Watches more kinds; resolves when each is listed, or is known to be unreadable. */
  readonly watch: (kinds: readonly Source[]) => Promise<void>
  /** With a namespace, namespaced kinds show the objects of that namespace only. */
  readonly index: (namespace?: string) => SnapshotIndex
  readonly unread: () => readonly UnreadKind[]
  readonly objects: () => readonly KubeObject[]
  /** Whether Services of this namespace may be read, as an example for its other objects. */
  readonly mayRead: (namespace: string) => boolean
  /** Reads watched kinds from memory and everything else from the server. */
  readonly reader: KubeReader
  readonly connection: () => Connection
  readonly close: () => Promise<void>
}

export interface ClusterViewOptions {
  readonly client: KubeClient
  /** Where a kind is read if it may not be listed in all namespaces. */
  readonly namespaces: () => readonly string[]
  readonly clock: Clock
  readonly onChange: (change: ClusterChange) => void
  readonly onConnection: (connection: Connection) => void
  /** All objects of one more kind are known. */
  readonly onListed: () => void
}

interface WatchedKind {
  readonly kind: GroupVersionKind
  readonly namespaced: boolean
  readonly cache: Cache
}

const timing: ReflectorTiming = { ...defaultReflectorTiming, backoff: { initialMs: 200, maxMs: 5_000 } }
const PROBE_MS = 500
const UNSERVED_MS = 10_000
/** Each has the answer of a list in memory, with managed fields that are twice as large as what stays of it. */
const CONCURRENT_STARTS = 4

export function openClusterView(options: ClusterViewOptions): ClusterView {
  const { client, clock, onChange } = options
  const watched = new Map<string, WatchedKind>()
  const unread = new Map<string, UnreadKind>()
  const scopes = new Map<string, Scope>()
  const pending = new Map<string, Promise<void>>()
  const unserved = new Map<string, Source>()
  const end = new AbortController()
  setMaxListeners(0, end.signal)
  const running = new Set<Promise<void>>()
  const run = (work: Promise<void>): void => {
    const ended = work.catch(() => undefined).finally(() => running.delete(ended))
    running.add(ended)
  }
  const link = watchConnection(options, end.signal)

  const startWatching = async (source: Source, served: GroupVersionKind, resource: Resource): Promise<void> => {
    const groupKind = formatGroupKind(served)
    const scope = await findScope(client, resource, source, options.namespaces(), end.signal)
    scopes.set(groupKind, scope)
    if (scope.kind === 'denied' || scope.kind === 'namespaces')
      unread.set(groupKind, { ...source.kind, reason: scope.reason, cause: 'forbidden' })
    if (scope.kind === 'denied') return
    const cache = createCache({ transform: trimObject })
    const observer = { failed: link.failed, listed: link.alive, event: link.alive }
    const shared = { client, source: { ...source, kind: served }, cache, clock, timing, observer }
    const reflector =
      scope.kind === 'all'
        ? createReflector(shared)
        : createNamespacesReflector({ ...shared, namespaces: scope.namespaces })
    watched.set(groupKind, { kind: source.kind, namespaced: resource.namespaced, cache })
    run(reflector.run(end.signal))
    await cache.waitForSync()
    // Objects of the first list are read from the index; only later changes are reported one by one.
    let isFirst = true
    cache.subscribe(({ kind, object }) => {
      if (isFirst) return
      onChange({ groupKind, namespace: object.metadata.namespace, object, isDeleted: kind === 'deleted' })
    })
    isFirst = false
    options.onListed()
  }

  const watchKind = async (source: Source): Promise<void> => {
    const groupKind = formatGroupKind(source.kind)
    for (;;) {
      try {
        const served = await servedVersion(client, source.kind)
        const resource = served && (await client.resource(served))
        if (served && resource) {
          unserved.delete(groupKind)
          unread.delete(groupKind)
          return await startWatching(source, served, resource)
        }
        unserved.set(groupKind, source)
        unread.set(groupKind, { ...source.kind, reason: 'this cluster has no such kind', cause: 'not-served' })
        return
      } catch (thrown) {
        end.signal.throwIfAborted()
        link.failed(formatError(thrown))
        if (isApiError(thrown, 'unauthorized', 'forbidden')) {
          unread.set(groupKind, { ...source.kind, reason: formatError(thrown), cause: 'forbidden' })
          return
        }
        await clock.sleep(PROBE_MS, end.signal)
      }
    }
  }

  const watch = async (sources: readonly Source[]): Promise<void> => {
    const started = new Map(sources.map((source) => [formatGroupKind(source.kind), source]))
    await mapConcurrently([...started], CONCURRENT_STARTS, ([groupKind, source]) => {
      const known = pending.get(groupKind)
      if (known) return known
      const starting = watchKind(source).catch(() => undefined)
      pending.set(groupKind, starting)
      return starting
    })
  }

  // No event announces a new CRD.
  const lookAgain = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await clock.sleep(UNSERVED_MS, end.signal)
      await mapConcurrently([...unserved.values()], CONCURRENT_STARTS, watchKind)
    }
  }
  run(lookAgain())

  const index = (namespace?: string): SnapshotIndex => ({
    all: (groupKind) => {
      const found = watched.get(groupKind)
      return found ? found.cache.list(found.namespaced ? namespace : undefined) : []
    },
    get: (groupKind, name, within) =>
      watched.get(groupKind)?.cache.get(objectKey(within === undefined ? { name } : { namespace: within, name })),
    unread: (groupKind) => unread.get(groupKind)?.reason,
  })

  return {
    watch,
    index,
    unread: () => [...unread.values()],
    objects: () => [...watched.values()].flatMap(({ cache }) => cache.list()),
    mayRead: (namespace) => {
      const scope = scopes.get('Service')
      if (scope?.kind === 'namespaces') return scope.namespaces.includes(namespace)
      return scope?.kind !== 'denied'
    },
    reader: createCachedReader(client, watched, unread),
    connection: link.current,
    close: async () => {
      end.abort()
      await Promise.allSettled(running)
    },
  }
}

type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'namespaces'; readonly namespaces: readonly string[]; readonly reason: string }
  | { readonly kind: 'denied'; readonly reason: string }

/** Asks the server, so that missing rights are known at once, instead of by a watch that fails forever. */
async function findScope(
  client: Pick<KubeClient, 'create'>,
  resource: Resource,
  source: Source,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<Scope> {
  if (await mayList(client, resource, source.namespace, signal)) return { kind: 'all' }
  const name = [resource.plural, apiGroup(resource.apiVersion)].filter(Boolean).join('.')
  const reason = `access denied: this user may not list ${name}`
  if (!resource.namespaced || source.namespace !== undefined) return { kind: 'denied', reason }
  const answers = await mapConcurrently(namespaces, CONCURRENT_STARTS, async (namespace) => ({
    namespace,
    may: await mayList(client, resource, namespace, signal),
  }))
  const allowed = answers.filter(({ may }) => may).map(({ namespace }) => namespace)
  if (allowed.length === 0) return { kind: 'denied', reason }
  return { kind: 'namespaces', namespaces: allowed, reason: `${reason} outside of ${allowed.join(', ')}` }
}

async function mayList(
  client: Pick<KubeClient, 'create'>,
  { apiVersion, plural }: Resource,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const resourceAttributes = {
    verb: 'list',
    group: apiGroup(apiVersion),
    resource: plural,
    ...(namespace !== undefined && { namespace }),
  }
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: { resourceAttributes },
  }
  return getField(await client.create(review, { signal }), 'status', 'allowed') === true
}

interface ConnectionWatch {
  readonly current: () => Connection
  readonly failed: (reason?: string) => void
  readonly alive: () => void
}

/** A watch that fails is followed by probes: an idle watch does not say when the server is back. */
function watchConnection({ client, clock, onConnection }: ClusterViewOptions, signal: AbortSignal): ConnectionWatch {
  const now = (): string => new Date(clock.now()).toISOString()
  let current: Connection = { kind: 'connecting', since: now() }
  let isProbing = false
  const change = (next: Omit<Connection, 'since'>): void => {
    if (current.kind === next.kind) return
    current = { ...next, since: now() }
    onConnection(current)
  }
  const probe = async (): Promise<void> => {
    if (isProbing) return
    isProbing = true
    try {
      while (!signal.aborted) {
        try {
          await client.get({ apiVersion: 'v1', kind: 'Namespace', name: 'default' }, { signal })
          return change({ kind: 'connected' })
        } catch (thrown) {
          if (isApiError(thrown, 'forbidden')) return change({ kind: 'connected' })
          if (!signal.aborted) change({ kind: 'lost', reason: formatError(thrown) })
        }
        await clock.sleep(PROBE_MS, signal)
      }
    } catch {
      // The stop ends the sleep.
    } finally {
      isProbing = false
    }
  }
  void probe()
  return { current: () => current, failed: () => void probe(), alive: () => change({ kind: 'connected' }) }
}

/** Watched kinds without a selector are listed from memory. */
function createCachedReader(
  client: KubeReader,
  watched: ReadonlyMap<string, WatchedKind>,
  unread: ReadonlyMap<string, UnreadKind>,
): KubeReader {
  return {
    get: client.get,
    watch: client.watch,
    resource: client.resource,
    versions: client.versions,
    list: async (kind, options = {}) => {
      const groupKind = formatGroupKind(kind)
      const found = watched.get(groupKind)
      const isWhole = options.labelSelector === undefined && options.fieldSelector === undefined
      if (!found || !isWhole || unread.has(groupKind)) return client.list(kind, options)
      await found.cache.waitForSync()
      return { items: found.cache.list(found.namespaced ? options.namespace : undefined), resourceVersion: '' }
    },
  }
}

/** Kinds of which there are many, and whose managed fields no check compares. */
const manyKinds = new Set([
  'Event',
  'Node',
  'Pod',
  'Service',
  'apps/Deployment',
  'apps/StatefulSet',
  'batch/Job',
  'cert-manager.io/Certificate',
  'discovery.k8s.io/EndpointSlice',
  'network.openstack.org/DNSData',
  'network.openstack.org/IPSet',
  'network.openstack.org/Reservation',
  'nmstate.io/NodeNetworkConfigurationEnactment',
  'stackloom.dev/AddressBlock',
])

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Keeps when a manager wrote, not what: that is half of an object. */
function trimObject(object: KubeObject): KubeObject {
  const { metadata } = object
  const groupKind = formatGroupKind(object)
  const { managedFields, annotations, ...rest } = metadata
  const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== LAST_APPLIED)
  const isMany = manyKinds.has(groupKind)
  const fields = managedFields?.map(isMany ? withoutFields : packFields)
  const trimmed = {
    ...object,
    metadata: {
      ...rest,
      ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }),
      ...(fields && { managedFields: fields }),
    },
  }
  return groupKind === 'Event' ? trimEvent(trimmed) : trimmed
}

function withoutFields(entry: ManagedFields): ManagedFields {
  const { fieldsV1: _, ...rest } = entry
  return rest
}

/** As text until they are read: a node set of 250 hosts has thousands of small objects there, each of another shape. */
function packFields(entry: ManagedFields): ManagedFields {
  const { fieldsV1, ...rest } = entry
  if (!fieldsV1) return entry
  const text = JSON.stringify(fieldsV1)
  return Object.defineProperty(rest, 'fieldsV1', { get: () => JSON.parse(text), enumerable: true })
}

/** Events come by the thousand; their text is what rules read. */
function trimEvent(event: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = event.metadata
  return getString(event, 'type') === 'Warning' ? { ...event, metadata } : event
}
