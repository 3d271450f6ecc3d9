/** SL20xx: the site file: what its schema cannot check, and its acceptances. */
import { problem } from '../errors/finding.ts'

export const duplicateName = problem<{ what: string; name: string; first: string }>({
  code: 'SL2001',
  severity: 'error',
  title: 'A name is used twice',
  message: ({ what, name, first }) => `there is a ${what} ${name} already, at ${first}`,
  remedy: ({ what }) => `give this ${what} a name of its own, or remove it`,
  description: `Clouds, nodes, bonds, hosts of a cloud and endpoints of a network are known by their name: in the lock, in
rendered objects, in every message. Two with the same name could not be distinguished.`,
  example: { what: 'cloud', name: 'rhoso1', first: 'site.yaml:12:11' },
})

export const badName = problem<{ what: string; name: string }>({
  code: 'SL2002',
  severity: 'error',
  title: 'A name is not valid in Kubernetes',
  message: ({ what, name }) =>
    `${JSON.stringify(name)} cannot name a ${what}: lower case letters, digits and dashes, at most 63, a letter or digit at both ends`,
  remedy: ({ what }) => `choose such a name for the ${what}`,
  description: `Names of sites, clouds, networks, nodes and hosts become parts of the names and labels of Kubernetes objects
(\`openstack-internalapi\`) and of DNS names, so they follow the rules of a DNS label.`,
  example: { what: 'cloud', name: 'RHOSO_1' },
})

