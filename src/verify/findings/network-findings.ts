/** SL903x to SL908x: findings of `verify` about pods, hosts, nodes, DNS and endpoints. */
import { problem } from '../../errors/finding.ts'

export const podAddressOutside = problem<{ pool: string; pod: string; address: string; planned: string }>({
  code: 'SL9031',
  severity: 'error',
  title: 'whereabouts allocated an address outside its span',
  message: ({ pool, pod, address, planned }) => `IPPool ${pool} has ${address} for ${pod}; planned is ${planned}`,
  remedy: () =>
    'delete the pod so that it gets a new address; the reconciler of whereabouts removes entries without a pod',
  description: `whereabouts allocates per range and \`network_name\`. An address outside the span was allocated before the span was changed, or
through a NetworkAttachmentDefinition that is not part of the site. The address may also be a VIP, or belong to a node or host.`,
  example: {
    pool: 'kube-system/openstack-internalapi-172.17.0.0-24',
    pod: 'openstack/glance-0',
    address: '172.17.0.85',
    planned: 'pods 172.17.0.30-172.17.0.70',
  },
})

export const foreignPod = problem<{ cloud: string; pod: string; address: string; network: string }>({
  code: 'SL9032',
  severity: 'error',
  title: "A pod of another namespace has a cloud's address",
  message: ({ cloud, pod, address, network }) => `pod ${pod} has ${address}, which is in ${network} of ${cloud}`,
  remedy: ({ pod }) =>
    `correct the NetworkAttachmentDefinition of ${pod}: its range must not overlap with another cloud's subnets`,
  description: `Two NetworkAttachmentDefinitions with the same range and \`network_name\` share one IPPool; with different names both allocate
from the lowest address. In both cases pods of two clouds are in one subnet.`,
  example: { cloud: 'rhoso1', pod: 'openstack2/glance-0', address: '172.17.0.30', network: 'internalapi' },
})

export const reservationOutside = problem<{ reservation: string; network: string; address: string; planned: string }>({
  code: 'SL9033',
  severity: 'error',
  title: 'A Reservation has an address outside the hosts span',
  message: ({ reservation, network, address, planned }) =>
    `Reservation ${reservation} has ${address} on ${network}; planned is ${planned}`,
  remedy: () =>
    'delete the IPSet so that it is created again, or plan the address: `hosts` with `addresses` in the site file',
  description: `The addresses of data plane hosts come from the allocationRanges of the NetConfig. An address outside was reserved by an older
NetConfig, or as a fixedIP that is not in the site file; whereabouts or MetalLB may assign it again.`,
  example: {
    reservation: 'openstack/edpm-compute-0',
    network: 'internalapi',
    address: '172.17.0.31',
    planned: 'hosts 172.17.0.100-172.17.0.250',
  },
})

export const podWithoutNetwork = problem<{ pod: string; network: string; why: 'absent' | 'no address' }>({
  code: 'SL9034',
  severity: 'error',
  title: 'A pod is not attached to a requested network',
  message: ({ pod, network, why }) =>
    why === 'absent'
      ? `pod ${pod} requests ${network}, but its network-status does not list it`
      : `pod ${pod} is attached to ${network} without an address`,
  remedy: ({ pod }) => `check the events of ${pod}: Multus reports why it could not attach`,
  description: `Multus records attached networks in \`k8s.v1.cni.cncf.io/network-status\`. A service whose pod lacks its network is reachable
only on the pod network of the cluster, not from storage and the data plane.`,
  example: { pod: 'openstack/glance-default-internal-api-0', network: 'storage', why: 'absent' },
})

export const podAddressForeign = problem<{ pod: string; network: string; address: string; planned: string }>({
  code: 'SL9035',
  severity: 'error',
  title: "A pod's address is outside its cloud's span",
  message: ({ pod, network, address, planned }) => `pod ${pod} has ${address} on ${network}; planned is ${planned}`,
  remedy: () => 'run `stackloom up` to restore the NetworkAttachmentDefinition, then restart the pod',
  description: `The pod was attached while the NetworkAttachmentDefinition was different, or through another one. It keeps its address until it
is created again.`,
  example: {
    pod: 'openstack/ovsdbserver-nb-0',
    network: 'internalapi',
    address: '172.27.0.30',
    planned: 'pods 172.17.0.30-172.17.0.70',
  },
})

