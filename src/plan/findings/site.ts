/** SL25xx: names and limits of a site. */
import { problem } from '../../errors/finding.ts'

export const interfaceTooLong = problem<{ owner: string; name: string }>({
  code: 'SL2501',
  severity: 'error',
  message: ({ owner, name }) => `${owner}: the interface ${name} has ${name.length} characters`,
  remedy: () => 'name it yourself with at most 15 characters (`interface:`, `bridge:`)',
})

export const duplicateNamespace = problem<{ a: string; b: string; namespace: string }>({
  code: 'SL2502',
  severity: 'error',
  message: ({ a, b, namespace }) => `${a} and ${b} both use the namespace ${namespace}`,
  remedy: ({ b }) => `give ${b} a namespace of its own`,
})

export const badNamespace = problem<{ cloud: string; namespace: string; reason: string; offer: string | undefined }>({
  code: 'SL2503',
  severity: 'error',
  message: ({ cloud, namespace, reason }) => `the namespace of ${cloud} "${namespace}": ${reason}`,
  remedy: ({ offer }) =>
    offer ? `write ${offer}` : 'use lower-case letters, digits and dashes, at most 63, a letter or digit at both ends',
})

export const duplicateHost = problem<{ host: string; a: string; b: string }>({
  code: 'SL2504',
  severity: 'error',
  message: ({ host, a, b }) => `the host ${host} is in ${a} and in ${b}`,
  remedy: ({ host, a, b }) => `remove ${host} from ${a} or from ${b}`,
})

export const manyClouds = problem<{ count: number; limit: number }>({
  code: 'SL2505',
  severity: 'warning',
  message: ({ count, limit }) => `the site has ${count} clouds; ${limit} on one cluster are supported`,
  remedy: () => 'use a second cluster, or go on without support',
})

export const manyHosts = problem<{ cloud: string; count: number; limit: number }>({
  code: 'SL2506',
  severity: 'warning',
  message: ({ cloud, count, limit }) => `${cloud} has ${count} hosts; ${limit} are supported`,
  remedy: () => 'divide the hosts among clouds, or go on without support',
})

export const poolNameRequested = problem<{ cloud: string; pool: string; other: string | undefined; planned: string }>({
  code: 'SL2507',
  severity: 'error',
  message: ({ cloud, pool, other }) =>
    `${cloud} requests the pool name ${pool}${other ? `, and so does ${other}` : ''}; pool names are unique in a cluster`,
  remedy: ({ planned }) => `leave \`pool\` out: the pools are ${planned}`,
})

export const nodeSetCells = problem<{
  cloud: string
  nodeSet: string
  cell: string
  what: string
  other: string
}>({
  code: 'SL2514',
  severity: 'error',
  message: ({ cloud, nodeSet, cell, what, other }) =>
    `${cloud}: the node set ${nodeSet} is in ${cell}, but ${what} is in ${other}; a node set has one nova cell`,
  remedy: ({ what, other }) => `move ${what} to a node set with \`cell: ${other}\`, or correct the cell`,
})

export const nodeSetWithoutHosts = problem<{ cloud: string; nodeSet: string }>({
  code: 'SL2515',
  severity: 'warning',
  message: ({ cloud, nodeSet }) => `${cloud}: no host belongs to the node set ${nodeSet}: it is not deployed`,
  remedy: ({ nodeSet }) => `add \`nodeSet: ${nodeSet}\` to its hosts, or remove the node set`,
})

export const hostWithoutNodeSet = problem<{
  cloud: string
  host: string
  nodeSet: string
  declared: readonly string[]
}>({
  code: 'SL2516',
  severity: 'warning',
  message: ({ cloud, host, nodeSet }) =>
    `${cloud}: the host ${host} names no node set, so it belongs to ${nodeSet}, which is not declared`,
  remedy: ({ nodeSet, declared }) =>
    `add \`nodeSet:\` with one of ${declared.join(', ')}, or declare \`{name: ${nodeSet}}\` under \`nodeSets\``,
})

export const provisionedTwice = problem<{ cloud: string; nodeSet: string }>({
  code: 'SL2517',
  severity: 'error',
  message: ({ cloud, nodeSet }) =>
    `${cloud}: the hosts of the node set ${nodeSet} are preProvisioned, but it has a baremetalSetTemplate`,
  remedy: () => 'remove `preProvisioned: true` to provision the hosts, or remove `baremetalSetTemplate`',
})

export const novaConfigUnused = problem<{ cloud: string; nodeSet: string; service: string }>({
  code: 'SL2538',
  severity: 'warning',
  message: ({ cloud, nodeSet, service }) =>
    `${cloud}: novaConfig of the node set ${nodeSet} has no effect, because the set does not run ${service}`,
  remedy: ({ service }) => `add ${service} to the \`services\` of the set, or remove \`novaConfig\``,
})

export const domainUnused = problem<{ domain: string }>({
  code: 'SL2539',
  severity: 'info',
  message: ({ domain }) =>
    `spec.cluster.domain ${domain} has no effect: Routes get the domain of the cluster's ingress`,
  remedy: () => 'remove it; the domain of Routes is in the Ingress configuration of the cluster',
})

export const nodesForward = problem<{ clouds: number }>({
  code: 'SL2533',
  severity: 'warning',
  message: ({ clouds }) =>
    `nodes forward packets between the ${clouds} clouds: a pod that routes through a node reaches the pods of another cloud`,
  remedy: () =>
    'remove `forwarding: allow`, so that the node policies drop these packets; if it is needed, accept this finding with the reason',
})

export const nodesAnswerAnywhere = problem<{ clouds: number }>({
  code: 'SL2534',
  severity: 'warning',
  message: ({ clouds }) =>
    `nodes answer ARP on the segments of all ${clouds} clouds for all their addresses, unless their kernel settings say otherwise`,
  remedy: () =>
    'remove `nodeAddresses: any-segment`; if arp_ignore is set on the nodes in another way, accept this finding with the reason',
})

export const bridgesPassTags = problem<{ clouds: number }>({
  code: 'SL2535',
  severity: 'warning',
  message: ({ clouds }) =>
    `bridges over a whole NIC pass tagged frames: a pod on such a bridge can enter every VLAN of the ${clouds} clouds`,
  remedy: () =>
    'remove `taggedFrames: allow` and list the VLANs of provider networks in the `trunk` of datacentre; otherwise accept this finding with the reason',
})

export const ownerNotFound = problem<{ query: string; nearest: string | undefined }>({
  code: 'SL2508',
  severity: 'error',
  message: ({ query, nearest }) =>
    `${query} is neither a name nor in a subnet of this site${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'see the networks with `stackloom plan`, and the names of VIPs with `stackloom slots -f site.yaml`',
})
