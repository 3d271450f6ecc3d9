/** Reads the certificates and credentials of clouds, live or from a dump. Only public parts and dates are kept. */
import path from 'node:path'
import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatGroupKind, indexSnapshot, type Snapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import { type CredentialState, judgeAge } from '../../certificates/credential-age.ts'
import { type CertificateState, judgeCertificates } from '../../certificates/judge-certificates.ts'
import {
  certificateKind,
  readManagedCertificate,
  readRouteCertificate,
  readSecretCertificate,
  routeKind,
} from '../../certificates/read-certificates.ts'
import { referencedSecret } from '../../doctor/referenced-secrets.ts'
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
/** Objects that make a namespace a cloud, or that name certificates and credentials. */
const kinds = [controlPlaneKind, certificateKind, routeKind, ...hostKinds]

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
  const secretsOfClouds = clouds.flatMap((namespace) => ({
    ...secretKind,
    namespace,
    fieldSelector: 'type=kubernetes.io/tls',
  }))
  const tls = await takeSnapshot(client, secretsOfClouds, { signal })
  const named = await Promise.all(
    findCredentials(snapshot).map(({ namespace, secret }) =>
      takeSnapshot(client, [{ ...secretKind, namespace, fieldSelector: `metadata.name=${secret}` }], { signal }),
    ),
  )
  const secrets = [tls, ...named]
  const objects = [...snapshot.objects, ...secrets.flatMap((result) => result.snapshot.objects)]
  const unread = [...snapshot.unread, ...secrets.flatMap((result) => result.snapshot.unread)]
  const gaps = [...findings, ...secrets.flatMap((result) => result.findings)]
  return judge({ objects, unread }, hosts.states, gaps, now)
}

export async function gatherDumpedCertificates(from: string, io: Io, now: number): Promise<GatheredCertificates> {
  const { loadDump } = await import('../../kube/dump.ts')
  const hosts = await gatherDumpedHosts(from, io)
  const dump = await loadDump(path.resolve(io.cwd, from), [...kinds, secretKind], io.stop)
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
  return {
    certificates: judgeCertificates({
      found: [...byKind(secretKind).flatMap(readSecretCertificate), ...byKind(routeKind).flatMap(readRouteCertificate)],
      managed: byKind(certificateKind).map(readManagedCertificate),
      outdatedHosts: outdated,
      now,
    }),
    credentials: findCredentials(snapshot).map(({ namespace, secret, usedBy }) => {
      const object = index.get('Secret', secret, namespace)
      return {
        namespace,
        secret,
        usedBy,
        ...(object && judgeAge(object, now)),
        outdatedHosts: outdated(namespace, secret),
      }
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

function findCredentials({ objects }: Snapshot): readonly Pick<CredentialState, 'namespace' | 'secret' | 'usedBy'>[] {
  return objects.flatMap((object) => {
    const secret = referencedSecret(object)
    const { namespace, name } = object.metadata
    if (secret === undefined || namespace === undefined) return []
    return [{ namespace, secret, usedBy: `${object.kind} ${name}` }]
  })
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
