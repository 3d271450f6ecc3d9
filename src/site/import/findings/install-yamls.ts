/** SL207x, SL208x: environment files of install_yamls, and what in them cannot work there. */
import { problem } from '../../../errors/finding.ts'

export const envLine = problem<{ line: string }>({
  code: 'SL2070',
  severity: 'warning',
  title: 'A line of an environment file is not an assignment',
  message: ({ line }) => `this line sets no variable and was skipped: ${line}`,
  remedy: () => 'write export NAME=value; commands and $(…) are not run by an import',
  description: `Environment files are shell scripts. The import reads assignments and references to earlier variables, and
never runs anything.`,
  example: { line: 'source ./common.env' },
})

export const envValue = problem<{ name: string; value: string; expected: string }>({
  code: 'SL2071',
  severity: 'error',
  title: 'A variable has a value that cannot be used',
  message: ({ name, value, expected }) => `${name}=${value} is not ${expected}`,
  remedy: ({ name, expected }) => `set ${name} to ${expected}`,
  description: `The import makes addresses, ranges and numbers of the variables. The scripts of install_yamls paste them into
objects unread, where the mistake shows up much later.`,
  example: {
    name: 'NETWORK_TENANT_ADDRESS_PREFIX',
    value: '172.19',
    expected: 'the first three numbers of a network, such as 172.19.0',
  },
})

export const envUnknown = problem<{ name: string; nearest: string }>({
  code: 'SL2072',
  severity: 'warning',
  title: 'A variable looks misspelt',
  message: ({ name, nearest }) => `install_yamls has no variable ${name}; did you mean ${nearest}?`,
  remedy: ({ nearest }) => `write ${nearest}, or remove the line`,
  description: `A misspelt variable does nothing: install_yamls uses its default instead, silently.`,
  example: { name: 'NETWORK_INTERNALAPI_ADRESS_PREFIX', nearest: 'NETWORK_INTERNALAPI_ADDRESS_PREFIX' },
})

export const envIgnored = problem<{ names: readonly string[] }>({
  code: 'SL2073',
  severity: 'info',
  title: 'Variables without a place in a site file',
  message: ({ names }) => `these variables say nothing about networks and were left out: ${names.join(', ')}`,
  remedy: () => 'nothing to do; passwords and images are not part of a site file',
  description: `install_yamls has hundreds of variables for images, branches and passwords. A site file holds none of them.`,
  example: { names: ['GLANCE_PASSWORD', 'TIMEOUT'] },
})

export const nodesUnknown = problem<{ node: string; nic: string }>({
  code: 'SL2074',
  severity: 'info',
  title: 'The environment files do not name the nodes',
  message: ({ node, nic }) => `no file sets NNCP_NODES: the site has one node, ${node}, with the NIC ${nic}`,
  remedy: () => 'give the nodes with --node NAME=NIC, or correct spec.cluster.nodes',
  description: `install_yamls asks the cluster for its workers while it runs. A plan is made without a cluster, so the file
names them. \`kubectl get nodes\` lists them.`,
  example: { node: 'worker-0', nic: 'enp6s0' },
})

export const netConfigStays = problem<{ cloud: string; networks: readonly string[] }>({
  code: 'SL2075',
  severity: 'warning',
  title: 'install_yamls would leave NetConfig and the control plane at the old numbers',
  message: ({ cloud, networks }) =>
    `${cloud} has networks of its own (${networks.join(', ')}), but install_yamls leaves its NetConfig and control plane at 172.17.0, 172.18.0, 172.19.0 and 172.20.0`,
  remedy: () => 'nothing to do here: the imported hosts spans and VIPs follow the prefixes of the file',
  description: `\`NETWORK_*_ADDRESS_PREFIX\` reaches the node policies, the attachments and the MetalLB pools. NetConfig and
OpenStackControlPlane come from samples with 172.17.0 in them: hosts of the second cloud get addresses of the first, and
Services ask for a VIP that their pool does not have and stay pending.`,
  example: { cloud: 'rhoso2', networks: ['internalapi 172.27.0.0/24'] },
})

