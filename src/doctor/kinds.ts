/** Lists the kinds that rules read, by group and kind, with the version to request. */
import type { GroupVersionKind } from '../api/object.ts'
import type { Rule } from './rule.ts'

const kindVersions: Readonly<Record<string, string>> = {
  Event: 'v1',
  Namespace: 'v1',
  Node: 'v1',
  PersistentVolumeClaim: 'v1',
  Pod: 'v1',
  Service: 'v1',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': 'v1',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': 'v1',
  'ansibleee.openstack.org/OpenStackAnsibleEE': 'v1alpha1',
  'apiregistration.k8s.io/APIService': 'v1',
  'apps/DaemonSet': 'v1',
  'apps/Deployment': 'v1',
  'apps/StatefulSet': 'v1',
  'barbican.openstack.org/Barbican': 'v1beta1',
  'batch/Job': 'v1',
  'cert-manager.io/Certificate': 'v1',
  'cinder.openstack.org/Cinder': 'v1beta1',
  'client.openstack.org/OpenStackClient': 'v1beta1',
  'core.openstack.org/OpenStackControlPlane': 'v1beta1',
  'core.openstack.org/OpenStackVersion': 'v1beta1',
  'dataplane.openstack.org/OpenStackDataPlaneDeployment': 'v1beta1',
  'dataplane.openstack.org/OpenStackDataPlaneNodeSet': 'v1beta1',
  'dataplane.openstack.org/OpenStackDataPlaneService': 'v1beta1',
  'designate.openstack.org/Designate': 'v1beta1',
  'discovery.k8s.io/EndpointSlice': 'v1',
  'glance.openstack.org/Glance': 'v1beta1',
  'heat.openstack.org/Heat': 'v1beta1',
  'horizon.openstack.org/Horizon': 'v1beta1',
  'ironic.openstack.org/Ironic': 'v1beta1',
  'k8s.cni.cncf.io/NetworkAttachmentDefinition': 'v1',
  'keystone.openstack.org/KeystoneAPI': 'v1beta1',
  'keystone.openstack.org/KeystoneApplicationCredential': 'v1beta1',
  'keystone.openstack.org/KeystoneEndpoint': 'v1beta1',
  'manila.openstack.org/Manila': 'v1beta1',
  'mariadb.openstack.org/Galera': 'v1beta1',
  'memcached.openstack.org/Memcached': 'v1beta1',
  'metallb.io/BGPAdvertisement': 'v1beta1',
  'metallb.io/ConfigurationState': 'v1beta1',
  'metallb.io/IPAddressPool': 'v1beta1',
  'metallb.io/L2Advertisement': 'v1beta1',
  'metallb.io/ServiceL2Status': 'v1beta1',
  'network.openstack.org/BGPConfiguration': 'v1beta1',
  'network.openstack.org/DNSData': 'v1beta1',
  'network.openstack.org/DNSMasq': 'v1beta1',
  'network.openstack.org/IPSet': 'v1beta1',
  'network.openstack.org/NetConfig': 'v1beta1',
  'network.openstack.org/Reservation': 'v1beta1',
  'neutron.openstack.org/NeutronAPI': 'v1beta1',
  'nmstate.io/NodeNetworkConfigurationEnactment': 'v1beta1',
  'nmstate.io/NodeNetworkConfigurationPolicy': 'v1',
  'nmstate.io/NodeNetworkState': 'v1beta1',
  'nova.openstack.org/Nova': 'v1beta1',
  'octavia.openstack.org/Octavia': 'v1beta1',
  'operator.openstack.org/OpenStack': 'v1beta1',
  'operators.coreos.com/ClusterServiceVersion': 'v1alpha1',
  'operators.coreos.com/InstallPlan': 'v1alpha1',
  'operators.coreos.com/OperatorGroup': 'v1',
  'operators.coreos.com/Subscription': 'v1alpha1',
  'ovn.openstack.org/OVNDBCluster': 'v1beta1',
  'placement.openstack.org/PlacementAPI': 'v1beta1',
  'rabbitmq.openstack.org/RabbitMq': 'v1beta1',
  'rabbitmq.com/RabbitmqCluster': 'v1beta1',
  'route.openshift.io/Route': 'v1',
  'storage.k8s.io/StorageClass': 'v1',
  'swift.openstack.org/Swift': 'v1beta1',
  'telemetry.openstack.org/Telemetry': 'v1beta1',
  'whereabouts.cni.cncf.io/IPPool': 'v1alpha1',
  'whereabouts.cni.cncf.io/OverlappingRangeIPReservation': 'v1alpha1',
}

/** Objects of service operators, which all have the conditions of lib-common. */
export const openstackKinds: readonly string[] = Object.keys(kindVersions).filter(
  (groupKind) =>
    groupKind.includes('.openstack.org/') &&
    !groupKind.startsWith('dataplane.') &&
    !/(BGPConfiguration|NetConfig|Reservation|IPSet|DNSData|DNSMasq|OpenStackVersion|KeystoneEndpoint)$/.test(
      groupKind,
    ),
)

/** Kinds whose deletion may block. NetConfigs and running deployments have their own rules. */
export const kindsWithFinalizers: readonly string[] = [
  ...openstackKinds,
  'dataplane.openstack.org/OpenStackDataPlaneNodeSet',
  'network.openstack.org/DNSData',
  'network.openstack.org/DNSMasq',
  'network.openstack.org/IPSet',
  'rabbitmq.com/RabbitmqCluster',
  'PersistentVolumeClaim',
  'Service',
]

/** Kinds that are not listed: the command reads each object separately. */
export const SECRET = 'Secret'
export const NOVA_HOSTS = 'stackloom.dev/NovaHosts'

/** Every kind that a rule reads, once. */
export function kindsToGather(rules: readonly Rule[]): readonly GroupVersionKind[] {
  const groupKinds = new Set(rules.flatMap(({ looksAt, also }) => [...looksAt, ...also]))
  return [...groupKinds]
    .filter((groupKind) => groupKind !== SECRET && groupKind !== NOVA_HOSTS)
    .sort()
    .map(groupVersionKind)
}

/** `metallb.io/IPAddressPool` with the version that is read. */
export function groupVersionKind(groupKind: string): GroupVersionKind {
  const version = kindVersions[groupKind]
  if (version === undefined) throw new TypeError(`a rule reads ${groupKind}, which has no version`)
  const slash = groupKind.indexOf('/')
  if (slash < 0) return { apiVersion: version, kind: groupKind }
  return { apiVersion: `${groupKind.slice(0, slash)}/${version}`, kind: groupKind.slice(slash + 1) }
}