export const unknownReference = problem<{
  what: string
  name: string
  within: string
  nearest: string | undefined
  known: readonly string[]
}>({
  code: 'SL2003',
  severity: 'error',
  title: 'A name refers to an object that does not exist',
  message: ({ what, name, within, nearest }) =>
    `${within} has no ${what} ${name}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ what, name, nearest, known }) => {
    if (nearest) return `write ${nearest}, or add a ${what} ${name}`
    return known.length > 0 ? `known: ${known.join(', ')}` : `add a ${what} ${name}`
  },
  description: `A field names a network, a node or a NIC that the file does not have. Networks that are off for a cloud
(\`tenant: false\`) do not count; octavia and external exist in a cloud only when the file names them or, for octavia,
when the service is on.`,
  example: {
    what: 'network',
    name: 'internalap',
    within: 'the cloud rhoso1',
    nearest: 'internalapi',
    known: ['ctlplane', 'internalapi'],
  },
})

export const nodeWithoutNic = problem<{ node: string }>({
  code: 'SL2004',
  severity: 'error',
  title: 'A node has no NIC',
  message: ({ node }) => `the node ${node} has no NIC called main`,
  remedy: () => 'add nic: with the name of the interface that carries the networks, such as nic: enp6s0',
  description: `Networks are VLANs on a NIC of each node. A network uses the NIC with the role \`main\` unless it names
another (\`nic: storage\`), so every node needs one. \`ip link\` on the node lists its interfaces.`,
  example: { node: 'worker-0' },
})

export const conflictingNics = problem<{ node: string; short: string; long: string }>({
  code: 'SL2005',
  severity: 'error',
  title: 'A node names its main NIC twice, differently',
  message: ({ node, short, long }) => `the node ${node} says nic: ${short} and nics: {main: ${long}}`,
  remedy: () => 'keep one of them',
  description: `\`nic: enp6s0\` is the short form of \`nics: {main: enp6s0}\`. With both, it must be the same NIC.`,
  example: { node: 'worker-0', short: 'enp6s0', long: 'enp7s0' },
})

export const networkWithoutSubnets = problem<{ network: string; roles: readonly string[] }>({
  code: 'SL2006',
  severity: 'error',
  title: 'A network has no source of addresses',
  message: ({ network, roles }) =>
    `the network ${network} has neither subnets nor supernets, but needs addresses for ${roles.join(', ')}`,
  remedy: ({ network }) => `add supernets: [10.20.0.0/16] or subnets to ${network}, or roles: [] for none`,
  description: `The built-in networks have supernets. A network that you add needs its own source: \`subnets\` pins
them, \`supernets\` lets the planner take one for each cloud.`,
  example: { network: 'backup', roles: ['nodes', 'pods'] },
})

export const bgpIncomplete = problem<{ missing: string }>({
  code: 'SL2007',
  severity: 'error',
  title: 'BGP settings are incomplete',
  message: ({ missing }) => `metallb.mode is bgp, but ${missing} is missing`,
  remedy: ({ missing }) => `add ${missing} below spec.cluster.metallb, or use mode: layer2`,
  description: `In BGP mode MetalLB announces each VIP to the routers that it peers with: it needs its own AS number (\`asn\`)
and at least one peer with address and AS number.`,
  example: { missing: 'peers' },
})

export const bgpUnused = problem<Record<never, never>>({
  code: 'SL2008',
  severity: 'warning',
  title: 'BGP peers are not used',
  message: () => 'metallb has peers or an asn, but its mode is layer2: they have no effect',
  remedy: () => 'add mode: bgp, or remove peers and asn',
  description: `In layer 2 mode MetalLB answers ARP and neighbour discovery, and has no peers.`,
  example: {},
})

export const badLayout = problem<{ role: string; text: string }>({
  code: 'SL2009',
  severity: 'error',
  title: 'A span layout is not a range of offsets',
  message: ({ role, text }) => `the layout of ${role} is ${JSON.stringify(text)}, which is not a range of offsets`,
  remedy: () => 'write the first and the last offset from the start of a subnet, such as 80-90',
  description: `\`spec.addressing.layout\` holds for every subnet without spans of its own, so it counts from the subnet's
first address: \`vips: 80-90\` in 172.17.3.0/24 is 172.17.3.80 to 172.17.3.90.`,
  example: { role: 'vips', text: '172.17.0.80-90' },
})

export const badVlanRange = problem<{ first: number; last: number }>({
  code: 'SL2010',
  severity: 'error',
  title: 'The VLAN range has no VLAN in it',
  message: ({ first, last }) => `no VLAN is from ${first} to ${last}: ids go from 1 to 4094, first before last`,
  remedy: () => 'write a range that your switches carry, such as {first: 20, last: 400}',
  description: `The planner takes VLAN ids for networks without one of their own from \`spec.addressing.vlans\`. Ask the
administrators of the switches which ids are trunked to the nodes.`,
  example: { first: 400, last: 20 },
})

export const acceptUnknown = problem<{ code: string; nearest: string | undefined }>({
  code: 'SL2011',
  severity: 'error',
  title: 'accept names a code that does not exist',
  message: ({ code, nearest }) => `no finding has the code ${code}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'list all codes with `stackloom explain`',
  description: `\`spec.accept\` turns an error that you know and live with into a warning. A warning that is accepted stays one
and carries your reason. It needs the finding's code, and a reason for later readers of the file.`,
  example: { code: 'SL2199', nearest: 'SL2109' },
})

export const acceptUnused = problem<{ code: string; where: string | undefined }>({
  code: 'SL2012',
  severity: 'info',
  title: 'accept matches no finding',
  message: ({ code, where }) => `no finding has the code ${code}${where ? ` at ${where}` : ''} any more`,
  remedy: () => 'remove the entry from spec.accept; the problem is gone',
  description: `An entry of \`spec.accept\` that matches no finding is left over from a problem that has been solved, or its
\`where\` is misspelt. Left in the file, it would hide the problem if it came back.`,
  example: { code: 'SL2110', where: 'rhoso1/designateext' },
})

export const familyWithoutSupernet = problem<{ network: string; family: number }>({
  code: 'SL2013',
  severity: 'warning',
  title: 'A network has no addresses of one family',
  message: ({ network, family }) =>
    `the site uses IPv${family}, but the network ${network} has no IPv${family} subnet and no IPv${family} supernet`,
  remedy: ({ network, family }) => {
    const sample = family === 6 ? 'fd00:1234::/48' : '10.20.0.0/16'
    return `add an IPv${family} supernet such as ${sample} to ${network}, or take ${family} out of addressing.families`
  },
  description: `\`addressing.families\` sets the families of every network. Settings of a network replace those of its
template as a whole: \`supernets: [10.20.0.0/16]\` alone means no IPv6.`,
  example: { network: 'backup', family: 6 },
})
