/** Lists the programs of a control host, and how each service is asked whether it works. Pure. */
import type { CloudDefinition } from './cloud-definition.ts'

export interface Daemon {
  readonly name: string
  readonly user?: string
  readonly home?: string
  readonly command: readonly string[]
}

const LOCAL = '127.0.0.1'
const OVN = '/usr/share/ovn/scripts/ovn-ctl'

/** What the services need; started first. */
export const infrastructure = {
  mariadb: { name: 'mariadb', command: ['mariadbd', '--user=mysql'] },
  memcached: { name: 'memcached', command: ['memcached', '-u', 'memcache', '-l', LOCAL, '-m', '32'] },
  rabbitmq: { name: 'rabbitmq', home: '/var/lib/rabbitmq', command: ['/usr/sbin/rabbitmq-server'] },
  haproxy: { name: 'haproxy', command: ['haproxy', '-db', '-f', '/etc/haproxy/haproxy.cfg'] },
} as const satisfies Readonly<Record<string, Daemon>>

/** Compute hosts connect to the southbound database, so it listens on all addresses of the host. */
export const ovnDatabases: readonly Daemon[] = ['nb', 'sb'].map((database) => ({
  name: `ovn-${database}`,
  command: [
    OVN,
    `--db-${database}-create-insecure-remote=yes`,
    `--db-${database}-addr=0.0.0.0`,
    `run_${database}_ovsdb`,
  ],
}))

export const northd: Daemon = {
  name: 'ovn-northd',
  command: ['ovn-northd', '--ovnnb-db=unix:/run/ovn/ovnnb_db.sock', '--ovnsb-db=unix:/run/ovn/ovnsb_db.sock'],
}

// ml2_conf.ini is no default of neutron-server. Files that are named are read before the folder that is named.
const neutronConfig = splitWords(
  '--config-file /etc/neutron/neutron.conf --config-file /etc/neutron/plugins/ml2/ml2_conf.ini ' +
    '--config-dir /etc/neutron/neutron.conf.d',
)

export function serviceDaemons(service: string, { cells }: CloudDefinition): readonly Daemon[] {
  const as = (user: string, name: string, ...args: readonly string[]): Daemon => ({
    name,
    user,
    home: `/var/lib/${user}`,
    command: args.length > 0 ? args : [name],
  })
  switch (service) {
    case 'keystone':
      return [as('keystone', 'keystone', ...uwsgi('keystone', 5000, '/usr/bin/keystone-wsgi-public'))]
    case 'placement':
      return [as('placement', 'placement', ...uwsgi('placement', 8778, '/usr/bin/placement-api'))]
    case 'glance':
      return [as('glance', 'glance-api')]
    case 'neutron':
      return [as('neutron', 'neutron-server', 'neutron-server', ...neutronConfig)]
    case 'nova':
      return [
        as('nova', 'nova-api'),
        as('nova', 'nova-scheduler'),
        as('nova', 'nova-conductor'),
        ...cells.map((cell) =>
          as('nova', `nova-conductor-${cell}`, 'nova-conductor', '--config-dir', `/etc/nova/${cell}.conf.d`),
        ),
      ]
    default:
      return []
  }
}

function uwsgi(name: string, port: number, file: string): readonly string[] {
  return splitWords(
    `uwsgi_python3 --http-socket ${LOCAL}:${port} --plugins python3 --master --die-on-term --processes 1 --threads 8 ` +
      '--lazy-apps --enable-threads --buffer-size 65535 --rem-header Content-Length ' +
      `--procname-prefix ${name}- --wsgi-file ${file}`,
  )
}

function splitWords(commandLine: string): readonly string[] {
  return commandLine.split(' ')
}

/** A request that reaches the database of the service, and for nova also the databases of its cells. */
export const healthUrls: Readonly<Record<string, string>> = {
  placement: `http://${LOCAL}:8778/resource_providers`,
  glance: `http://${LOCAL}:9292/v2/images?limit=1`,
  neutron: `http://${LOCAL}:9696/v2.0/networks?limit=1`,
  nova: `http://${LOCAL}:8774/v2.1/os-services`,
}

export interface Schema {
  /** The name under which its tables are kept for later clouds. */
  readonly name: string
  readonly database: string
  /** The user that owns the database and runs the command. */
  readonly user: string
  /** Creates the tables. */
  readonly sync: readonly string[]
}

export function serviceSchemas(service: string, { cells }: CloudDefinition): readonly Schema[] {
  const schema = (sync: readonly string[]): Schema => ({ name: service, database: service, user: service, sync })
  switch (service) {
    case 'keystone':
      return [schema(['keystone-manage', 'db_sync'])]
    case 'placement':
      return [schema(['placement-manage', 'db', 'sync'])]
    case 'glance':
      return [schema(['glance-manage', 'db_sync'])]
    case 'neutron':
      return [schema(['neutron-db-manage', ...neutronConfig, 'upgrade', 'heads'])]
    case 'nova':
      return [
        { name: 'nova_api', database: 'nova_api', user: 'nova', sync: ['nova-manage', 'api_db', 'sync'] },
        ...['cell0', ...cells].map((cell) => ({
          name: 'nova_cell',
          database: `nova_${cell}`,
          user: 'nova',
          sync: ['nova-manage', '--config-dir', cellFolder(cell), 'db', 'sync', '--local_cell'],
        })),
      ]
    default:
      return []
  }
}

function cellFolder(cell: string): string {
  return `/etc/nova/${cell === 'cell0' ? 'nova' : cell}.conf.d`
}
