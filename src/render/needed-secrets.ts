/**
 * The Secrets that a cloud needs, by name and key: never their values. They are generated for each cloud when it is
 * applied, or come from a store of secrets; a rendered tree holds this list only.
 */
import { MIGRATION_SECRET, SSH_SECRET } from '../api/node-secrets.ts'
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { cellNames } from '../plan/slots/cloud-services.ts'
import { detectEra } from '../plan/slots/slots.ts'
import { SECRET } from './control-plane/context.ts'

/** What makes a good value for a key. */
export type SecretRule =
  /** Random letters and digits. */
  | 'password'
  /** 32 random bytes, in base64. */
  | 'key-32'
  /** 32 random characters exactly. */
  | 'password-32'
  | 'ssh-private-key'
  | 'ssh-public-key'
  /** Given from outside: nobody can make it up. */
  | 'given'

export interface SecretKey {
  readonly key: string
  readonly rule: SecretRule
  /** Who reads it. */
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
const keysOf: Readonly<Record<string, Keys>> = {
  galera: passwords('DbRootPassword'),
  keystone: passwords('AdminPassword'),
  placement: passwords('PlacementPassword'),
  glance: passwords('GlancePassword'),
  neutron: passwords('NeutronPassword'),
  nova: passwords('NovaPassword', 'MetadataSecret'),
  swift: passwords('SwiftPassword'),
  cinder: passwords('CinderPassword'),
  barbican: { BarbicanPassword: 'password', BarbicanSimpleCryptoKEK: 'key-32' },
  heat: {
    HeatPassword: 'password',
    HeatAuthEncryptionKey: 'password-32',
    HeatStackDomainAdminPassword: 'password',
  },
  manila: passwords('ManilaPassword'),
  designate: passwords('DesignatePassword'),
  octavia: passwords('OctaviaPassword', 'OctaviaHeartbeatKey'),
  ironic: passwords('IronicPassword', 'IronicInspectorPassword'),
  telemetry: passwords('AodhPassword', 'CeilometerPassword'),
  watcher: passwords('WatcherPassword'),
}

/** In 2023 each service had its database's password beside its own. */
const databaseKeysOf2023: Readonly<Record<string, Keys>> = Object.fromEntries(
  ['Keystone', 'Placement', 'Glance', 'Neutron', 'Cinder', 'Heat', 'Manila', 'Ironic'].map((name) => [
    name.toLowerCase(),
    passwords(`${name}DatabasePassword`),
  ]),
)

export function neededSecrets(plan: Plan, cloud: PlannedCloud): readonly NeededSecret[] {
  const enabled = cloud.services.filter((service) => service.enabled).map((service) => service.entry.name)
  const old = detectEra(plan.slots) === '2023'
  const secret = (name: string, keys: readonly SecretKey[]): NeededSecret => {
    return { cloud: cloud.name, namespace: cloud.namespace, name, keys }
  }
  const main = enabled.flatMap((service) =>
    listed(service, { ...keysOf[service], ...(old && databaseKeysOf2023[service]) }),
  )
  const cells = old && enabled.includes('nova') ? listed('nova', novaDatabasesOf2023(cloud)) : []
  const found = [secret(SECRET, [...main, ...cells])]
  if (enabled.includes('octavia'))
    found.push(secret('octavia-ca-passphrase', listed('octavia', { 'server-ca-passphrase': 'password' })))
  const { ceph, hosts = [], dataPlane } = cloud.from.file
  if (ceph)
    found.push(
      secret(
        ceph.secret,
        listed('ceph', {
          'ceph.conf': 'given',
          [`ceph.client.${ceph.user ?? 'openstack'}.keyring`]: 'given',
        }),
      ),
    )
  if (hosts.length > 0) {
    found.push(
      secret('libvirt-secret', listed('libvirt', { LibvirtPassword: 'password' })),
      secret(
        dataPlane?.sshSecret ?? SSH_SECRET,
        listed('data plane', {
          'ssh-privatekey': 'ssh-private-key',
          'ssh-publickey': 'ssh-public-key',
          authorized_keys: 'ssh-public-key',
        }),
      ),
      secret(
        dataPlane?.migrationSecret ?? MIGRATION_SECRET,
        listed('nova', { 'ssh-privatekey': 'ssh-private-key', 'ssh-publickey': 'ssh-public-key' }),
      ),
    )
  }
  return found
}

function listed(service: string, keys: Keys): readonly SecretKey[] {
  return Object.entries(keys).map(([key, rule]) => ({ key, rule, service }))
}

function novaDatabasesOf2023(cloud: PlannedCloud): Keys {
  const cells = ['cell0', ...cellNames(cloud.from)]
  const title = (cell: string): string => `${cell.slice(0, 1).toUpperCase()}${cell.slice(1)}`
  return passwords('NovaAPIDatabasePassword', ...cells.map((cell) => `Nova${title(cell)}DatabasePassword`))
}
