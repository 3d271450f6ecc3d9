/** SL9570 to SL9579: names. */
import { problem } from '../../errors/finding.ts'

export const noUpstream = problem<{ namespace: string; name: string }>({
  code: 'SL9570',
  severity: 'error',
  title: 'dnsmasq has no server to ask',
  message: () =>
    'it has no option server: it knows its own hosts and answers nothing else, and some versions do not start at all',
  remedy: ({ namespace }) =>
    `add a server in the control plane: kubectl -n ${namespace} edit openstackcontrolplane, spec.dns.template.options: [{key: server, values: [ADDRESS]}]`,
  description: `dnsmasq runs with \`--no-resolv\`: it does not read the node's resolv.conf, so the servers that it forwards to must be
given as options. Without one, data plane hosts cannot resolve anything but the cloud's own names: packages and images are not
found, and \`bootstrap\` fails on every host.`,
  example: { namespace: 'openstack', name: 'dns' },
})

export const dnsWaits = problem<{ service: string }>({
  code: 'SL9571',
  severity: 'error',
  title: 'dnsmasq waits for its address',
  message: ({ service }) => `it does not start: its Service ${service} has no address`,
  remedy: ({ service }) => `see why ${service} is pending; dnsmasq starts by itself afterwards`,
  description: `The operator makes the Deployment of dnsmasq only when the LoadBalancer Service has its address, because hosts are told
that address. Until then the cloud has no DNS at all.`,
  example: { service: 'openstack/dnsmasq-dns' },
})

export const twoServers = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9572',
  severity: 'error',
  title: 'A cloud has two dnsmasq',
  message: ({ names }) =>
    `${names.join(' and ')} are in one namespace: their Services select each other's pods, and node sets want exactly one`,
  remedy: () => 'delete the one that the control plane has not made',
  description: `All dnsmasq pods of a namespace carry the same label, which both Services select: a question reaches either server, and
only one knows the answer. A node set takes its DNS from the one DNSMasq of its namespace and waits when there are two.`,
  example: { namespace: 'openstack', names: ['dns', 'dnsmasq'] },
})

export const dataForNobody = problem<{ value: string; served: readonly string[] }>({
  code: 'SL9573',
  severity: 'error',
  title: 'Host names that no dnsmasq serves',
  message: ({ value, served }) =>
    `its dnsDataLabelSelectorValue is ${value}, and the dnsmasq of its namespace serves ${served.join(', ')}`,
  remedy: ({ served }) => `set spec.dnsDataLabelSelectorValue to ${served[0] ?? 'dnsdata'}`,
  description: `A DNSMasq serves the DNSData whose \`dnsDataLabelSelectorValue\` is its own; both are compared in lower case. Names in any
other are stored and never answered.`,
  example: { value: 'edpm', served: ['dnsdata'] },
})

export const badHost = problem<{ ip: string; hostnames: string }>({
  code: 'SL9574',
  severity: 'warning',
  title: 'A DNS record without a usable address',
  message: ({ ip, hostnames }) => `${hostnames} has ${JSON.stringify(ip)} for an address: dnsmasq passes over the line`,
  remedy: () => 'correct the record; if a node set made it, the address of the host is missing: see its IPSet',
  description: `Nothing checks the addresses of a DNSData. dnsmasq reads them as a hosts file and ignores lines that it cannot read,
without an error that anybody sees.`,
  example: { ip: '172.17.0.300', hostnames: 'compute-0.internalapi.example.com' },
})

export const ingressByName = problem<{ hostname: string; service: string }>({
  code: 'SL9575',
  severity: 'error',
  title: 'One Service keeps all names of its namespace from being written',
  message: ({ hostname }) =>
    `its load balancer gave the name ${hostname} and no address: the operator stops at it, and no Service of the namespace gets its name`,
  remedy: () => 'take the annotation dnsmasq.network.openstack.org/hostname off this Service, or let MetalLB serve it',
  description: `The operator collects the addresses of all Services with a host name annotation. An ingress without an IP address makes
it give up for the whole namespace ("unrecognized address"): names that are there stay, new ones never come.`,
  example: { hostname: 'lb.example.com', service: 'openstack/keystone-public' },
})

export const brokenOption = problem<{ key: string; why: string }>({
  code: 'SL9576',
  severity: 'error',
  title: 'An option of dnsmasq that breaks its configuration',
  message: ({ key, why }) => `the option ${key} ${why}`,
  remedy: () => 'correct spec.dns.template.options in the control plane',
  description: `Options are written into dnsmasq's configuration as they are. A line end begins a new directive, and \`{{\` is expanded as
a template before it is written: dnsmasq does not start, or does something that nobody asked for.`,
  example: { key: 'server', why: 'holds a line end: what follows is a directive of its own' },
})
