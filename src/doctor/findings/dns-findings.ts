/** SL9570 to SL9579: DNS. */
import { problem } from '../../errors/finding.ts'

export const noUpstream = problem<{ namespace: string; name: string }>({
  code: 'SL9570',
  severity: 'error',
  title: 'dnsmasq has no upstream server',
  message: () => 'it has no option server: it answers only for its own hosts, and some versions do not start at all',
  remedy: ({ namespace }) =>
    `add a server in the control plane: kubectl -n ${namespace} edit openstackcontrolplane, spec.dns.template.options: [{key: server, values: [ADDRESS]}]`,
  description: `dnsmasq runs with \`--no-resolv\`: it does not read the node's resolv.conf, so its upstream servers must be set as options.
Without one, data plane hosts resolve only the cloud's own names: packages and images are not found, and \`bootstrap\` fails on
every host.`,
  example: { namespace: 'openstack', name: 'dns' },
})

export const dnsWaitsForAddress = problem<{ service: string }>({
  code: 'SL9571',
  severity: 'error',
  title: 'dnsmasq waits for its address',
  message: ({ service }) => `it does not start: its Service ${service} has no address`,
  remedy: ({ service }) => `check why ${service} is pending; dnsmasq starts automatically afterwards`,
  description: `The operator creates the dnsmasq Deployment only when the LoadBalancer Service has its address, because hosts are configured
with that address. Until then the cloud has no DNS.`,
  example: { service: 'openstack/dnsmasq-dns' },
})

export const twoServers = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9572',
  severity: 'error',
  title: 'A cloud has two DNSMasq objects',
  message: ({ names }) =>
    `${names.join(' and ')} are in one namespace: their Services select each other's pods, and node sets need exactly one`,
  remedy: () => 'delete the one that the control plane did not create',
  description: `All dnsmasq pods of a namespace have the same label, which both Services select: a query reaches either server, and only one
knows the answer. A node set uses the single DNSMasq of its namespace and waits when there are two.`,
  example: { namespace: 'openstack', names: ['dns', 'dnsmasq'] },
})

export const dnsDataUnserved = problem<{ value: string; served: readonly string[] }>({
  code: 'SL9573',
  severity: 'error',
  title: 'No dnsmasq serves some host names',
  message: ({ value, served }) =>
    `its dnsDataLabelSelectorValue is ${value}, but the dnsmasq of its namespace serves ${served.join(', ')}`,
  remedy: ({ served }) => `set spec.dnsDataLabelSelectorValue to ${served[0] ?? 'dnsdata'}`,
  description: `A DNSMasq serves the DNSData objects with its own \`dnsDataLabelSelectorValue\`, compared in lower case. Names in other
DNSData objects are stored but never answered.`,
  example: { value: 'edpm', served: ['dnsdata'] },
})

export const badHost = problem<{ ip: string; hostnames: string }>({
  code: 'SL9574',
  severity: 'warning',
  title: 'A DNS record has no valid address',
  message: ({ ip, hostnames }) => `${hostnames} has the address ${JSON.stringify(ip)}: dnsmasq ignores the line`,
  remedy: () => 'correct the record; if a node set created it, the host has no address: check its IPSet',
  description: `The addresses of a DNSData object are not validated. dnsmasq reads them as a hosts file and silently ignores invalid lines.`,
  example: { ip: '172.17.0.300', hostnames: 'compute-0.internalapi.example.com' },
})

export const ingressByName = problem<{ hostname: string; service: string }>({
  code: 'SL9575',
  severity: 'error',
  title: 'One Service blocks the DNS names of its namespace',
  message: ({ hostname }) =>
    `its load balancer returned the name ${hostname} but no address: the operator stops there, and no Service of the namespace gets its DNS name`,
  remedy: () =>
    'remove the annotation dnsmasq.network.openstack.org/hostname from this Service, or let MetalLB serve it',
  description: `The operator collects the addresses of all Services with a host name annotation. An ingress without an IP address makes it
fail for the whole namespace ("unrecognized address"): existing names stay, but new names are never added.`,
  example: { hostname: 'lb.example.com', service: 'openstack/keystone-public' },
})

export const brokenOption = problem<{ key: string; why: string }>({
  code: 'SL9576',
  severity: 'error',
  title: 'A dnsmasq option breaks its configuration',
  message: ({ key, why }) => `the option ${key} ${why}`,
  remedy: () => 'correct spec.dns.template.options in the control plane',
  description: `Options are copied into the dnsmasq configuration unchanged. A newline starts a new directive, and \`{{\` is expanded as a
template first: dnsmasq does not start, or behaves in an unexpected way.`,
  example: { key: 'server', why: 'contains a newline: the rest becomes a separate directive' },
})
