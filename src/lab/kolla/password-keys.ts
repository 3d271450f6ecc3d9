/**
 * The keys of passwords.yml in 2025.2, and what kind of secret each one is.
 *
 * Complete: `kolla-genpwd` finds nothing to add to a file that has them all.
 */

const uuids = `rbd_secret_uuid cinder_rbd_secret_uuid gnocchi_project_id gnocchi_resource_id gnocchi_user_id
designate_pool_id`
const sshKeys = `kolla_ssh_key nova_ssh_key keystone_ssh_key bifrost_ssh_key octavia_amp_ssh_key neutron_ssh_key
haproxy_ssh_key`
const digests = 'designate_rndc_key osprofiler_secret'
const passwords = `database_password mariadb_backup_database_password mariadb_monitor_password hnas_nfs_password
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

const words = (text: string, kind: SecretKind): readonly (readonly [string, SecretKind])[] =>
  text.split(/\s+/).map((key) => [key, kind] as const)

export const passwordKeys: ReadonlyMap<string, SecretKind> = new Map(
  [
    ...words(uuids, 'uuid'),
    ...words(sshKeys, 'ssh-key'),
    ...words(digests, 'digest'),
    ...words('barbican_crypto_key', 'fernet'),
    ...words('prometheus_bcrypt_salt', 'salt'),
    ...words('docker_registry_password', 'empty'),
    ...words(passwords, 'password'),
  ].sort(([a], [b]) => (a < b ? -1 : 1)),
)