export const nncpOverwritten = problem<{ cloud: string; first: string; nic: string }>({
  code: 'SL2076',
  severity: 'warning',
  title: 'install_yamls would overwrite the node policies of the first cloud',
  message: ({ cloud, first, nic }) =>
    `make nncp for ${cloud} writes the same policies (${nic}-NODE) as for ${first}, and takes away the node addresses of ${first}`,
  remedy: () => 'nothing to do here: a plan holds the addresses of all clouds, and no cloud owns the nodes',
  description: `A NodeNetworkConfigurationPolicy belongs to the cluster and is named after interface and node, not after the
cloud. The second run replaces the first cloud's addresses; its compute nodes lose RabbitMQ.`,
  example: { cloud: 'rhoso2', first: 'rhoso1', nic: 'enp6s0' },
})

export const poolsDeleted = problem<{ cloud: string; first: string }>({
  code: 'SL2077',
  severity: 'warning',
  title: 'install_yamls would delete the pools of the first cloud',
  message: ({ cloud, first }) => `make metallb_config for ${cloud} first deletes the MetalLB pools of ${first}`,
  remedy: () => 'nothing to do here: pools are named after the namespace, and each cloud keeps its own',
  description: `\`metallb_config\` depends on \`metallb_config_cleanup\`, and both use one folder for the whole cluster,
whatever NAMESPACE is. Prefixed names, as in a fork, do not help: the old files are deleted before the new ones are made.`,
  example: { cloud: 'rhoso2', first: 'rhoso1' },
})

export const poolOnHosts = problem<{ cloud: string; pool: string; hosts: string; free: string | undefined }>({
  code: 'SL2078',
  severity: 'warning',
  title: 'A pool lies on addresses that NetConfig gives out',
  message: ({ cloud, pool, hosts }) =>
    `the ctlplane pool ${pool} of ${cloud} lies on ${hosts}, which NetConfig gives to data plane hosts`,
  remedy: ({ free }) => (free ? `set METALLB_POOL=${free}, which is free` : 'choose a pool outside of NetConfig'),
  description: `NetConfig's sample gives 192.168.122.100-120 and 150-200 to hosts; the usual compute nodes are .100 and .101.
A VIP on the same address answers ARP for a host that exists. \`stackloom plan\` reports it as an overlap.`,
  example: {
    cloud: 'rhoso2',
    pool: '192.168.122.100-192.168.122.110',
    hosts: '192.168.122.100-192.168.122.120',
    free: '192.168.122.121-192.168.122.131',
  },
})

export const publicPrefix = problem<{ cloud: string; network: string; cidr: string; variable: string }>({
  code: 'SL2079',
  severity: 'warning',
  title: 'A network is in public address space',
  message: ({ cloud, network, cidr }) => `${network} of ${cloud} is ${cidr}, which is public address space`,
  remedy: ({ variable }) => `set ${variable} to private addresses such as 172.26.0, or accept the finding of the plan`,
  description: `install_yamls puts designateext at 172.50.0.0/24, but private space ends at 172.31.255.255. Nodes and pods with
such an address cannot reach its real owner, and DNS servers there answer the wrong clients.`,
  example: {
    cloud: 'rhoso1',
    network: 'designateext',
    cidr: '172.50.0.0/24',
    variable: 'NETWORK_DESIGNATE_EXT_ADDRESS_PREFIX',
  },
})

