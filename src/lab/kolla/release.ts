/**
 * The groups of Kolla-Ansible's inventory, as data: who are the members of which groups.
 *
 * Complete for 2025.2, because prechecks refuse an inventory that lacks the group of a service, enabled or not.
 */

const table = `
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

/** The groups that hold hosts. `deployment` stays empty: prechecks would judge this machine as if it were a node. */
export const topGroups = ['control', 'network', 'compute', 'monitoring', 'storage', 'deployment'] as const

export interface ChildGroup {
  readonly name: string
  readonly members: readonly string[]
}

export const childGroups: readonly ChildGroup[] = table
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [members = '', names = ''] = line.split(': ')
    return names.split(' ').map((name) => ({ name, members: members.split(' ') }))
  })

export const allGroups: readonly string[] = [...topGroups, ...childGroups.map((group) => group.name)]
