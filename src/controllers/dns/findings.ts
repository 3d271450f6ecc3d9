/** SL6xxx: findings of the DNS controllers and of what their servers answer. */
import { problem } from '../../errors/finding.ts'

export const invalidDnsOption = problem<{ field: string; detail: string }>({
  code: 'SL6001',
  severity: 'error',
  title: 'An option of a DNSMasq cannot be written to its configuration',
  message: ({ field, detail }) => `${field}: ${detail}`,
  remedy: ({ field }) => `correct ${field}; until then the server keeps its configuration`,
  description: `Each option of a DNSMasq becomes one line of dnsmasq's configuration. A line break in a value would start
another directive, possibly one that is not in the list of allowed keys, and dnsmasq does not start with a value that it
cannot parse. The webhook refuses both. Where the webhook was not called, the controller keeps the old configuration and
reports the problem in the condition ServiceConfigReady.`,
  example: {
    field: 'spec.options[0].values[0]',
    detail: 'server: a line break would start another directive',
  },
})

export const invalidHostAddress = problem<{ texts: readonly string[]; count: number }>({
  code: 'SL6002',
  severity: 'warning',
  title: 'A host of a DNSData has no valid address',
  message: ({ texts, count }) =>
    `${count} ${count === 1 ? 'host has' : 'hosts have'} text that is not an IP address: ${texts.join(', ')}${count > texts.length ? ', …' : ''}`,
  remedy: () => 'write an IPv4 or IPv6 address; the other hosts of the object are served meanwhile',
  description: `The API accepts any text as the address of a host, like upstream does, and the ConfigMap has it as it was
written. No DNS server can answer with it, so dnsmasq does not get the entry. The rest of the object is served.`,
  example: { texts: ['host-ip-1'], count: 1 },
})

export const tooManyHosts = problem<{ bytes: number; most: number }>({
  code: 'SL6003',
  severity: 'error',
  title: 'The hosts of a DNSMasq do not fit in its ConfigMaps',
  message: ({ bytes, most }) => `a part of the hosts has ${bytes} bytes, and a ConfigMap holds ${most}`,
  remedy: () =>
    'serve some of the DNSData with a second DNSMasq and another dnsDataLabelSelectorValue; until then the old hosts are served',
  description: `The hosts of a DNSMasq are distributed by address over sixteen ConfigMaps, which hold about 150,000 hosts
together. The API server would refuse more, so nothing is written and the server keeps the hosts that it has.`,
  example: { bytes: 1_200_000, most: 1_000_000 },
})

export const configMapNotOwned = problem<{ configMap: string; owner: string }>({
  code: 'SL6004',
  severity: 'error',
  title: 'A ConfigMap that a DNSData needs belongs to another object',
  message: ({ configMap, owner }) => `ConfigMap ${configMap} exists already, and ${owner}`,
  remedy: () => 'rename the DNSData, or remove the ConfigMap if it is not needed',
  description: `The hosts of a DNSData are copied to a ConfigMap with the same name. A ConfigMap that was created otherwise is
not overwritten: with the label \`dnsmasqhosts\` it may be a source of hosts itself.`,
  example: { configMap: 'openstack/somehosts', owner: 'no DNSData owns it' },
})

export const ingressWithoutAddress = problem<{ service: string; hostname: string }>({
  code: 'SL6005',
  severity: 'warning',
  title: 'A LoadBalancer has a host name instead of an address',
  message: ({ service, hostname }) => `Service ${service} has the ingress ${hostname}, which is not an IP address`,
  remedy: () => 'give it an address from a MetalLB pool, or register it with a DNSData of your own',
  description: `A Service with the annotation \`dnsmasq.network.openstack.org/hostname\` is registered with the addresses of
its load balancer. Some load balancers report a host name instead, which a hosts file cannot hold. Other addresses of the
Service and all other Services are registered.`,
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
  title: 'A DNS server answers something else than configured',
  message: ({ name, server, wanted, answered }) =>
    `${server} answers ${name} with ${answered.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`,
  remedy: () =>
    'read the log of the dnsmasq pod: lines that begin with `hosts:` say what it loaded; a kubelet may need a minute to update a volume',
  description: `The objects in the cluster define which names a DNSMasq serves; \`stackloom dns status --query\` asks the
server. A lasting difference means that the pod does not see its ConfigMaps, that another server runs at the address, or
that the address does not lead to this server.`,
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
  title: 'A DNS server does not answer',
  message: ({ server, reason }) => `${server} does not answer: ${reason}`,
  remedy: () =>
    'query from a machine on that network, or name a reachable server with `--server ADDRESS[:PORT]`; then check the DNSMasq: `kubectl describe dnsmasq`',
  description: `The address of a DNSMasq is announced on the network of its pool, so not every machine can reach it. Where it
should be reachable, check that its Deployment has a ready pod and that MetalLB announces the address.`,
  example: { server: '192.168.122.80:53', reason: 'timed out after 2 s' },
})

export const topologyNotFound = problem<{ namespace: string; name: string }>({
  code: 'SL6008',
  severity: 'error',
  title: 'The Topology that a DNSMasq references does not exist',
  message: ({ namespace, name }) => `Topology ${namespace}/${name} not found`,
  remedy: () => 'create the Topology, or remove topologyRef; until then the pods stay as they are',
  description: `A DNSMasq may reference a Topology (topology.openstack.org) in its namespace, whose spread constraints its
pods get.`,
  example: { namespace: 'openstack', name: 'spread-pods' },
})
