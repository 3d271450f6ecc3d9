/**
 * Lists the Secrets that a cloud needs, by name and key, without values. `up` generates the values when it applies the
 * cloud, or a secret store provides them; a rendered tree contains only this list. Pure.
 */
import { MIGRATION_SECRET, SSH_SECRET } from '../api/node-secrets.ts'
import { hostNodeSets } from '../plan/node-sets.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { cellNames } from '../plan/slots/cloud-services.ts'
import { detectEra } from '../plan/slots/slots.ts'
import { SECRET } from './control-plane/templates.ts'
import { isKept } from './kept.ts'

/** How the value of a key is generated. */
export type SecretRule =
  /** Random letters and digits. */
  | 'password'
  /** 32 random bytes, in base64. */
  | 'key-32'
  /** Exactly 32 random characters. */
  | 'password-32'
  | 'ssh-private-key'
  | 'ssh-public-key'
  /** Provided by the user: it cannot be generated. */
  | 'given'

export interface SecretKey {
  readonly key: string
  readonly rule: SecretRule
  /** The service that reads it. */
  readonly service: string
}

export interface NeededSecret {
  readonly cloud: string
  readonly namespace: string
  readonly name: string
  readonly keys: readonly SecretKey[]
}

type Keys = Readonly<Record<string, SecretRule>>

const passwords = (...names: readonly string[]): Keys => Object.fromEntries(names.map((name) => [name, 'password']))

/** The keys of `osp-secret`, by the service that reads them. */
const serviceKeys: Readonly<Record<string, Keys>> = {
  galera: passwords('DbRootPassword'),
  keystone: passwords('AdminPassword'),
  placement: passwords('PlacementPassword'),
  glance: passwords('GlancePassword'),
  neutron: passwords('NeutronPassword'),
  nova: passwords('NovaPassword', 'MetadataSecret'),
  swift: passwords('SwiftPassword'),
  cinder: passwords('CinderPassword'),
  barbican: { BarbicanPassword: 'password', BarbicanSimpleCryptoKEK: 'key-32' },
  heat: { HeatPassword: 'password', HeatAuthEncryptionKey: 'password-32', HeatStackDomainAdminPassword: 'password' },
  manila: passwords('ManilaPassword'),
  designate: passwords('DesignatePassword'),
  octavia: passwords('OctaviaPassword', 'OctaviaHeartbeatKey'),
  ironic: passwords('IronicPassword', 'IronicInspectorPassword'),
  telemetry: passwords('AodhPassword', 'CeilometerPassword'),
  watcher: passwords('WatcherPassword'),
}

/** The 2023 release has a database password for each service as well. */
const databaseKeys2023: Readonly<Record<string, Keys>> = Object.fromEntries(
  ['Keystone', 'Placement', 'Glance', 'Neutron', 'Cinder', 'Heat', 'Manila', 'Ironic'].map((name) => [
    name.toLowerCase(),
    passwords(`${name}DatabasePassword`),
  ]),
)

/** The Secrets that `up` or a secret store provides: none for a control plane that stays with another tool. */
export function providedSecrets(plan: Plan, cloud: PlannedCloud): readonly NeededSecret[] {
  return isKept(cloud, 'secrets') ? [] : neededSecrets(plan, cloud)
}

export function neededSecrets(plan: Plan, cloud: PlannedCloud): readonly NeededSecret[] {
  const enabled = cloud.services.filter((service) => service.enabled).map((service) => service.entry.name)
  const is2023 = detectEra(plan.slots) === '2023'
  const secret = (name: string, keys: readonly SecretKey[]): NeededSecret => {
    return { cloud: cloud.name, namespace: cloud.namespace, name, keys }
  }
  const keys = enabled.flatMap((service) =>
    listKeys(service, { ...serviceKeys[service], ...(is2023 && databaseKeys2023[service]) }),
  )
  const cells = is2023 && enabled.includes('nova') ? listKeys('nova', novaDatabaseKeys2023(cloud)) : []
  const secrets = [secret(SECRET, [...keys, ...cells])]
  if (enabled.includes('octavia'))
    secrets.push(secret('octavia-ca-passphrase', listKeys('octavia', { 'server-ca-passphrase': 'password' })))
  const { ceph, hosts = [], dataPlane } = cloud.from.file
  if (ceph)
    secrets.push(
      secret(
        ceph.secret,
        listKeys('ceph', { 'ceph.conf': 'given', [`ceph.client.${ceph.user ?? 'openstack'}.keyring`]: 'given' }),
      ),
    )
  if (hosts.length > 0) {
    const common = dataPlane?.sshSecret ?? SSH_SECRET
    const sshSecrets = new Set(hostNodeSets(cloud.from).map(({ settings }) => settings.sshSecret ?? common))
    secrets.push(
      secret('libvirt-secret', listKeys('libvirt', { LibvirtPassword: 'password' })),
      ...[...sshSecrets].map((name) =>
        secret(
          name,
          listKeys('data plane', {
            'ssh-privatekey': 'ssh-private-key',
            'ssh-publickey': 'ssh-public-key',
            authorized_keys: 'ssh-public-key',
          }),
        ),
      ),
      secret(
        dataPlane?.migrationSecret ?? MIGRATION_SECRET,
        listKeys('nova', { 'ssh-privatekey': 'ssh-private-key', 'ssh-publickey': 'ssh-public-key' }),
      ),
    )
  }
  return secrets
}

function listKeys(service: string, keys: Keys): readonly SecretKey[] {
  return Object.entries(keys).map(([key, rule]) => ({ key, rule, service }))
}

function novaDatabaseKeys2023(cloud: PlannedCloud): Keys {
  const cells = ['cell0', ...cellNames(cloud.from)]
  const title = (cell: string): string => `${cell.slice(0, 1).toUpperCase()}${cell.slice(1)}`
  return passwords('NovaAPIDatabasePassword', ...cells.map((cell) => `Nova${title(cell)}DatabasePassword`))
}
