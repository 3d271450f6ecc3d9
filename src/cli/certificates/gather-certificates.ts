/** Reads the certificates and credentials of clouds, live or from a dump. Only public parts and dates are kept. */
import path from 'node:path'
import { groupBy } from '../../api/collections.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import {
  type CredentialState,
  credentialKinds,
  findCredentials,
  judgeCredentials,
} from '../../certificates/credentials.ts'
import { type CertificateState, judgeCertificates } from '../../certificates/judge-certificates.ts'
import { createOutdatedPods } from '../../certificates/outdated-pods.ts'
import {
  certificateKind,
  readManagedCertificate,
  readRouteCertificate,
  readSecretCertificate,
  routeKind,
} from '../../certificates/read-certificates.ts'
import type { Finding } from '../../errors/finding.ts'
import { hostKinds } from '../../hosts/hosts-input.ts'
import type { HostState } from '../../hosts/judge-hosts.ts'
import type { KubeReader } from '../../kube/client.ts'
import { takeSnapshot } from '../../kube/snapshot.ts'
import { keepTypedFields } from '../../kube/typed-snapshot.ts'
import { gatherDumpedHosts, gatherLiveHosts } from '../hosts/gather-hosts.ts'
import type { Io } from '../io.ts'

const controlPlaneKind = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' }
const secretKind = { apiVersion: 'v1', kind: 'Secret' }
const podKind = { apiVersion: 'v1', kind: 'Pod' }
/** Objects that make a namespace a cloud, or that name certificates and credentials. */
const kinds = uniqueKinds([controlPlaneKind, certificateKind, routeKind, ...hostKinds, ...credentialKinds])

function uniqueKinds(all: readonly GroupVersionKind[]): readonly GroupVersionKind[] {
  return [...new Map(all.map((kind) => [formatGroupKind(kind), kind])).values()]
}

export interface GatheredCertificates {
  readonly certificates: readonly CertificateState[]
  readonly credentials: readonly CredentialState[]
  readonly snapshot: Snapshot
  readonly findings: readonly Finding[]
}

export async function gatherLiveCertificates(
  client: Pick<KubeReader, 'get' | 'list' | 'resource' | 'versions'>,
  signal: AbortSignal,
  now: number,
): Promise<GatheredCertificates> {
  const { snapshot, findings } = keepTypedFields(await takeSnapshot(client, kinds, { signal }), [])
  const clouds = findClouds(indexSnapshot(snapshot))
  const hosts = await gatherLiveHosts(client, signal)
  // Of a credential the dates are enough: its values stay in the cluster. The certificates come last, so that they are kept.
  const contents = clouds.flatMap((namespace) => [
    { ...secretKind, namespace, metadataOnly: true },
    { ...podKind, namespace },
    { ...secretKind, namespace, fieldSelector: 'type=kubernetes.io/tls' },
  ])
  const read = await takeSnapshot(client, contents, { signal })
  const objects = [...snapshot.objects, ...read.snapshot.objects]
  const unread = [...snapshot.unread, ...read.snapshot.unread]
  // Secrets are listed twice.
  const gaps = [...new Map([...findings, ...read.findings].map((gap) => [gap.message, gap])).values()]
  return judge({ objects, unread }, hosts.states, gaps, now)
}

export async function gatherDumpedCertificates(from: string, io: Io, now: number): Promise<GatheredCertificates> {
  const { loadDump } = await import('../../kube/dump.ts')
  const hosts = await gatherDumpedHosts(from, io)
  const dump = await loadDump(path.resolve(io.cwd, from), [...kinds, secretKind, podKind], io.stop)
  const { snapshot } = keepTypedFields(dump, [])
  return judge(snapshot, hosts.states, hosts.findings, now)
}

function judge(
  snapshot: Snapshot,
  hosts: readonly HostState[],
  findings: readonly Finding[],
  now: number,
): GatheredCertificates {
  const index = indexSnapshot(snapshot)
  const clouds = new Set(findClouds(index))
  const inCloud = ({ metadata }: KubeObject): boolean => clouds.has(metadata.namespace ?? '')
  const byKind = (kind: typeof secretKind): readonly KubeObject[] => index.all(formatGroupKind(kind)).filter(inCloud)
  const outdated = outdatedHosts(hosts)
  const findSecret = (namespace: string, name: string) => index.get('Secret', name, namespace)
  const outdatedPods = createOutdatedPods(byKind(podKind), findSecret)
  const inSecrets = byKind(secretKind).flatMap(readSecretCertificate)
  const isCertificate = new Set(inSecrets.map(({ namespace, name }) => `${namespace}/${name}`))
  return {
    certificates: judgeCertificates({
      found: [...inSecrets, ...byKind(routeKind).flatMap(readRouteCertificate)],
      managed: byKind(certificateKind).map(readManagedCertificate),
      outdatedHosts: outdated,
      outdatedPods,
      now,
    }),
    credentials: judgeCredentials({
      // A certificate has its own line.
      credentials: findCredentials(snapshot.objects).filter(
        ({ namespace, secret }) => !isCertificate.has(`${namespace}/${secret}`),
      ),
      findSecret,
      outdatedHosts: outdated,
      outdatedPods,
      now,
    }),
    snapshot,
    findings,
  }
}

/** Namespaces with a control plane or node sets. */
function findClouds(index: SnapshotIndex): readonly string[] {
  const objects = [controlPlaneKind, ...hostKinds].flatMap((kind) => index.all(formatGroupKind(kind)))
  return [...new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))].sort()
}

function outdatedHosts(hosts: readonly HostState[]): (namespace: string, secret: string) => readonly string[] {
  const changes = hosts.flatMap(({ namespace, host, changes: found }) =>
    found
      .filter(({ kind, change }) => kind === 'Secret' && change === 'changed')
      .map(({ name }) => ({ secret: `${namespace}/${name}`, host })),
  )
  const bySecret = groupBy(changes, ({ secret }) => secret)
  return (namespace, secret) => bySecret.get(`${namespace}/${secret}`)?.map(({ host }) => host) ?? []
}
