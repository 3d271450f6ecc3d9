/**
 * Describes Kolla-Ansible 2025.2: its inventory groups, image tags, password keys, variables, and what it leaves
 * without TLS. Pure, except that the list of variables is read from `data/`.
 */
import { readData } from '../../data/data.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type Lab, usesCeph } from '../lab.ts'

/** Parents and their child groups. Complete: prechecks refuse an inventory without the group of a disabled service. */
const groupTable = `
control network compute storage monitoring: baremetal common
control network: tls-backend
compute: collectd hacluster-remote ceilometer-compute ceilometer-ipmi cyborg-agent zun-compute zun-cni-daemon prometheus-libvirt-exporter masakari-instancemonitor ovn-controller-compute
monitoring: grafana influxdb prometheus prometheus-alertmanager prometheus-openstack-exporter prometheus-blackbox-exporter
control: etcd hacluster mariadb rabbitmq keystone glance nova cinder cloudkitty memcached horizon barbican heat ironic magnum mistral manila ceilometer aodh cyborg gnocchi tacker trove watcher octavia designate placement zun skyline redis valkey blazar opensearch neutron-periodic-worker neutron-rpc-server neutron-server neutron-ovn-maintenance-worker masakari-api masakari-engine masakari-hostmonitor ovn-database
compute control monitoring network storage: telegraf
network: loadbalancer neutron manila-share designate-mdns ovn-controller-network
network compute manila-share: openvswitch
deployment: bifrost
loadbalancer: letsencrypt
common: cron fluentd kolla-logs kolla-toolbox
opensearch: opensearch-dashboards prometheus-elasticsearch-exporter
glance: glance-api
nova: nova-api nova-conductor nova-metadata nova-super-conductor nova-novncproxy nova-scheduler nova-spicehtml5proxy nova-compute-ironic nova-serialproxy
neutron: ironic-neutron-agent neutron-bgp-dragent neutron-dhcp-agent neutron-infoblox-ipam-agent neutron-l3-agent neutron-metadata-agent neutron-metering-agent
compute network: neutron-ovn-agent neutron-ovn-metadata-agent
cinder: cinder-api cinder-scheduler
storage: cinder-backup cinder-volume tgtd
cloudkitty: cloudkitty-api cloudkitty-processor
compute storage ironic: iscsid
manila: manila-api manila-scheduler manila-data
barbican: barbican-api barbican-keystone-listener barbican-worker
heat: heat-api heat-api-cfn heat-engine
ironic: ironic-api ironic-conductor ironic-dnsmasq ironic-tftp ironic-http
magnum: magnum-api magnum-conductor
mistral: mistral-api mistral-executor mistral-engine mistral-event-engine
ceilometer: ceilometer-central ceilometer-notification
aodh: aodh-api aodh-evaluator aodh-listener aodh-notifier
cyborg: cyborg-api cyborg-conductor
gnocchi: gnocchi-api gnocchi-statsd gnocchi-metricd
trove: trove-api trove-conductor trove-taskmanager
compute storage: multipathd
watcher: watcher-api watcher-engine watcher-applier
octavia: octavia-api octavia-driver-agent octavia-health-manager octavia-housekeeping octavia-worker
designate: designate-api designate-central designate-producer designate-worker designate-sink designate-backend-bind9
placement: placement-api
zun: zun-api zun-wsproxy
skyline: skyline-apiserver skyline-console
tacker: tacker-server tacker-conductor
blazar: blazar-api blazar-manager
monitoring control compute network storage: prometheus-node-exporter prometheus-cadvisor
mariadb: prometheus-mysqld-exporter
memcached: prometheus-memcached-exporter
ovn-controller-compute ovn-controller-network: ovn-controller
ovn-database: ovn-northd ovn-nb-db ovn-sb-db ovn-sb-db-relay
letsencrypt: letsencrypt-webserver letsencrypt-lego
`

/** The groups that list hosts. `deployment` stays empty: prechecks would check this machine as if it were a node. */
export const topGroups = ['control', 'network', 'compute', 'monitoring', 'storage', 'deployment'] as const

export interface ChildGroup {
  readonly name: string
  readonly members: readonly string[]
}

export const childGroups: readonly ChildGroup[] = groupTable
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [members = '', names = ''] = line.split(': ')
    return names.split(' ').map((name) => ({ name, members: members.split(' ') }))
  })

export const allGroups: readonly string[] = [...topGroups, ...childGroups.map((group) => group.name)]

const CODENAME = { debian: 'bookworm', ubuntu: 'noble' } as const

export function imageTag(lab: Lab): string {
  const { base } = lab.containers
  return `${lab.release}-${base}-${CODENAME[base]}${imageTagSuffix(lab)}`
}

export function imageTagSuffix({ arch }: Lab): string {
  return arch === 'aarch64' ? '-aarch64' : ''
}

export interface TlsGap {
  readonly what: string
  readonly where: string
}

