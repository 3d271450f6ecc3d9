/**
 * A snapshot of a live cluster: the objects of the kinds asked for, and the kinds that could not be read.
 *
 * Never fails because of one kind: what cannot be read is named, and everything else is there. Dumps: `dump.ts`.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { Snapshot, UnreadKind } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { ApiError, type ApiErrorKind, isApiError } from './api-error.ts'
import type { KubeReader, ListOptions } from './client.ts'
import { unreadKind } from './findings/api-server.ts'
import { apiGroup, formatSubject } from './paths.ts'

/** A kind to gather. Without a namespace: everywhere. */
export interface SnapshotKind extends GroupVersionKind, Pick<ListOptions, 'namespace' | 'labelSelector'> {}

/** A snapshot, and what to tell the reader about its gaps. */
export interface SnapshotResult {
  readonly snapshot: Snapshot
  readonly findings: readonly Finding[]
}

export interface SnapshotOptions {
  /** Tried one by one where listing everywhere is forbidden: a cloud's own administrator sees its namespaces only. */
  readonly namespaces?: readonly string[]
  /** Lists in flight at once. */
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
  const read: KindRead[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < kinds.length; index = next++) {
      read[index] = await readKind(reader, kinds[index] as SnapshotKind, options)
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency ?? 8, kinds.length) }, worker))
  const unread = read.flatMap((kindRead) => kindRead.unread ?? [])
  return {
    snapshot: { objects: read.flatMap((kindRead) => kindRead.objects), unread },
    findings: unread
      // A kind that the cluster does not have is no gap in what we know.
      .filter((unreadKind) => unreadKind.cause !== 'not-served')
      .map((one) => finding(unreadKind, { kind: formatSubject(one), reason: one.reason })),
  }
}

/** Errors that concern every kind alike: the first one ends the gathering, instead of forty times the same. */
const everybodys: readonly ApiErrorKind[] = ['unreachable', 'unauthorized']

async function readKind(reader: Reader, wanted: SnapshotKind, options: SnapshotOptions): Promise<KindRead> {
  try {
    const kind = await servedVersion(reader, wanted)
    if (!kind) return { objects: [], unread: unread(wanted, 'this cluster has no such kind', 'not-served') }
    return await readEverywhere(reader, { ...wanted, ...kind }, options)
  } catch (thrown) {
    if (!(thrown instanceof ApiError) || isApiError(thrown, ...everybodys)) throw thrown
    return { objects: [], unread: unreadBecause(wanted, thrown) }
  }
}

/** The version asked for, or else the one that the server prefers: objects are matched by group, not by version. */
async function servedVersion(reader: Reader, wanted: SnapshotKind): Promise<GroupVersionKind | undefined> {
  if (await reader.resource(wanted)) return { apiVersion: wanted.apiVersion, kind: wanted.kind }
  for (const apiVersion of await reader.versions(apiGroup(wanted.apiVersion))) {
    const other = { apiVersion, kind: wanted.kind }
    if (await reader.resource(other)) return other
  }
  return undefined
}

async function readEverywhere(reader: Reader, wanted: SnapshotKind, options: SnapshotOptions): Promise<KindRead> {
  try {
    return { objects: await listKind(reader, wanted, wanted.namespace, options.signal) }
  } catch (thrown) {
    const { namespaces = [] } = options
    const elsewhere = wanted.namespace === undefined && namespaces.length > 0
    if (!isApiError(thrown, 'forbidden') || !elsewhere) throw thrown
    return readNamespaces(reader, wanted, namespaces, options.signal)
  }
}

async function readNamespaces(
  reader: Reader,
  wanted: SnapshotKind,
  namespaces: readonly string[],
  signal: AbortSignal | undefined,
): Promise<KindRead> {
  const objects: KubeObject[] = []
  for (const namespace of namespaces) objects.push(...(await listKind(reader, wanted, namespace, signal)))
  const reason = `seen in ${namespaces.join(', ')} only, other namespaces are forbidden`
  return { objects, unread: unread(wanted, reason, 'forbidden') }
}

async function listKind(
  reader: Reader,
  wanted: SnapshotKind,
  namespace: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly KubeObject[]> {
  const { labelSelector } = wanted
  const { items } = await reader.list(wanted, {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(signal && { signal }),
  })
  return items
}

function unreadBecause(wanted: SnapshotKind, error: ApiError): UnreadKind {
  const reason = error.findings[0]?.message ?? error.message
  if (error.kind === 'forbidden') return unread(wanted, reason, 'forbidden')
  return unread(wanted, reason, error.kind === 'not-served' ? 'not-served' : 'failed')
}

function unread(
  { apiVersion, kind }: GroupVersionKind,
  reason: string,
  cause: NonNullable<UnreadKind['cause']>,
): UnreadKind {
  return { apiVersion, kind, reason, cause }
}
