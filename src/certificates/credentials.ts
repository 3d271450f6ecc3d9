/** Finds the credentials of clouds by the objects that name their Secrets, and judges how old they are. Pure; reads no values. */
import { groupBy } from '../api/collections.ts'
import { asList, asRecord, asStrings } from '../api/json.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { type CertificateVerdict, judgeLifetime, type Lifetime } from './judge-certificates.ts'

export interface CredentialState {
  readonly namespace: string
  readonly secret: string
  /** The objects that name the Secret: `OpenStackControlPlane controlplane`. */
  readonly usedBy: readonly string[]
  readonly changed?: string
  readonly ageDays?: number
  /** Of a credential that ends. */
  readonly verdict?: CertificateVerdict
  readonly notAfter?: string
  readonly daysLeft?: number
  /** Data plane hosts that still have the values that were there before. */
  readonly outdatedHosts: readonly string[]
  /** Pods that read the Secret when they started, which was before its last change. */
  readonly outdatedPods: readonly string[]
}

const DAY = 86_400_000

const controlPlane = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' }
const nodeSet = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' }
const service = { apiVersion: nodeSet.apiVersion, kind: 'OpenStackDataPlaneService' }
const applicationCredential = { apiVersion: 'keystone.openstack.org/v1beta1', kind: 'KeystoneApplicationCredential' }

type SecretNames = (object: KubeObject) => readonly (string | undefined)[]

/** Which Secrets an object of a kind names. Releases have only some of the kinds. */
const namingKinds: readonly (readonly [GroupVersionKind, SecretNames])[] = [
  [controlPlane, (object) => [getString(object, 'spec', 'secret') ?? 'osp-secret']],
  [
    nodeSet,
    (object) => [
      getString(object, 'spec', 'nodeTemplate', 'ansibleSSHPrivateKeySecret'),
      getString(object, 'spec', 'baremetalSetTemplate', 'passwordSecret', 'name'),
      ...secretRefs(getList(object, 'spec', 'nodeTemplate', 'ansible', 'ansibleVarsFrom')),
      ...Object.values(asRecord(getField(object, 'spec', 'nodes'))).flatMap((node) =>
        secretRefs(getList(node, 'ansible', 'ansibleVarsFrom')),
      ),
    ],
  ],
  [service, (object) => secretRefs(getList(object, 'spec', 'dataSources'))],
  [
    { apiVersion: 'mariadb.openstack.org/v1beta1', kind: 'MariaDBAccount' },
    (object) => [getString(object, 'spec', 'secret')],
  ],
  [
    { apiVersion: 'rabbitmq.openstack.org/v1beta1', kind: 'RabbitMq' },
    (object) => [getString(object, 'status', 'defaultUser', 'secretReference', 'name')],
  ],
  [
    { apiVersion: 'rabbitmq.openstack.org/v1beta1', kind: 'RabbitMQUser' },
    (object) => [getString(object, 'status', 'secretName') ?? getString(object, 'spec', 'secret')],
  ],
  [
    { apiVersion: 'rabbitmq.openstack.org/v1beta1', kind: 'TransportURL' },
    (object) => [getString(object, 'status', 'secretName')],
  ],
  [applicationCredential, (object) => [getString(object, 'status', 'secretName')]],
]

/** Kinds of objects that name credentials. */
export const credentialKinds: readonly GroupVersionKind[] = namingKinds.map(([kind]) => kind)

function secretRefs(sources: readonly unknown[]): readonly (string | undefined)[] {
  return sources.map((source) => getString(source, 'secretRef', 'name'))
}

export interface Credential extends Pick<CredentialState, 'namespace' | 'secret' | 'usedBy'> {
  /** Of a credential that ends. */
  readonly lifetime?: Lifetime
}

/** Each Secret once, with every object that names it. */
export function findCredentials(objects: readonly KubeObject[]): readonly Credential[] {
  const usedServices = new Set(
    objects
      .filter((object) => formatGroupKind(object) === formatGroupKind(nodeSet))
      .flatMap(({ metadata, spec }) =>
        asStrings(asRecord(spec)['services']).map((name) => `${metadata.namespace}/${name}`),
      ),
  )
  const names = new Map(namingKinds.map(([kind, secretNames]) => [formatGroupKind(kind), secretNames]))
  const found = objects.flatMap((object) => {
    const { namespace, name } = object.metadata
    const isUnused = object.kind === service.kind && !usedServices.has(`${namespace}/${name}`)
    if (namespace === undefined || isUnused) return []
    const secrets = names.get(formatGroupKind(object))?.(object) ?? []
    return [...new Set(secrets)].flatMap((secret) =>
      secret === undefined ? [] : [{ namespace, secret, usedBy: `${object.kind} ${name}`, lifetime: readEnd(object) }],
    )
  })
  return [...groupBy(found, ({ namespace, secret }) => `${namespace}/${secret}`).values()].flatMap((uses) => {
    const [first] = uses
    if (!first) return []
    const lifetime = uses.find((use) => use.lifetime)?.lifetime
    return [
      {
        namespace: first.namespace,
        secret: first.secret,
        usedBy: uses.map(({ usedBy }) => usedBy),
        ...(lifetime && { lifetime }),
      },
    ]
  })
}

/** When an application credential of Keystone ends; keystone-operator replaces it some time before. */
export function readEnd(object: KubeObject): Lifetime | undefined {
  if (formatGroupKind(object) !== formatGroupKind(applicationCredential)) return undefined
  const time = (field: string): number => Date.parse(getString(object, 'status', field) ?? '')
  const [notAfter, renewal] = [time('expiresAt'), time('rotationEligibleAt')]
  return Number.isNaN(notAfter) ? undefined : { notAfter, ...(!Number.isNaN(renewal) && { renewal }) }
}

/** The last write of its values, or the creation where writes are not recorded. */
export function lastChange({ metadata }: KubeObject): string | undefined {
  const { managedFields, creationTimestamp } = asRecord(metadata)
  const writes = asList(managedFields)
    .map(asRecord)
    .filter(({ fieldsV1 }) => 'f:data' in asRecord(fieldsV1))
    .map(({ time }) => time)
  const times = writes.length > 0 ? writes : [creationTimestamp]
  return times
    .filter((time): time is string => typeof time === 'string' && !Number.isNaN(Date.parse(time)))
    .sort()
    .at(-1)
}

export interface CredentialsInput {
  readonly credentials: readonly Credential[]
  readonly findSecret: (namespace: string, name: string) => KubeObject | undefined
  readonly outdatedHosts: (namespace: string, secret: string) => readonly string[]
  readonly outdatedPods: (namespace: string, secret: string) => readonly string[]
  readonly now: number
}

export function judgeCredentials({
  credentials,
  findSecret,
  outdatedHosts,
  outdatedPods,
  now,
}: CredentialsInput): readonly CredentialState[] {
  return credentials.map(({ lifetime, ...credential }) => {
    const { namespace, secret } = credential
    const object = findSecret(namespace, secret)
    const changed = object && lastChange(object)
    return {
      ...credential,
      ...(changed !== undefined && { changed, ageDays: Math.floor((now - Date.parse(changed)) / DAY) }),
      ...(lifetime && {
        verdict: judgeLifetime(lifetime, now),
        notAfter: new Date(lifetime.notAfter).toISOString(),
        daysLeft: Math.floor((lifetime.notAfter - now) / DAY),
      }),
      outdatedHosts: outdatedHosts(namespace, secret),
      outdatedPods: outdatedPods(namespace, secret),
    }
  })
}