/** Traffic that this release cannot encrypt. */
export function tlsGaps(lab: Lab): readonly TlsGap[] {
  return [
    { what: 'OVN northbound and southbound databases', where: 'TCP 6641 and 6642 on the management network' },
    { what: 'memcached', where: 'TCP 11211 on the management network' },
    { what: 'iSCSI', where: 'TCP 3260 on the isolated storage network' },
    { what: 'Geneve', where: 'UDP 6081 on the isolated tunnel network' },
    ...(lab.monitoring.prometheus ? [{ what: 'Prometheus exporters', where: 'on the management network' }] : []),
    ...(usesCeph(lab) ? [{ what: 'Ceph messenger', where: 'on the storage network' }] : []),
  ]
}

const uuids = `rbd_secret_uuid cinder_rbd_secret_uuid gnocchi_project_id gnocchi_resource_id gnocchi_user_id
designate_pool_id`
const sshKeys = `kolla_ssh_key nova_ssh_key keystone_ssh_key bifrost_ssh_key octavia_amp_ssh_key neutron_ssh_key
haproxy_ssh_key`
const digests = 'designate_rndc_key osprofiler_secret'
const generatedPasswords = `database_password mariadb_backup_database_password mariadb_monitor_password hnas_nfs_password
infoblox_admin_password aodh_database_password aodh_keystone_password barbican_database_password
barbican_keystone_password barbican_p11_password blazar_database_password blazar_keystone_password
keystone_admin_password keystone_database_password grafana_database_password grafana_admin_password
glance_database_password glance_keystone_password gnocchi_database_password gnocchi_keystone_password
kuryr_keystone_password nova_database_password nova_api_database_password nova_keystone_password
placement_keystone_password placement_database_password neutron_database_password neutron_keystone_password
metadata_secret cinder_database_password cinder_keystone_password cloudkitty_database_password
cloudkitty_keystone_password cyborg_database_password cyborg_keystone_password designate_database_password
designate_keystone_password heat_database_password heat_keystone_password heat_domain_admin_password
ironic_database_password ironic_keystone_password magnum_database_password magnum_keystone_password
mistral_database_password mistral_keystone_password trove_database_password trove_keystone_password
ceilometer_database_password ceilometer_keystone_password watcher_database_password watcher_keystone_password
horizon_secret_key horizon_database_password telemetry_secret_key manila_database_password
manila_keystone_password octavia_database_password octavia_persistence_database_password
octavia_keystone_password octavia_ca_password octavia_client_ca_password tacker_database_password
tacker_keystone_password zun_database_password zun_keystone_password masakari_database_password
masakari_keystone_password memcache_secret_key skyline_secret_key skyline_database_password
skyline_keystone_password rabbitmq_password rabbitmq_monitoring_password rabbitmq_cluster_cookie
haproxy_password keepalived_password etcd_cluster_token valkey_master_password redis_master_password
prometheus_mysql_exporter_database_password prometheus_alertmanager_password prometheus_password
prometheus_grafana_password prometheus_haproxy_password prometheus_skyline_password
keystone_federation_openid_crypto_password ceph_rgw_keystone_password libvirt_sasl_password
proxysql_admin_password proxysql_stats_password opensearch_dashboards_password`

export type SecretKind = 'uuid' | 'ssh-key' | 'digest' | 'fernet' | 'salt' | 'password' | 'empty'

const keysOf = (kind: SecretKind, keys: string): readonly (readonly [string, SecretKind])[] =>
  keys.split(/\s+/).map((key) => [key, kind] as const)

/** The keys of passwords.yml. Complete: `kolla-genpwd` adds nothing to a file that has them all. */
export const passwordKeys: ReadonlyMap<string, SecretKind> = new Map(
  [
    ...keysOf('uuid', uuids),
    ...keysOf('ssh-key', sshKeys),
    ...keysOf('digest', digests),
    ...keysOf('fernet', 'barbican_crypto_key'),
    ...keysOf('salt', 'prometheus_bcrypt_salt'),
    ...keysOf('empty', 'docker_registry_password'),
    ...keysOf('password', generatedPasswords),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
)

/** Every variable that Kolla-Ansible reads. `tools/kolla-variables.ts` writes the file. */
export function readVariableNames(): readonly string[] {
  return readData('kolla-variables.txt').trim().split('\n')
}

export interface KnownVariables {
  readonly has: (name: string) => boolean
  /** The known name closest to a misspelt one. */
  readonly nearest: (name: string) => string | undefined
}

export function knownVariables({ overrides }: Lab): KnownVariables {
  const names = new Set([...readVariableNames(), ...passwordKeys.keys()])
  // Kolla treats the files below config/ as templates, so the variables that they use are read.
  const templates = [...Object.values(overrides.config), JSON.stringify(overrides.globals)].join('\n')
  const used = new Set(templates.match(/(?<=\{\{[^}]*)[a-z]\w+/g))
  return {
    has: (name) => names.has(name) || name.startsWith('ansible_') || used.has(name),
    nearest: (name) => closestMatch(name, [...names]),
  }
}
