/** Gathers what the rules read, live or from a dump: listed kinds, keys of referenced Secrets, and hosts of nova cells. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { formatGroupKind, type Snapshot, type UnreadKind } from '../../api/snapshot.ts'
import { kindsToGather, NOVA_HOSTS, SECRET } from '../../doctor/kinds.ts'
import { redactValues, referencedSecrets, type SecretRef } from '../../doctor/referenced-secrets.ts'
import type { Rule } from '../../doctor/rule.ts'
import { formatError } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import { isApiError } from '../../kube/api-error.ts'
import type { KubeReader } from '../../kube/client.ts'
import { malformedObject, unreadKind } from '../../kube/findings/api-server.ts'
import { type ClusterFlags, openCluster, refuseEmptyDump, withTypedObjects } from '../cluster.ts'
import type { Io } from '../io.ts'

export interface Evidence {
  readonly snapshot: Snapshot
  /** Files of a dump that could not be read. */
  readonly findings: readonly Finding[]
}

/** Runs a command in a pod and returns its output. */
export type ExecInPod = (namespace: string, pod: string, command: readonly string[]) => Promise<string>

const secrets = { apiVersion: 'v1', kind: SECRET }
const hosts = { apiVersion: 'stackloom.dev/v1alpha1', kind: NOVA_HOSTS.split('/')[1] ?? '' }

/** Every kind that evidence has objects of. */
export function evidenceKinds(rules: readonly Rule[]): readonly GroupVersionKind[] {
  return [...kindsToGather(rules), secrets, hosts]
}

export async function gatherEvidence(
  source: ClusterFlags & { readonly from?: string },
  rules: readonly Rule[],
  namespaces: readonly string[],
  io: Io,
): Promise<Evidence> {
  if (source.from !== undefined) return gatherFromDump(source.from, rules, io.stop)
  const connection = await openCluster(source, io)
  try {
    const { execInPod } = await import('../../kube/pod-exec.ts')
    const ask: ExecInPod = async (namespace, pod, command) => {
      const call = { namespace, pod, command, timeoutMs: 30_000, signal: io.stop }
      const { stdout, stderr, exitCode } = await execInPod(connection.transport, call)
      if (exitCode !== 0) throw new Error(stderr.trim().split('\n').at(-1) || `exited with ${exitCode}`)
      return stdout
    }
    return await gatherFromCluster(connection.client, rules, { namespaces, ask, stop: io.stop })
  } finally {
    await connection.close()
  }
}

interface GatherOptions {
  readonly namespaces: readonly string[]
  readonly ask: ExecInPod
  readonly stop: AbortSignal
}

export async function gatherFromCluster(
  client: Pick<KubeReader, 'get' | 'list' | 'resource' | 'versions'>,
  rules: readonly Rule[],
  { namespaces, ask, stop }: GatherOptions,
): Promise<Evidence> {
  const { takeSnapshot } = await import('../../kube/snapshot.ts')
  const options = { namespaces, signal: stop }
  const { snapshot, findings } = await withTypedObjects(await takeSnapshot(client, kindsToGather(rules), options))
  const looks = await Promise.all([
    ...referencedSecrets(snapshot).map((named) => readSecretKeys(client, named, stop)),
    ...findNovaConductors(snapshot).map((cell) => readNovaHosts(ask, cell)),
  ])
  return {
    snapshot: {
      objects: [...snapshot.objects, ...looks.flatMap(({ object }) => object ?? [])],
      unread: [...snapshot.unread, ...looks.flatMap(({ unread }) => unread ?? [])],
    },
    findings: findings.filter(({ code }) => code === malformedObject.code),
  }
}

/** One object that was read separately, or why it could not be read; empty when it does not exist. */
interface ReadResult {
  readonly object?: KubeObject
  readonly unread?: UnreadKind
}

async function readSecretKeys(
  client: Pick<KubeReader, 'get'>,
  named: SecretRef,
  signal: AbortSignal,
): Promise<ReadResult> {
  try {
    const found = await client.get({ ...secrets, ...named }, { signal })
    return found ? { object: redactValues({ ...found, ...secrets }) } : {}
  } catch (thrown) {
    if (!isApiError(thrown, 'forbidden')) throw thrown
    return { unread: { ...secrets, reason: formatError(thrown), cause: 'forbidden' } }
  }
}

async function readNovaHosts(
  ask: ExecInPod,
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
): Promise<ReadResult> {
  try {
    return { object: parseNovaHosts(namespace, await ask(namespace, pod, ['nova-manage', 'cell_v2', 'list_hosts'])) }
  } catch (thrown) {
    return { unread: { ...hosts, reason: formatError(thrown), cause: 'failed' } }
  }
}

export async function gatherFromDump(from: string, rules: readonly Rule[], stop: AbortSignal): Promise<Evidence> {
  const { loadDump } = await import('../../kube/dump.ts')
  const gathered = await withTypedObjects(await loadDump(from, evidenceKinds(rules), stop))
  refuseEmptyDump(gathered, from)
  const { snapshot, findings } = gathered
  return {
    snapshot: {
      ...snapshot,
      objects: snapshot.objects.map((object) =>
        object.kind === SECRET && object.apiVersion === 'v1' ? redactValues(object) : object,
      ),
    },
    // Unknown kinds are reported with the rules that need them.
    findings: findings.filter(({ code }) => code !== unreadKind.code),
  }
}

const CONDUCTOR = 'nova-cell0-conductor-0'
/** No command can run in simulated pods of a sandbox. */
const SIMULATED = 'sandbox.stackloom.dev/played'

/** Conductors of clouds that have data plane hosts. */
function findNovaConductors({ objects }: Snapshot): readonly { readonly namespace: string; readonly pod: string }[] {
  const clouds = new Set(
    objects
      .filter((object) => formatGroupKind(object) === 'dataplane.openstack.org/OpenStackDataPlaneNodeSet')
      .map(({ metadata }) => metadata.namespace),
  )
  return objects
    .filter(
      ({ kind, metadata }) =>
        kind === 'Pod' &&
        metadata.name === CONDUCTOR &&
        clouds.has(metadata.namespace) &&
        metadata.annotations?.[SIMULATED] === undefined,
    )
    .map(({ metadata }) => ({ namespace: metadata.namespace ?? '', pod: metadata.name }))
}

/** `nova-manage cell_v2 list_hosts` prints a table: cell name, cell UUID, host name. */
function parseNovaHosts(namespace: string, table: string): KubeObject {
  const rows = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const names = rows.map((cells) => cells[3] ?? '').filter((name) => name !== '' && name !== 'Hostname')
  return {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'NovaHosts',
    metadata: { name: 'nova', namespace },
    hosts: names,
  }
}
