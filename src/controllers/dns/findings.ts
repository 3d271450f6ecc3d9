/** SL6xxx: the DNS controllers and what their servers answer. */
import { problem } from '../../errors/finding.ts'

export const invalidDnsOption = problem<{ field: string; detail: string }>({
  code: 'SL6001',
  severity: 'error',
  title: 'An option of a DNSMasq cannot be written into its configuration',
  message: ({ field, detail }) => `${field}: ${detail}`,
  remedy: ({ field }) => `correct ${field}; until then the server goes on with the configuration that it has`,
  description: `Each option of a DNSMasq becomes one line of dnsmasq's configuration. A line break inside a value would begin
another directive, one that the list of allowed keys is there to keep out; a value that dnsmasq cannot read would be a
server that does not start. The webhook refuses both. Where no webhook was asked the controller keeps the old
configuration and says so in the condition ServiceConfigReady.`,
  example: {
    field: 'spec.options[0].values[0]',
    detail: 'server: a line break would start another directive',
  },
})

export const invalidHostAddress = problem<{ texts: readonly string[]; count: number }>({
  code: 'SL6002',
  severity: 'warning',
  title: 'A host of a DNSData has no address that a server can answer with',
  message: ({ texts, count }) =>
    `${count} ${count === 1 ? 'host has' : 'hosts have'} text that is not an IP address: ${texts.join(', ')}${count > texts.length ? ', …' : ''}`,
  remedy: () => 'write an IPv4 or IPv6 address; the other hosts of the object are served meanwhile',
  description: `The API takes any text as the address of a host, as upstream's does, and the ConfigMap has it as it was written.
No DNS server can answer with it, so the entry is left out of what dnsmasq reads. The rest of the object is served.`,
  example: { texts: ['host-ip-1'], count: 1 },
})

export const tooManyHosts = problem<{ bytes: number; most: number }>({
  code: 'SL6003',
  severity: 'error',
  title: 'The hosts of one DNSMasq do not fit into its ConfigMaps',
  message: ({ bytes, most }) => `one part of the hosts has ${bytes} bytes, and a ConfigMap holds ${most}`,
  remedy: () =>
    'serve some of the DNSData with a second DNSMasq, by another dnsDataLabelSelectorValue; until then the old hosts are served',
  description: `All hosts that a DNSMasq serves are spread over sixteen ConfigMaps by their address, together about a hundred and
fifty thousand hosts. More than that would be refused by the API server, so nothing is written and the server goes on with
what it has.`,
  example: { bytes: 1_200_000, most: 1_000_000 },
})

export const configMapNotOwned = problem<{ configMap: string; owner: string }>({
  code: 'SL6004',
  severity: 'error',
  title: 'A ConfigMap that a DNSData needs belongs to somebody else',
  message: ({ configMap, owner }) => `ConfigMap ${configMap} is there already, and ${owner}`,
  remedy: () => 'rename the DNSData, or remove the ConfigMap if nobody needs it',
  description: `The hosts of a DNSData go into a ConfigMap of the same name. One of that name which somebody else has made is not
overwritten: a hand-made ConfigMap with the label \`dnsmasqhosts\` is a source of hosts of its own.`,
  example: { configMap: 'openstack/somehosts', owner: 'no DNSData owns it' },
})

export const ingressWithoutAddress = problem<{ service: string; hostname: string }>({
  code: 'SL6005',
  severity: 'warning',
  title: 'A LoadBalancer has a name instead of an address',
  message: ({ service, hostname }) => `Service ${service} has the ingress ${hostname}, which is not an IP address`,
  remedy: () => 'give it an address from a MetalLB pool, or register it with a DNSData of your own',
  description: `A Service with the annotation \`dnsmasq.network.openstack.org/hostname\` is registered with the addresses of its load
balancer. Some load balancers give a host name instead; a hosts file has no place for it. The Service's other addresses and
all other Services are registered as usual.`,
  example: { service: 'openstack/keystone-internal', hostname: 'lb.example.com' },
})

export const wrongDnsAnswer = problem<{
  name: string
  server: string
  wanted: readonly string[]
  answered: readonly string[]
}>({
  code: 'SL6006',
  severity: 'error',
  title: 'A DNS server does not answer what it was told',
  message: ({ name, server, wanted, answered }) =>
    `${server} answers ${name} with ${answered.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`,
  remedy: () =>
    'look at the log of the dnsmasq pod: its lines that begin with `hosts:` say what it took; a kubelet may need a minute to bring a change',
  description: `The cluster's objects say which names a DNSMasq serves; \`stackloom dns status --query\` asks the server itself. A
difference that stays is a pod that does not see its ConfigMaps, a server that runs elsewhere, or an address that does not
lead to this server.`,
  example: {
    name: 'keystone-internal.openstack.svc',
    server: '192.168.122.80',
    wanted: ['172.17.0.80'],
    answered: [],
  },
})

export const dnsServerUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL6007',
  severity: 'error',
  title: 'A DNS server gives no answer',
  message: ({ server, reason }) => `${server} gives no answer: ${reason}`,
  remedy: () =>
    'ask from a machine on that network, or name a reachable one with `--server ADDRESS[:PORT]`; then look at the DNSMasq: `kubectl describe dnsmasq`',
  description: `The address of a DNSMasq is announced on the network of its pool, so not every machine can ask it. Where it should
be reachable, look whether its Deployment has a ready pod and whether MetalLB announces the address.`,
  example: { server: '192.168.122.80:53', reason: 'timed out after 2 s' },
})

export const topologyNotFound = problem<{ namespace: string; name: string }>({
  code: 'SL6008',
  severity: 'error',
  title: 'The Topology that a DNSMasq names is not there',
  message: ({ namespace, name }) => `Topology ${namespace}/${name} not found`,
  remedy: () => 'create the Topology, or remove topologyRef; until then the pods stay as they are',
  description: `A DNSMasq may name a Topology (topology.openstack.org), whose spread constraints its pods get. It is looked for in
the namespace of the DNSMasq.`,
  example: { namespace: 'openstack', name: 'spread-pods' },
})
