/**
 * Renders the configuration of OpenStack's services on a control host, in their conf.d folders: the packaged files stay as
 * they are. No service may be started with `--config-file`: oslo.config reads that after conf.d, and the packaged file wins.
 */
import { escapeDollars } from '../../ini/substitute.ts'
import type { CloudDefinition } from './cloud-definition.ts'

export interface HostFile {
  readonly path: string
  readonly text: string
  /** The group that may read it; root owns it. All may read a file without. */
  readonly group?: string
}

type Section = Readonly<Record<string, string | number | boolean>>
type Settings = Readonly<Record<string, Section>>

/** Passwords that only the control host uses; generated once per cloud. */
export interface LocalSecrets {
  readonly database: string
  readonly messageBus: string
  /** Keys of keystone's tokens and credentials, each 32 bytes in URL-safe base64. */
  readonly keys: readonly [string, string]
}

const NAME = '50-stackloom.conf'
const LOCAL = '127.0.0.1'
export const REGION = 'regionOne'

export function databaseUrl(user: string, database: string, { database: password }: LocalSecrets): string {
  return `mysql+pymysql://${user}:${password}@${LOCAL}/${database}`
}

/** The virtual host of a cell; the top level has `/`. */
export function transportUrl(cell: string | undefined, { messageBus }: LocalSecrets): string {
  return `rabbit://openstack:${messageBus}@${LOCAL}:5672/${cell ?? ''}`
}

export function keystoneUrl({ catalogue }: CloudDefinition): string {
  return `${catalogue.find(({ service }) => service === 'keystone')?.urls['internal'] ?? ''}/v3`
}

export function serviceFiles(cloud: CloudDefinition, secrets: LocalSecrets): readonly HostFile[] {
  const files: Readonly<Record<string, () => readonly HostFile[]>> = {
    keystone: () => [ini('keystone', 'keystone/keystone.conf.d', keystone(secrets)), ...keystoneKeys(secrets)],
    placement: () => [ini('placement', 'placement/placement.conf.d', placement(cloud, secrets))],
    // Not glance-api.conf.d, which glance-manage does not read.
    glance: () => [ini('glance', 'glance/glance.conf.d', glance(cloud, secrets))],
    neutron: () => [ini('neutron', 'neutron/neutron.conf.d', neutron(cloud, secrets))],
    nova: () => [
      ini('nova', 'nova/nova.conf.d', nova(cloud, secrets, undefined)),
      ...cloud.cells.map((cell) => ini('nova', `nova/${cell}.conf.d`, nova(cloud, secrets, cell))),
    ],
  }
  return [mariadb, ...cloud.services.flatMap((service) => files[service]?.() ?? [])]
}

const mariadb: HostFile = {
  path: '/etc/mysql/mariadb.conf.d/99-stackloom.cnf',
  text: formatIni({
    mysqld: {
      'bind-address': LOCAL,
      'skip-name-resolve': 1,
      // The data of a sandbox survives the end of the process, not of the machine.
      innodb_flush_log_at_trx_commit: 0,
      innodb_doublewrite: 0,
      innodb_buffer_pool_size: '96M',
      max_connections: 300,
      performance_schema: 'OFF',
    },
  }),
}

function keystone(secrets: LocalSecrets): Settings {
  return {
    // The package names a file; without one the log is the output of the program.
    DEFAULT: { log_dir: '', log_file: '' },
    database: { connection: databaseUrl('keystone', 'keystone', secrets) },
    token: { provider: 'fernet' },
    cache: { enabled: true, backend: 'dogpile.cache.memcached', memcache_servers: `${LOCAL}:11211` },
    // Behind haproxy, which ends TLS.
    oslo_middleware: { enable_proxy_headers_parsing: true },
  }
}

/** As keystone-manage would write them: the highest number is in use, 0 is the next one. */
function keystoneKeys({ keys }: LocalSecrets): readonly HostFile[] {
  return ['fernet-keys', 'credential-keys'].flatMap((folder) =>
    keys.map((key, index) => ({ path: `/etc/keystone/${folder}/${index}`, group: 'keystone', text: key })),
  )
}

function placement(cloud: CloudDefinition, secrets: LocalSecrets): Settings {
  return {
    placement_database: { connection: databaseUrl('placement', 'placement', secrets) },
    api: { auth_strategy: 'keystone' },
    keystone_authtoken: tokenAuth('placement', cloud),
  }
}

function glance(cloud: CloudDefinition, secrets: LocalSecrets): Settings {
  return {
    DEFAULT: { bind_host: LOCAL, workers: 1, enabled_backends: 'file:file' },
    glance_store: { default_backend: 'file' },
    file: { filesystem_store_datadir: '/var/lib/glance/images' },
    database: { connection: databaseUrl('glance', 'glance', secrets) },
    paste_deploy: { flavor: 'keystone' },
    keystone_authtoken: tokenAuth('glance', cloud),
    oslo_middleware: { enable_proxy_headers_parsing: true },
  }
}

