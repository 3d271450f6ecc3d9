/** SL903x to SL907x: what `verify` finds about pods, hosts, nodes, names and endpoints. */
import { problem } from '../../errors/finding.ts'

export const podAddressOutside = problem<{ pool: string; pod: string; address: string; planned: string }>({
  code: 'SL9031',
  severity: 'error',
  title: 'whereabouts holds an address outside its span',
  message: ({ pool, pod, address, planned }) => `IPPool ${pool} holds ${address} for ${pod}; planned is ${planned}`,
  remedy: () =>
    'delete the pod, so that it gets a new address; a whereabouts entry without a pod goes with its reconciler',
  description: `whereabouts counts by range and \`network_name\`. An entry outside the span was given before the span was changed, or
by a NetworkAttachmentDefinition that is not ours. The address may belong to a VIP, a node or a host.`,
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
    `look at the NetworkAttachmentDefinition of ${pod}: its range must not touch another cloud's subnets`,
  description: `Two NetworkAttachmentDefinitions with one range and one \`network_name\` share whereabouts' book; with two names they
both start at the lowest address. Either way pods of two clouds stand in one subnet.`,
  example: { cloud: 'rhoso1', pod: 'openstack2/glance-0', address: '172.17.0.30', network: 'internalapi' },
})

export const reservationOutside = problem<{
  reservation: string
  network: string
  address: string
  planned: string
}>({
  code: 'SL9033',
  severity: 'error',
  title: 'A Reservation holds an address outside the span for hosts',
  message: ({ reservation, network, address, planned }) =>
    `Reservation ${reservation} holds ${address} on ${network}; planned is ${planned}`,
  remedy: () =>
    'delete the IPSet and let it be made again, or plan the address: `hosts` with `addresses` in the site file',
  description: `The addresses of data plane hosts come from NetConfig's allocationRanges. One outside was given by an older
NetConfig, or as a fixedIP that the site does not know; whereabouts or MetalLB may give it to somebody else.`,
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
  title: 'A pod is not on a network that it asks for',
  message: ({ pod, network, why }) =>
    why === 'absent'
      ? `pod ${pod} asks for ${network}, and its network-status does not have it`
      : `pod ${pod} is attached to ${network} without an address`,
  remedy: ({ pod }) => `look at the events of ${pod}: Multus says why it could not attach`,
  description: `Multus writes what it attached into \`k8s.v1.cni.cncf.io/network-status\`. A service whose pod lacks its network
answers on the cluster's own network only: storage and the data plane do not reach it.`,
  example: { pod: 'openstack/glance-default-internal-api-0', network: 'storage', why: 'absent' },
})

export const podAddressForeign = problem<{ pod: string; network: string; address: string; planned: string }>({
  code: 'SL9035',
  severity: 'error',
  title: "A pod's address is not of its cloud's span",
  message: ({ pod, network, address, planned }) => `pod ${pod} has ${address} on ${network}; planned is ${planned}`,
  remedy: () => 'restart the pod after `stackloom up` has restored the NetworkAttachmentDefinition',
  description: `The pod was attached while the NetworkAttachmentDefinition said something else, or through another one. It keeps
its address until it is made again.`,
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
  title: 'A control plane asks for networks and no pod is on any',
  message: ({ cloud, namespace, networks }) =>
    `no running pod of ${namespace} asks for a network, and the control plane of ${cloud} wants pods on ${networks.join(', ')}`,
  remedy: ({ namespace }) =>
    `see whether the pods run, and what they ask for: kubectl -n ${namespace} get pods; stackloom status`,
  description: `The operators annotate the pods of a service with the networks that the control plane names in
\`networkAttachments\`. When no pod has the annotation, the services do not run, or run without their networks: what is
planned for them is proved by nothing.`,
  example: { cloud: 'rhoso1', namespace: 'openstack', networks: ['internalapi', 'storage', 'tenant'] },
})

export const policyNotEnacted = problem<{ policy: string; why: string; next: string | undefined }>({
  code: 'SL9041',
  severity: 'error',
  title: 'A node does not have its planned networking',
  message: ({ policy, why }) => `NodeNetworkConfigurationPolicy ${policy}: ${why}`,
  remedy: ({ next, policy }) => next ?? `kubectl get nnce -l nmstate.io/policy=${policy}`,
  description: `A policy is in force when every node that it selects has an enactment of the policy's current generation that is
Available. The policy's own condition may still speak of the generation before.`,
  example: {
    policy: 'openstack-worker-1',
    why: 'node worker-1 to take up generation 2',
    next: undefined,
  },
})

export const dnsRecordWrong = problem<{ cloud: string; name: string; has: string; planned: string }>({
  code: 'SL9051',
  severity: 'error',
  title: 'A DNS record leads to another address than planned',
  message: ({ cloud, name, has, planned }) => `${name} of ${cloud} is recorded as ${has}, planned is ${planned}`,
  remedy: () =>
    'the records of Services follow the Services: repair the Service first; for hosts run `stackloom up --stage netconfig`',
  description: `DNSData objects are what the cloud's dnsmasq answers from. Data plane hosts find the APIs by these names.`,
  example: {
    cloud: 'rhoso1',
    name: 'keystone-internal.openstack.svc',
    has: '172.17.0.81',
    planned: '172.17.0.80',
  },
})

