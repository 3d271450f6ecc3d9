/** SL9570 to SL9579: DNS. */
import { problem } from '../../errors/finding.ts'

export const noUpstream = problem<{ namespace: string; name: string }>({
  code: 'SL9570',
  severity: 'error',
  message: () => 'it has no option server: it answers only for its own hosts, and some versions do not start at all',
  remedy: ({ namespace }) =>
    `add a server in the control plane: \`kubectl -n ${namespace} edit openstackcontrolplane\`, spec.dns.template.options: [{key: server, values: [ADDRESS]}]`,
})

export const dnsWaitsForAddress = problem<{ service: string }>({
  code: 'SL9571',
  severity: 'error',
  message: ({ service }) => `it does not start: its Service ${service} has no address`,
  remedy: ({ service }) => `check why ${service} is pending; dnsmasq starts automatically afterwards`,
})

export const twoServers = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9572',
  severity: 'error',
  message: ({ names }) =>
    `${names.join(' and ')} are in one namespace: their Services select each other's pods, and node sets need exactly one`,
  remedy: () => 'delete the one that the control plane did not create',
})

export const dnsDataUnserved = problem<{ value: string; served: readonly string[] }>({
  code: 'SL9573',
  severity: 'error',
  message: ({ value, served }) =>
    `its dnsDataLabelSelectorValue is ${value}, but the dnsmasq of its namespace serves ${served.join(', ')}`,
  remedy: ({ served }) => `set spec.dnsDataLabelSelectorValue to ${served[0] ?? 'dnsdata'}`,
})

export const badHost = problem<{ ip: string; hostnames: string }>({
  code: 'SL9574',
  severity: 'warning',
  message: ({ ip, hostnames }) => `${hostnames} has the address ${JSON.stringify(ip)}: dnsmasq ignores the line`,
  remedy: () => 'correct the record; if a node set created it, the host has no address: check its IPSet',
})

export const ingressByName = problem<{ hostname: string; service: string }>({
  code: 'SL9575',
  severity: 'error',
  message: ({ hostname }) =>
    `its load balancer returned the name ${hostname} but no address: the operator stops there, and no Service of the namespace gets its DNS name`,
  remedy: () =>
    'remove the annotation dnsmasq.network.openstack.org/hostname from this Service, or let MetalLB serve it',
})

export const brokenOption = problem<{ key: string; why: string }>({
  code: 'SL9576',
  severity: 'error',
  message: ({ key, why }) => `the option ${key} ${why}`,
  remedy: () => 'correct spec.dns.template.options in the control plane',
})