export const attachedPodsAbsent = problem<{ cloud: string; namespace: string; networks: readonly string[] }>({
  code: 'SL9036',
  severity: 'error',
  title: 'A control plane requests networks, but no pod is attached to any',
  message: ({ cloud, namespace, networks }) =>
    `no running pod of ${namespace} requests a network, but the control plane of ${cloud} requests ${networks.join(', ')}`,
  remedy: ({ namespace }) => `check the pods and their annotations: kubectl -n ${namespace} get pods; stackloom status`,
  description: `The operators annotate the pods of a service with the \`networkAttachments\` of the control plane. If no pod has the annotation,
the services do not run, or run without their networks, and the check proves nothing.`,
  example: { cloud: 'rhoso1', namespace: 'openstack', networks: ['internalapi', 'storage', 'tenant'] },
})

export const policyNotEnacted = problem<{ policy: string; why: string; next: string | undefined }>({
  code: 'SL9041',
  severity: 'error',
  title: 'A node does not have its planned network configuration',
  message: ({ policy, why }) => `NodeNetworkConfigurationPolicy ${policy}: ${why}`,
  remedy: ({ next, policy }) => next ?? `kubectl get nnce -l nmstate.io/policy=${policy}`,
  description: `A policy is applied when every selected node has an Available enactment of the current generation of the policy. The condition
of the policy itself may still refer to the previous generation.`,
  example: { policy: 'openstack-worker-1', why: 'waits for node worker-1 to apply generation 2', next: undefined },
})

export const dnsRecordWrong = problem<{ cloud: string; name: string; has: string; planned: string }>({
  code: 'SL9051',
  severity: 'error',
  title: 'A DNS record has a different address than planned',
  message: ({ cloud, name, has, planned }) => `${name} of ${cloud} is recorded as ${has}, planned is ${planned}`,
  remedy: () =>
    'for a Service, fix the Service first: its record follows; for hosts run `stackloom up --stage netconfig`',
  description: `The dnsmasq of the cloud answers from DNSData objects. Data plane hosts use these names to reach the APIs.`,
  example: { cloud: 'rhoso1', name: 'keystone-internal.openstack.svc', has: '172.17.0.81', planned: '172.17.0.80' },
})

export const dnsAnswerWrong = problem<{ server: string; name: string; answer: string; planned: string }>({
  code: 'SL9052',
  severity: 'error',
  title: "A cloud's DNS server returns a different address than planned",
  message: ({ server, name, answer, planned }) => `${server} answers ${answer} for ${name}, planned is ${planned}`,
  remedy: () => 'check the DNSData of the namespace and the dnsmasq pods, which may still use older records',
  description: `The dnsmasq of the cloud was queried over the network, as a data plane host does. Its answers are current only after its pods
were restarted with the newest hosts files.`,
  example: {
    server: '192.168.122.80',
    name: 'keystone-internal.openstack.svc',
    answer: 'nothing',
    planned: '172.17.0.80',
  },
})

export const dnsUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL9053',
  severity: 'warning',
  title: "A cloud's DNS server could not be queried from this machine",
  message: ({ server, reason }) => `DNS server ${server} does not answer this machine: ${reason}`,
  remedy: () => 'run verify --ask-dns from a machine on the ctlplane network, or omit the option',
  description: `The dnsmasq of a cloud listens on its ctlplane VIP. A machine without a route to that network cannot query it, which does not
mean that the server is wrong; the records on the cluster were checked.`,
  example: { server: '192.168.122.80', reason: 'timeout' },
})

export const endpointElsewhere = problem<{ endpoint: string; face: string; url: string; planned: string }>({
  code: 'SL9061',
  severity: 'error',
  title: 'A keystone endpoint does not point to the planned address',
  message: ({ endpoint, face, url, planned }) =>
    `KeystoneEndpoint ${endpoint}: ${face} is ${url}, planned is ${planned}`,
  remedy: () => 'fix the Service or Route in the URL; the operator then updates the endpoint',
  description: `Clients get addresses from the keystone catalog. The internal URL must point to the Service with the planned VIP; the public URL
must point to the Route of this namespace, or to the Service with the planned public VIP.`,
  example: {
    endpoint: 'openstack/glance',
    face: 'internal',
    url: 'https://glance-default-internal.openstack2.svc:9292',
    planned: 'a Service of openstack with 172.17.0.80',
  },
})