function neutron(cloud: CloudDefinition, secrets: LocalSecrets): Settings {
  return {
    DEFAULT: {
      bind_host: LOCAL,
      core_plugin: 'ml2',
      service_plugins: 'ovn-router',
      transport_url: transportUrl(undefined, secrets),
      auth_strategy: 'keystone',
      notify_nova_on_port_status_changes: cloud.services.includes('nova'),
      notify_nova_on_port_data_changes: cloud.services.includes('nova'),
      api_workers: 1,
      rpc_workers: 0,
      rpc_state_report_workers: 0,
    },
    database: { connection: databaseUrl('neutron', 'neutron', secrets) },
    keystone_authtoken: tokenAuth('neutron', cloud),
    nova: serviceAuth('nova', cloud),
    oslo_concurrency: { lock_path: '/var/lib/neutron/tmp' },
    oslo_middleware: { enable_proxy_headers_parsing: true },
    ml2: {
      type_drivers: 'local,flat,vlan,geneve',
      tenant_network_types: 'geneve',
      mechanism_drivers: 'ovn',
      extension_drivers: 'port_security',
      overlay_ip_version: 4,
    },
    ml2_type_geneve: { vni_ranges: '1:65536', max_header_size: 38 },
    ml2_type_flat: { flat_networks: '*' },
    securitygroup: { enable_security_group: true },
    ovn: {
      ovn_nb_connection: `tcp:${LOCAL}:6641`,
      ovn_sb_connection: `tcp:${LOCAL}:6642`,
      ovn_metadata_enabled: true,
      ovn_l3_scheduler: 'leastloaded',
    },
  }
}

/** The top level with `cell` undefined: API, scheduler and the conductor of cell0. */
function nova(cloud: CloudDefinition, secrets: LocalSecrets, cell: string | undefined): Settings {
  return {
    DEFAULT: {
      my_ip: LOCAL,
      transport_url: transportUrl(cell, secrets),
      state_path: '/var/lib/nova',
      osapi_compute_listen: LOCAL,
      metadata_listen: LOCAL,
      osapi_compute_workers: 1,
      metadata_workers: 1,
      // The scheduler would look for new compute hosts a random time of up to a minute after its start.
      periodic_fuzzy_delay: 0,
    },
    api_database: { connection: databaseUrl('nova', 'nova_api', secrets) },
    database: { connection: databaseUrl('nova', `nova_${cell ?? 'cell0'}`, secrets) },
    conductor: { workers: 1 },
    scheduler: { workers: 1, discover_hosts_in_cells_interval: 5 },
    oslo_concurrency: { lock_path: '/var/lib/nova/tmp' },
    oslo_middleware: { enable_proxy_headers_parsing: true },
    keystone_authtoken: tokenAuth('nova', cloud),
    ...novaClients(cloud),
    vnc: { enabled: false },
    spice: { enabled: false },
  }
}

/** A compute host reaches everything by the VIPs of its cloud, and its cell by the message bus alone. */
export function computeFile(
  cloud: CloudDefinition,
  { messageBus }: LocalSecrets,
  { cell, address }: { readonly cell: string; readonly address: string },
): HostFile {
  const { namespace, names, tls } = cloud
  const cellBroker = `rabbitmq-${cell}.${namespace}.svc`
  const broker = names.some(({ name }) => name === cellBroker) ? cellBroker : `rabbitmq.${namespace}.svc`
  return ini('nova', 'nova/nova.conf.d', {
    DEFAULT: {
      my_ip: address,
      transport_url: `rabbit://openstack:${messageBus}@${broker}:${tls ? 5671 : 5672}/${cell}`,
      state_path: '/var/lib/nova',
      compute_driver: 'fake.FakeDriver',
    },
    oslo_messaging_rabbit: tls ? { ssl: true, ssl_ca_file: '/etc/ssl/certs/ca-certificates.crt' } : {},
    oslo_concurrency: { lock_path: '/var/lib/nova/tmp' },
    keystone_authtoken: tokenAuth('nova', cloud),
    ...novaClients(cloud),
    vnc: { enabled: false },
    spice: { enabled: false },
  })
}

/** How nova reaches the other services. */
function novaClients(cloud: CloudDefinition): Settings {
  return {
    service_user: { send_service_user_token: true, ...serviceAuth('nova', cloud) },
    glance: { ...serviceAuth('glance', cloud), valid_interfaces: 'internal' },
    placement: { ...serviceAuth('placement', cloud), valid_interfaces: 'internal' },
    neutron: {
      ...serviceAuth('neutron', cloud),
      valid_interfaces: 'internal',
      service_metadata_proxy: true,
      metadata_proxy_shared_secret: cloud.passwords['MetadataSecret'] ?? '',
    },
  }
}

function serviceAuth(user: string, cloud: CloudDefinition): Section {
  return {
    auth_type: 'password',
    auth_url: keystoneUrl(cloud),
    project_domain_name: 'Default',
    user_domain_name: 'Default',
    project_name: 'service',
    region_name: REGION,
    username: user,
    password: servicePassword(user, cloud),
  }
}

function tokenAuth(user: string, cloud: CloudDefinition): Section {
  return {
    www_authenticate_uri: keystoneUrl(cloud),
    memcached_servers: `${LOCAL}:11211`,
    interface: 'internal',
    ...serviceAuth(user, cloud),
  }
}

/** `NovaPassword` and so on, as the operators name them. */
export function servicePassword(user: string, { passwords }: CloudDefinition): string {
  return passwords[`${user.charAt(0).toUpperCase()}${user.slice(1)}Password`] ?? ''
}

function ini(group: string, folder: string, settings: Settings): HostFile {
  return { path: `/etc/${folder}/${NAME}`, group, text: formatIni(settings) }
}

/** A `$` would start a reference in oslo.config, and a line break another option: with a space it continues the value. */
function formatIni(settings: Settings): string {
  return Object.entries(settings)
    .map(([section, values]) => {
      const quote = (value: unknown): string => escapeDollars(String(value)).replaceAll(/\r?\n/g, '\n ')
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${quote(value)}\n`)
      return `[${section}]\n${lines.join('')}`
    })
    .join('')
}
