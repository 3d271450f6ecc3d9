/** Reads what hosts are judged by, live or from a dump: listed kinds, Secrets and ConfigMaps that services name, certificates. */
import path from 'node:path'
import type { KubeObject } from '../../api/object.ts'
import type { Snapshot } from '../../api/snapshot.ts'
import { mapConcurrently } from '../../async/map-concurrently.ts'
import { formatError } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import type { Content } from '../../hosts/compare-service.ts'
import { NODE_SET_LABEL } from '../../hosts/data-plane.ts'
import {
  buildHostsInput,
  type CertificateSecrets,
  type ContentRef,
  formatRef,
  hostKinds,
  readContent,
  referencedContents,
} from '../../hosts/hosts-input.ts'
import { type HostState, judgeHosts } from '../../hosts/judge-hosts.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeReader } from '../../kube/client.ts'
import { unreadKind } from '../../kube/findings/api-server.ts'
import { type SnapshotResult, takeSnapshot } from '../../kube/snapshot.ts'
import { keepTypedFields } from '../../kube/typed-snapshot.ts'
import { refuseEmptyDump } from '../cluster.ts'
import type { Io } from '../io.ts'

const secretKind = { apiVersion: 'v1', kind: 'Secret' }
const configMapKind = { apiVersion: 'v1', kind: 'ConfigMap' }
const CONCURRENT_READS = 16

export interface GatheredHosts {
  readonly states: readonly HostState[]
  /** What was listed. From a dump also its ConfigMaps, which have the names of the clouds. */
  readonly snapshot: Snapshot
  readonly findings: readonly Finding[]
}

export async function gatherLiveHosts(
  client: Pick<KubeReader, 'get' | 'list' | 'resource' | 'versions'>,
  signal: AbortSignal,
): Promise<GatheredHosts> {
  const { snapshot, findings } = withTypedMetadata(await takeSnapshot(client, hostKinds, { signal }))
  const refs = referencedContents(snapshot)
  const contents = await mapConcurrently(refs, CONCURRENT_READS, (ref) => readLive(client, ref, signal))
  const byRef = new Map(refs.map((ref, index) => [formatRef(ref), contents[index] as Content]))
  const namespaces = [...new Set(snapshot.objects.flatMap(({ metadata }) => metadata.namespace ?? []))]
  const certificates = await readCertificates(client, namespaces, signal)
  return { states: judgeHosts(buildHostsInput(snapshot, byRef, certificates)), snapshot, findings }
}

async function readLive(client: Pick<KubeReader, 'get'>, ref: ContentRef, signal: AbortSignal): Promise<Content> {
  try {
    const found = await client.get({ ...ref, apiVersion: 'v1' }, { signal })
    return readContent(found && { ...found, kind: ref.kind })
  } catch (thrown) {
    if (!isApiError(thrown, 'forbidden')) throw thrown
    return { kind: 'unread', reason: formatError(thrown) }
  }
}

/** Of all clouds: the operator records the last certificate of a name in any namespace. */
async function readCertificates(
  client: Pick<KubeReader, 'list' | 'resource' | 'versions'>,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<CertificateSecrets> {
  if (namespaces.length === 0) return { secrets: [] }
  const kind = { ...secretKind, labelSelector: NODE_SET_LABEL }
  const { snapshot } = await takeSnapshot(client, [kind], { signal, namespaces })
  const [unread] = snapshot.unread
  // Where only some namespaces may be read, those of the clouds have been.
  return { secrets: snapshot.objects, ...(unread && snapshot.objects.length === 0 && { unread: unread.reason }) }
}

export async function gatherDumpedHosts(from: string, io: Io): Promise<GatheredHosts> {
  const { loadDump } = await import('../../kube/dump.ts')
  const kinds = [...hostKinds, secretKind, configMapKind]
  const gathered = withTypedMetadata(await loadDump(path.resolve(io.cwd, from), kinds, io.stop))
  refuseEmptyDump(gathered, from)
  const { snapshot, findings } = gathered
  const isCore = ({ apiVersion, kind }: KubeObject, wanted: string): boolean => apiVersion === 'v1' && kind === wanted
  const secrets = snapshot.objects.filter((object) => isCore(object, 'Secret'))
  const known = new Map(
    [...secrets, ...snapshot.objects.filter((object) => isCore(object, 'ConfigMap'))].map((object) => [
      `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`,
      object,
    ]),
  )
  const unread = new Map(snapshot.unread.map(({ kind, reason }) => [kind, reason]))
  const contents = new Map(
    referencedContents(snapshot).map((ref): [string, Content] => {
      const object = known.get(formatRef(ref))
      const reason = unread.get(ref.kind) ?? 'it is not in the dump'
      // A dump seldom has every Secret: one that is missing says nothing about the cluster.
      return [formatRef(ref), object ? readContent(object) : { kind: 'unread', reason }]
    }),
  )
  const why = unread.get('Secret')
  const certificates = { secrets, ...(why !== undefined && { unread: why }) }
  return {
    states: judgeHosts(buildHostsInput(snapshot, contents, certificates)),
    snapshot,
    // A dump without Secrets is usual; the hosts that this concerns are unknown.
    findings: findings.filter(({ code, message }) => code !== unreadKind.code || /dataplane/.test(message)),
  }
}

/** Only the metadata is checked: fields of these kinds are read without trust. */
function withTypedMetadata(result: SnapshotResult): SnapshotResult {
  return keepTypedFields(result, [])
}