export const endpointForeign = problem<{ endpoint: string; face: string; url: string; other: string }>({
  code: 'SL9062',
  severity: 'error',
  title: 'A keystone endpoint points to another cloud',
  message: ({ endpoint, face, url, other }) => `KeystoneEndpoint ${endpoint}: ${face} is ${url}, a host of ${other}`,
  remedy: ({ other }) =>
    `correct the override that refers to ${other}: clients of this cloud connect to the wrong cloud`,
  description: `The catalog of one cloud points to another cloud. Usually the control plane was copied between clouds with its URLs, or an
endpointURL override is wrong.`,
  example: {
    endpoint: 'openstack/glance',
    face: 'public',
    url: 'https://glance-public-openstack2.apps.example.com',
    other: 'rhoso2',
  },
})

export const endpointsAbsent = problem<{ cloud: string; namespace: string; services: readonly string[] }>({
  code: 'SL9063',
  severity: 'error',
  title: 'A cloud has services but no keystone endpoints',
  message: ({ cloud, namespace, services }) =>
    `${namespace} has no KeystoneEndpoint, but ${cloud} has ${services.join(', ')}: clients cannot find them`,
  remedy: ({ namespace }) =>
    `check the control plane: stackloom status, kubectl -n ${namespace} get openstackcontrolplane -o yaml`,
  description: `The operator of each service registers it with a KeystoneEndpoint. A cloud without any KeystoneEndpoint is not ready, or its
operators do not run, and the check proves nothing.`,
  example: { cloud: 'rhoso1', namespace: 'openstack', services: ['placement', 'glance', 'neutron', 'nova'] },
})

export const leftover = problem<{ what: string; why: string }>({
  code: 'SL9071',
  severity: 'error',
  title: 'An object of an older deployment is left over',
  message: ({ what, why }) => `${what} is left over: ${why}`,
  remedy: ({ what }) => `if nothing uses it, delete it: ${what}; otherwise migrate its users with \`stackloom adopt\``,
  description: `install_yamls uses the network name for pools and advertisements (\`internalapi\`), so a second cloud overwrites the first, and
the pool serves every namespace. Stackloom uses \`<namespace>-<network>\`. An object with the labels of a cloud that is no longer
in the site file is left from a removed cloud.`,
  example: { what: 'IPAddressPool metallb-system/internalapi', why: 'its name is a network name without a cloud' },
})

export const heldTwice = problem<{ address: string; holders: readonly string[] }>({
  code: 'SL9081',
  severity: 'error',
  title: 'Two objects have one address',
  message: ({ address, holders }) => `${address} is held by ${holders.join(' and ')}`,
  remedy: () =>
    'release it from the holder that is not planned; `stackloom ip ADDRESS --live` shows which allocator assigned it',
  description: `The allocators of a cluster do not know each other: MetalLB, whereabouts, NetConfig and nmstate each treat a range as their own.
When two of them assign the same address, both holders answer, and connections break at random.`,
  example: { address: '172.17.0.85', holders: ['Service openstack/rabbitmq', 'Pod openstack/glance-0'] },
})

export const heldByOther = problem<{ address: string; holder: string; planned: string }>({
  code: 'SL9082',
  severity: 'error',
  title: 'An address is used in a different namespace than planned',
  message: ({ address, holder, planned }) => `${address} is planned for ${planned}, but ${holder} has it`,
  remedy: () => 'run `stackloom verify` to find the cause: an open pool, overlapping pools, or a foreign attachment',
  description: `The plan assigns each address to one cloud. A holder in another namespace got it from an allocator that is not planned, or from
a planned one whose scope was changed manually.`,
  example: { address: '172.17.0.85', holder: 'Service openstack2/rabbitmq', planned: 'openstack' },
})