export const duplicateDefault = problem<{ cloud: string; first: string; networks: readonly string[] }>({
  code: 'SL2080',
  severity: 'warning',
  title: 'Two clouds would have the same default network',
  message: ({ cloud, first, networks }) =>
    `${cloud} does not set ${networks.join(', ')}, and would share the default with ${first}: left to the planner`,
  remedy: () => 'nothing to do; pin a subnet in the site file if it must be a certain one',
  description: `A variable that a second environment file does not set has upstream's default, which the first cloud has
already. Two clouds in one subnet give out the same addresses twice, so the import leaves these networks open.`,
  example: { cloud: 'rhoso2', first: 'rhoso1', networks: ['storagemgmt'] },
})

export const sharedSubnet = problem<{ cloud: string; first: string; cidr: string; spans: readonly string[] }>({
  code: 'SL2081',
  severity: 'warning',
  title: 'Two clouds are in one ctlplane subnet',
  message: ({ cloud, first, cidr, spans }) =>
    `${cloud} and ${first} are both in ${cidr}, where install_yamls would give out pod and host addresses twice; ${cloud} has ${spans.join(', ')} instead`,
  remedy: () => 'give each cloud a ctlplane of its own, or check that these ranges are free',
  description: `Pods get .30-.70 and hosts .100-.120 and .150-.200 in every cloud of install_yamls. In one subnet that is one
address for two. The import keeps what the files say (the pools) and moves what no file says to addresses that are free;
the nodes keep the one address that they have.`,
  example: {
    cloud: 'rhoso2',
    first: 'rhoso1',
    cidr: '192.168.122.0/24',
    spans: ['pods 192.168.122.201-192.168.122.220'],
  },
})

export const literalStays = problem<{ what: string; variable: string; literal: string }>({
  code: 'SL2082',
  severity: 'warning',
  title: 'install_yamls would ignore a variable in one of its objects',
  message: ({ what, variable, literal }) => `${variable} does not reach ${what}, which stay at ${literal}`,
  remedy: () => 'nothing to do here: all objects follow the plan',
  description: `The attachments of designate and designateext and the interfaces of the L2Advertisements are literals in the
scripts: with another prefix or VLAN start, pods and announcements are on another network than the nodes.`,
  example: { what: 'the L2Advertisements', variable: 'NETWORK_VLAN_START', literal: 'VLANs 20, 21, 22 and 26' },
})

export const upstreamDualStack = problem<{ cloud: string }>({
  code: 'SL2083',
  severity: 'warning',
  title: 'install_yamls cannot do dual stack',
  message: ({ cloud }) =>
    `${cloud} asks for IPv4 and IPv6: make netattach refuses that, so it was never deployed this way`,
  remedy: () => 'nothing to do here: attachments with both families are rendered',
  description: `Node policies, pools and NetConfig accept both families; the script that writes the attachments ends with
"Dual stack not supported".`,
  example: { cloud: 'rhoso1' },
})

export const upstreamBgp = problem<{ cloud: string; peers: readonly string[] }>({
  code: 'SL2084',
  severity: 'warning',
  title: 'BGP as in install_yamls works on one node only',
  message: ({ cloud, peers }) =>
    `${cloud} uses BGP with ${peers.join(' and ')}: install_yamls gives every node the same addresses, and its defaults lie in OpenShift's 100.64.0.0/16 and 172.30.0.0/16`,
  remedy: () =>
    'check asn and peers in spec.cluster.metallb; the nodes need addresses of their own towards the routers',
  description: `The BGP mode of install_yamls sets two fixed addresses and one loopback address on every worker. The import
takes over AS numbers and peers, and nothing else of it.`,
  example: { cloud: 'rhoso1', peers: ['100.65.4.1', '100.64.4.1'] },
})

export const notImported = problem<{ name: string; why: string }>({
  code: 'SL2085',
  severity: 'warning',
  title: 'A variable was not imported',
  message: ({ name, why }) => `${name} was left out: ${why}`,
  remedy: () => 'add it to the site file if it is needed',
  description: `Some settings of install_yamls have no counterpart, or lack a part that a site file needs: its host routes have
no next hop, for one.`,
  example: { name: 'STORAGE_HOST_ROUTES', why: 'it has no next hop' },
})
