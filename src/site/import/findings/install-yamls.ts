/** SL207x, SL208x: environment files of install_yamls, and what in them cannot work there. */
import { problem } from '../../../errors/finding.ts'

export const envLine = problem<{ line: string }>({
  code: 'SL2070',
  severity: 'warning',
  message: ({ line }) => `this line sets no variable and was skipped: ${line}`,
  remedy: () => 'write export NAME=value; commands and $(…) are not run by an import',
})

export const envValue = problem<{ name: string; value: string; expected: string }>({
  code: 'SL2071',
  severity: 'error',
  message: ({ name, value, expected }) => `${name}=${value} is not ${expected}`,
  remedy: ({ name, expected }) => `set ${name} to ${expected}`,
})

export const envUnknown = problem<{ name: string; nearest: string }>({
  code: 'SL2072',
  severity: 'warning',
  message: ({ name, nearest }) => `install_yamls has no variable ${name}; did you mean ${nearest}?`,
  remedy: ({ nearest }) => `write ${nearest}, or remove the line`,
})

export const envIgnored = problem<{ names: readonly string[] }>({
  code: 'SL2073',
  severity: 'info',
  message: ({ names }) => `these variables say nothing about networks and were left out: ${names.join(', ')}`,
  remedy: () => 'nothing to do; passwords and images are not part of a site file',
})

export const nodesUnknown = problem<{ node: string; nic: string }>({
  code: 'SL2074',
  severity: 'info',
  message: ({ node, nic }) => `no file sets NNCP_NODES: the site has one node, ${node}, with the NIC ${nic}`,
  remedy: () => 'give the nodes with --node NAME=NIC, or correct spec.cluster.nodes',
})

export const netConfigStays = problem<{ cloud: string; networks: readonly string[] }>({
  code: 'SL2075',
  severity: 'info',
  message: ({ cloud, networks }) =>
    `${cloud} has networks of its own (${networks.join(', ')}), but install_yamls leaves its NetConfig and control plane at 172.17.0, 172.18.0, 172.19.0 and 172.20.0`,
  remedy: () => 'nothing to do here: the imported hosts spans and VIPs follow the prefixes of the file',
})

export const nncpOverwritten = problem<{ cloud: string; first: string; nic: string }>({
  code: 'SL2076',
  severity: 'info',
  message: ({ cloud, first, nic }) =>
    `make nncp for ${cloud} writes the same policies (${nic}-NODE) as for ${first}, and takes away the node addresses of ${first}`,
  remedy: () => 'nothing to do here: a plan holds the addresses of all clouds, and no cloud owns the nodes',
})

export const poolsDeleted = problem<{ cloud: string; first: string }>({
  code: 'SL2077',
  severity: 'info',
  message: ({ cloud, first }) => `make metallb_config for ${cloud} first deletes the MetalLB pools of ${first}`,
  remedy: () => 'nothing to do here: pools are named after the namespace, and each cloud keeps its own',
})

export const poolOnHosts = problem<{ cloud: string; pool: string; hosts: string; free: string | undefined }>({
  code: 'SL2078',
  severity: 'warning',
  message: ({ cloud, pool, hosts }) =>
    `the ctlplane pool ${pool} of ${cloud} lies on ${hosts}, which NetConfig gives to data plane hosts`,
  remedy: ({ free }) => (free ? `set METALLB_POOL=${free}, which is free` : 'choose a pool outside of NetConfig'),
})

export const publicPrefix = problem<{ cloud: string; network: string; cidr: string; variable: string }>({
  code: 'SL2079',
  severity: 'warning',
  message: ({ cloud, network, cidr }) => `${network} of ${cloud} is ${cidr}, which is public address space`,
  remedy: ({ variable }) => `set ${variable} to private addresses such as 172.26.0, or accept the finding of the plan`,
})

export const duplicateDefault = problem<{ cloud: string; first: string; networks: readonly string[] }>({
  code: 'SL2080',
  severity: 'info',
  message: ({ cloud, first, networks }) =>
    `${cloud} does not set ${networks.join(', ')}, and would share the default with ${first}: left to the planner`,
  remedy: () => 'nothing to do; pin a subnet in the site file if it must be a certain one',
})

export const sharedSubnet = problem<{ cloud: string; first: string; cidr: string; spans: readonly string[] }>({
  code: 'SL2081',
  severity: 'warning',
  message: ({ cloud, first, cidr, spans }) =>
    `${cloud} and ${first} are both in ${cidr}, where install_yamls would give out pod and host addresses twice; ${cloud} has ${spans.join(', ')} instead`,
  remedy: () => 'give each cloud a ctlplane of its own, or check that these ranges are free',
})

export const literalStays = problem<{ what: string; variable: string; literal: string }>({
  code: 'SL2082',
  severity: 'info',
  message: ({ what, variable, literal }) => `${variable} does not reach ${what}, which stay at ${literal}`,
  remedy: () => 'nothing to do here: all objects follow the plan',
})

export const upstreamDualStack = problem<{ cloud: string }>({
  code: 'SL2083',
  severity: 'info',
  message: ({ cloud }) =>
    `${cloud} asks for IPv4 and IPv6: make netattach refuses that, so it was never deployed this way`,
  remedy: () => 'nothing to do here: attachments with both families are rendered',
})

export const upstreamBgp = problem<{ cloud: string; peers: readonly string[] }>({
  code: 'SL2084',
  severity: 'warning',
  message: ({ cloud, peers }) =>
    `${cloud} uses BGP with ${peers.join(' and ')}: install_yamls gives every node the same addresses, and its defaults lie in OpenShift's 100.64.0.0/16 and 172.30.0.0/16`,
  remedy: () =>
    'check asn and peers in spec.cluster.metallb; the nodes need addresses of their own towards the routers',
})

export const notImported = problem<{ name: string; why: string }>({
  code: 'SL2085',
  severity: 'warning',
  message: ({ name, why }) => `${name} was left out: ${why}`,
  remedy: () => 'add it to the site file if it is needed',
})
