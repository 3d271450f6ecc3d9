/** SL6xxx: findings of the DNS controllers and of what their servers answer. */
import { problem } from '../../errors/finding.ts'

export const invalidDnsOption = problem<{ field: string; detail: string }>({
  code: 'SL6001',
  severity: 'error',
  message: ({ field, detail }) => `${field}: ${detail}`,
  remedy: ({ field }) => `correct ${field}; until then the server keeps its configuration`,
})

export const invalidHostAddress = problem<{ texts: readonly string[]; count: number }>({
  code: 'SL6002',
  severity: 'warning',
  message: ({ texts, count }) =>
    `${count} ${count === 1 ? 'host has' : 'hosts have'} text that is not an IP address: ${texts.join(', ')}${count > texts.length ? ', …' : ''}`,
  remedy: () => 'write an IPv4 or IPv6 address; the other hosts of the object are served meanwhile',
})

export const tooManyHosts = problem<{ bytes: number; most: number }>({
  code: 'SL6003',
  severity: 'error',
  message: ({ bytes, most }) => `a part of the hosts has ${bytes} bytes, and a ConfigMap holds ${most}`,
  remedy: () =>
    'serve some of the DNSData with a second DNSMasq and another dnsDataLabelSelectorValue; until then the old hosts are served',
})

export const configMapNotOwned = problem<{ configMap: string; owner: string }>({
  code: 'SL6004',
  severity: 'error',
  message: ({ configMap, owner }) => `ConfigMap ${configMap} exists already, and ${owner}`,
  remedy: () => 'rename the DNSData, or remove the ConfigMap if it is not needed',
})

export const ingressWithoutAddress = problem<{ service: string; hostname: string }>({
  code: 'SL6005',
  severity: 'warning',
  message: ({ service, hostname }) => `Service ${service} has the ingress ${hostname}, which is not an IP address`,
  remedy: () => 'give it an address from a MetalLB pool, or register it with a DNSData of your own',
})

export const wrongDnsAnswer = problem<{
  name: string
  server: string
  wanted: readonly string[]
  answered: readonly string[]
}>({
  code: 'SL6006',
  severity: 'error',
  message: ({ name, server, wanted, answered }) =>
    `${server} answers ${name} with ${answered.join(', ') || 'nothing'} instead of ${wanted.join(', ')}`,
  remedy: () =>
    'read the log of the dnsmasq pod: lines that begin with `hosts:` say what it loaded; a kubelet may need a minute to update a volume',
})

export const dnsServerUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL6007',
  severity: 'error',
  message: ({ server, reason }) => `${server} does not answer: ${reason}`,
  remedy: () =>
    'query from a machine on that network, or name a reachable server with `--server ADDRESS[:PORT]`; then check the DNSMasq: `kubectl describe dnsmasq`',
})

export const topologyNotFound = problem<{ namespace: string; name: string }>({
  code: 'SL6008',
  severity: 'error',
  message: ({ namespace, name }) => `Topology ${namespace}/${name} not found`,
  remedy: () => 'create the Topology, or remove topologyRef; until then the pods stay as they are',
})
