/**
 * Takes a snapshot of a live cluster: the objects of the requested kinds, and the kinds that could not be read.
 *
 * One unreadable kind is reported and does not fail the others. Dumps: `dump.ts`.
 */
import { apiGroup, type GroupVersionKind, type KubeObject } from '../api/object.ts'
import type { Snapshot, UnreadKind } from '../api/snapshot.ts'
import { mapConcurrently } from '../async/map-concurrently.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type ApiErrorKind, isApiError } from './api-error.ts'
import type { KubeReader, ListOptions } from './client.ts'
import { unreadKind } from './findings/api-server.ts'
import { formatSubject } from './paths.ts'

/** A kind to read. Without a namespace: in all namespaces. */
export interface SnapshotKind
  extends GroupVersionKind,
    Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'> {}

/** A snapshot, and findings about its gaps. */
export interface SnapshotResult {
  readonly snapshot: Snapshot
  readonly findings: readonly Finding[]
}

export interface SnapshotOptions {
  /** Listed one by one where listing all is forbidden: an administrator of one cloud sees only its namespaces. */
  readonly namespaces?: readonly string[]
  /** Concurrent lists. */
  readonly concurrency?: number
  readonly signal?: AbortSignal
}

type Reader = Pick<KubeReader, 'list' | 'resource' | 'versions'>

interface KindRead {
  readonly objects: readonly KubeObject[]
  readonly unread?: UnreadKind
}

export async function takeSnapshot(
  reader: Reader,
  kinds: readonly SnapshotKind[],
  options: SnapshotOptions = {},
): Promise<SnapshotResult> {
  const read = await mapConcurrently(kinds, options.concurrency ?? 8, (kind) => readKind(reader, kind, options))
  const unread = read.flatMap((result) => result.unread ?? [])
  return {
    snapshot: { objects: read.flatMap((result) => result.objects), unread },
    findings: unread
      // A kind that the cluster does not serve has no objects, so nothing is missing.
      .filter((gap) => gap.cause !== 'not-served')
      .map((gap) => finding(unreadKind, { kind: formatSubject(gap), reason: gap.reason })),
  }
}

/** Errors that affect every kind: the first one ends the snapshot instead of repeating forty times. */
const fatalKinds: readonly ApiErrorKind[] = ['unreachable', 'unauthorized']

async function readKind(reader: Reader, requested: SnapshotKind, options: SnapshotOptions): Promise<KindRead> {
  try {
    const kind = await servedVersion(reader, requested)
    if (!kind) return { objects: [], unread: unread(requested, 'this cluster has no such kind', 'not-served') }
    return await readEverywhere(reader, { ...requested, ...kind }, options)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || isApiError(thrown, ...fatalKinds)) throw thrown
    return { objects: [], unread: toUnread(requested, thrown) }
  }
}

/** The requested version, or else the server's preferred one: objects are matched by group, not by version. */
export async function servedVersion(
  reader: Pick<Reader, 'resource' | 'versions'>,
  requested: GroupVersionKind,
): Promise<GroupVersionKind | undefined> {
  if (await reader.resource(requested)) return { apiVersion: requested.apiVersion, kind: requested.kind }
  for (const apiVersion of await reader.versions(apiGroup(requested.apiVersion))) {
    const other = { apiVersion, kind: requested.kind }
    if (await reader.resource(other)) return other
  }
  return undefined
}

async function readEverywhere(reader: Reader, requested: SnapshotKind, options: SnapshotOptions): Promise<KindRead> {
  try {
    return { objects: await listKind(reader, requested, requested.namespace, options.signal) }
  } catch (thrown) {
    const { namespaces = [] } = options
    const canFallBack = requested.namespace === undefined && namespaces.length > 0
    if (!isApiError(thrown, 'forbidden') || !canFallBack) throw thrown
    return readNamespaces(reader, requested, namespaces, options.signal)
  }
}

async function readNamespaces(
  reader: Reader,
  requested: SnapshotKind,
  namespaces: readonly string[],
  signal: AbortSignal | undefined,
): Promise<KindRead> {
  const objects: KubeObject[] = []
  for (const namespace of namespaces) objects.push(...(await listKind(reader, requested, namespace, signal)))
  const reason = `read in ${namespaces.join(', ')} only, other namespaces are forbidden`
  return { objects, unread: unread(requested, reason, 'forbidden') }
}

async function listKind(
  reader: Reader,
  requested: SnapshotKind,
  namespace: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const { labelSelector, fieldSelector, metadataOnly } = requested
  const { items } = await reader.list(requested, {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
    ...(metadataOnly !== undefined && { metadataOnly }),
    ...(signal && { signal }),
  })
  return items
}

function toUnread(requested: SnapshotKind, error: ApiError): UnreadKind {
  const reason = error.findings[0]?.message ?? error.message
  if (error.kind === 'forbidden') return unread(requested, reason, 'forbidden')
  return unread(requested, reason, error.kind === 'not-served' ? 'not-served' : 'failed')
}

function unread(
  { apiVersion, kind }: GroupVersionKind,
  reason: string,
  cause: NonNullable<UnreadKind['cause']>,
): UnreadKind {
  return { apiVersion, kind, reason, cause }
}