export const dnsAnswerWrong = problem<{ server: string; name: string; answer: string; planned: string }>({
  code: 'SL9052',
  severity: 'error',
  title: "A cloud's DNS server answers with another address than planned",
  message: ({ server, name, answer, planned }) => `${server} answers ${answer} for ${name}, planned is ${planned}`,
  remedy: () => 'look at the DNSData of the namespace and at the dnsmasq pods: they may run with older records',
  description: `The cloud's own dnsmasq was asked over the network, as a data plane host asks it. Its records are right only after
its pods were restarted with the newest hosts files.`,
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
  title: "A cloud's DNS server could not be asked from here",
  message: ({ server, reason }) => `DNS server ${server} does not answer this machine: ${reason}`,
  remedy: () => 'run verify with --ask-dns from a machine on the ctlplane network, or leave the option out',
  description: `The dnsmasq of a cloud answers on its ctlplane VIP. A machine without a route to that network cannot ask it, which
says nothing about the server; the records themselves were checked on the cluster.`,
  example: { server: '192.168.122.80', reason: 'timeout' },
})

export const endpointElsewhere = problem<{ endpoint: string; face: string; url: string; planned: string }>({
  code: 'SL9061',
  severity: 'error',
  title: 'An endpoint in keystone does not lead to the planned address',
  message: ({ endpoint, face, url, planned }) =>
    `KeystoneEndpoint ${endpoint}: ${face} is ${url}, planned is ${planned}`,
  remedy: () => 'repair the Service or Route that it names; the operator writes the endpoint anew by itself',
  description: `Clients take their addresses from keystone's catalogue. The internal URL must name the Service that holds the
planned VIP; the public one the Route of this namespace, or the Service with the planned public VIP.`,
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
  title: "An endpoint in keystone names another cloud's host",
  message: ({ endpoint, face, url, other }) => `KeystoneEndpoint ${endpoint}: ${face} is ${url}, a host of ${other}`,
  remedy: ({ other }) => `correct the override that names ${other}: clients of this cloud talk to the wrong one`,
  description: `The catalogue of one cloud leads into another one. It comes from a control plane that was copied between clouds with
its URLs, or from an endpointURL override.`,
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
  title: 'A cloud has services and no endpoint in keystone',
  message: ({ cloud, namespace, services }) =>
    `${namespace} has no KeystoneEndpoint, and ${cloud} has ${services.join(', ')}: clients find none of them`,
  remedy: ({ namespace }) =>
    `see how far the control plane got: stackloom status, kubectl -n ${namespace} get openstackcontrolplane -o yaml`,
  description: `The operator of each service registers it with a KeystoneEndpoint. A cloud without a single one is not ready, or its
operators do not run: there is nothing whose addresses could be proved.`,
  example: { cloud: 'rhoso1', namespace: 'openstack', services: ['placement', 'glance', 'neutron', 'nova'] },
})

export const leftover = problem<{ what: string; why: string }>({
  code: 'SL9071',
  severity: 'error',
  title: 'Something of an older deployment is still there',
  message: ({ what, why }) => `${what} is left over: ${why}`,
  remedy: ({ what }) => `if nothing uses it any more, delete it: ${what}; \`stackloom adopt\` moves what still does`,
  description: `install_yamls names pools and advertisements after the network alone (\`internalapi\`), for every cloud the same: the
second cloud overwrites the first, and the pool serves whoever comes. A site of Stackloom names them
\`<namespace>-<network>\`. What carries our labels for a cloud that the site no longer has is left from a removal.`,
  example: {
    what: 'IPAddressPool metallb-system/internalapi',
    why: 'it has the name of a network, without a cloud',
  },
})

export const heldTwice = problem<{ address: string; who: readonly string[] }>({
  code: 'SL9081',
  severity: 'error',
  title: 'Two hold one address',
  message: ({ address, who }) => `${address} is held by ${who.join(' and ')}`,
  remedy: () => 'take it from the one that the plan does not name; `stackloom ip ADDRESS --live` shows who gave it',
  description: `The allocators on a cluster do not know of each other: MetalLB, whereabouts, NetConfig and nmstate each believe that
a range is theirs. When two of them give one address, both holders answer, and connections break at random.`,
  example: { address: '172.17.0.85', who: ['Service openstack/rabbitmq', 'Pod openstack/glance-0'] },
})

export const heldByOther = problem<{ address: string; who: string; planned: string }>({
  code: 'SL9082',
  severity: 'error',
  title: 'An address is held by another namespace than planned',
  message: ({ address, who, planned }) => `${address} belongs to ${planned} by the plan, and ${who} holds it`,
  remedy: () => '`stackloom verify` finds how it got there: an open pool, overlapping pools, or a foreign attachment',
  description: `The plan gives each address to one cloud. A holder in another namespace got it from an allocator that the plan does
not know, or from one of ours that was opened by hand.`,
  example: { address: '172.17.0.85', who: 'Service openstack2/rabbitmq', planned: 'openstack' },
})
