/** SL21xx: addresses, networks and spans that are invalid, or that conflict with each other. */
import { problem } from '../../errors/finding.ts'

export const spansOverlap = problem<{ a: string; b: string; shared: string; offer: string | undefined }>({
  code: 'SL2101',
  severity: 'error',
  title: 'Two allocators own the same addresses',
  message: ({ a, b, shared }) => `${a} and ${b} both own ${shared}`,
  remedy: ({ b, offer }) =>
    offer ? `give ${b} what is free: ${offer}` : `make the subnet larger, or give ${b} fewer addresses`,
  description: `Every span belongs to one allocator: nmstate (nodes), whereabouts (pods), MetalLB (vips) or NetConfig
(hosts). None of them knows about the others. Where two spans of one L2 domain overlap, sooner or later two machines
get the same address, and the one that answers ARP first wins.

The usual cases: a MetalLB pool inside NetConfig's allocation ranges, and a NetConfig range that covers the whole
subnet with its pods and VIPs.`,
  example: {
    a: 'rhoso1/ctlplane hosts 192.168.122.100-192.168.122.120',
    b: 'rhoso2/ctlplane vips 192.168.122.100-192.168.122.110',
    shared: '192.168.122.100-192.168.122.110',
    offer: '192.168.122.121-192.168.122.131',
  },
})

export const reservedOverlap = problem<{
  owner: string
  cidr: string
  use: string
  reserved: string
  offer: string | undefined
}>({
  code: 'SL2102',
  severity: 'error',
  title: 'A subnet overlaps a network of the cluster itself',
  message: ({ owner, cidr, use, reserved }) =>
    `${owner} uses ${cidr}, and the cluster uses ${reserved} for its ${use} network`,
  remedy: ({ offer }) => `choose another subnet${offer ? `, for example ${offer}` : ''}`,
  description: `Pods, Services, the machines and OVN's join switch have networks of their own. A node that has an interface
in the same prefix sends traffic for them to the wrong place. OpenShift's defaults are 10.128.0.0/14 (pods),
172.30.0.0/16 (Services) and 100.64.0.0/16 (OVN join); set your own in \`cluster.reserved\` of the site file.`,
  example: {
    owner: 'rhoso1/storage',
    cidr: '172.30.0.0/24',
    use: 'services',
    reserved: '172.30.0.0/16',
    offer: '172.18.0.0/24',
  },
})

export const publicSpace = problem<{ owner: string; cidr: string; offer: string | undefined }>({
  code: 'SL2103',
  severity: 'error',
  title: 'An internal network uses public address space',
  message: ({ owner, cidr }) => `${owner} uses ${cidr}, which is public address space`,
  remedy: ({ offer }) =>
    `choose a private range${offer ? `, for example ${offer}` : ''}; if you own the space, accept the finding in spec.accept`,
  description: `Only 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and fc00::/7 are private. 172.32.0.0 and 172.50.0.0 look
private and are not: their real owners on the internet cannot be reached from these machines any more.

A network named \`external\` may use public space. For any other, accept the finding with the reason.`,
  example: { owner: 'rhoso1/designateext', cidr: '172.50.0.0/24', offer: '172.29.0.0/24' },
})

export const specialSpace = problem<{ owner: string; cidr: string; about: string }>({
  code: 'SL2104',
  severity: 'error',
  title: 'A network uses special-purpose address space',
  message: ({ owner, cidr, about }) => `${owner} uses ${cidr}, which is ${about}`,
  remedy: () => 'choose a network in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7',
  description: `Some prefixes have a special meaning: link-local, loopback, multicast, documentation,
benchmarks, carrier-grade NAT. Addresses there are filtered, never routed, or used by the cluster itself.`,
  example: {
    owner: 'rhoso1/storage',
    cidr: '169.254.0.0/24',
    about: 'link-local, and used by metadata services (RFC 3927)',
  },
})

export const spanOutside = problem<{ owner: string; what: string; cidrs: string }>({
  code: 'SL2105',
  severity: 'error',
  title: 'A span or an address lies outside its subnet',
  message: ({ owner, what, cidrs }) => `${owner}: ${what} is not inside ${cidrs}`,
  remedy: ({ cidrs }) => `choose addresses of ${cidrs}`,
  description: `A machine can only use an address of its own subnet. Usually the subnet was changed and a span, a gateway or
a pinned address was forgotten.`,
  example: { owner: 'rhoso1/internalapi', what: 'vips 172.27.0.80-172.27.0.90', cidrs: '172.17.0.0/24' },
})

export const spanHoldsSpecial = problem<{
  owner: string
  span: string
  what: string
  address: string
  offer: string | undefined
}>({
  code: 'SL2106',
  severity: 'error',
  title: 'A span contains the network, broadcast or gateway address',
  message: ({ owner, span, what, address }) => `${owner}: ${span} contains ${address}, the ${what}`,
  remedy: ({ offer, address }) =>
    offer ? `use ${offer}` : `leave ${address} out of the span, or name it in \`reserved\``,
  description: `An allocator gives out every address of its span. No machine may use the network or the broadcast
address, and the gateway's is in use already: the machine that gets it takes the whole network down.`,
  example: {
    owner: 'rhoso1/internalapi',
    span: 'nodes 172.17.0.1-172.17.0.20',
    what: 'gateway',
    address: '172.17.0.1',
    offer: '172.17.0.2-172.17.0.20',
  },
})

export const hostBits = problem<{ owner: string; text: string; network: string }>({
  code: 'SL2107',
  severity: 'error',
  title: 'A network has host bits set',
  message: ({ owner, text, network }) => `${owner}: ${text} is an address, not a network; its network is ${network}`,
  remedy: ({ network }) => `write ${network}`,
  description: `In CIDR form the bits after the prefix are zero. Some programs cut them off silently, others refuse the
whole object; which network was meant is not always clear, so Stackloom does not guess.`,
  example: { owner: 'rhoso1/internalapi', text: '172.17.0.1/24', network: '172.17.0.0/24' },
})

export const notAnAddress = problem<{ owner: string; what: string; text: string; kind: string; reason: string }>({
  code: 'SL2108',
  severity: 'error',
  title: 'A value is not an address, a network or a range',
  message: ({ owner, what, text, kind, reason }) => `${owner}: ${what} "${text}" is not ${kind}: ${reason}`,
  remedy: ({ kind }) => `write ${kind}, such as ${sampleOf(kind)}`,
  description: `Addresses are parsed strictly. A letter that looks like a digit, a leading zero that some programs read as
octal, a missing part: each has gone unnoticed for months in real installations (\`192.168.123.1ØØ\` did).`,
  example: {
    owner: 'rhoso1/external',
    what: 'next hop',
    text: '192.168.123.1ØØ',
    kind: 'an address',
    reason: '"Ø" is not a digit',
  },
})

function sampleOf(kind: string): string {
  if (kind === 'a network') return '172.17.0.0/24'
  return kind === 'a range' ? '172.17.0.80-172.17.0.90' : '172.17.0.80'
}

export const otherFamily = problem<{ owner: string; what: string; family: number; expected: string }>({
  code: 'SL2109',
  severity: 'error',
  title: 'An address is of another family',
  message: ({ owner, what, family, expected }) => `${owner}: ${what} is IPv${family}, and ${expected}`,
  remedy: () => 'write an address of the right family, or add the family to addressing.families',
  description: `A subnet has one family, and its gateway, spans and routes are of the same. A dual-stack network has two
subnets. The site's families are in \`addressing.families\`.`,
  example: {
    owner: 'rhoso1/internalapi',
    what: 'gateway fd00:bbbb::1',
    family: 6,
    expected: 'its subnet 172.17.0.0/24 is IPv4',
  },
})

export const overlappingSubnets = problem<{
  a: string
  b: string
  cidrA: string
  cidrB: string
  offer: string | undefined
}>({
  code: 'SL2110',
  severity: 'error',
  title: 'Two networks have overlapping subnets',
  message: ({ a, b, cidrA, cidrB }) => `${a} (${cidrA}) and ${b} (${cidrB}) overlap, and the same nodes are on both`,
  remedy: ({ b, offer }) => `give ${b} a subnet of its own${offer ? `, such as ${offer}` : ''}`,
  description: `The clouds of a site share its nodes. A node with two interfaces in one subnet sends the answer out of the
wrong one, and MetalLB refuses pools that overlap, whatever segment they are on. Own VLANs are not enough: each cloud
needs subnets of its own.`,
  example: {
    a: 'rhoso1/internalapi',
    b: 'rhoso2/internalapi',
    cidrA: '172.17.0.0/24',
    cidrB: '172.17.0.0/24',
    offer: '172.17.1.0/24',
  },
})

export const duplicateAddress = problem<{ a: string; b: string; address: string; offer: string | undefined }>({
  code: 'SL2111',
  severity: 'error',
  title: 'One address is pinned for two owners',
  message: ({ a, b, address }) => `${address} is given to ${a} and to ${b}`,
  remedy: ({ b, offer }) => `give ${b} another address${offer ? `, such as ${offer}` : ''}, or leave it to the planner`,
  description: `A pin reserves an address for one machine. Two machines with the same address on one segment disturb each other.`,
  example: {
    a: 'rhoso1/ctlplane host compute-0',
    b: 'rhoso1/ctlplane host compute-1',
    address: '192.168.122.100',
    offer: '192.168.122.101',
  },
})

export const moreOverlaps = problem<{ segment: string; shown: number }>({
  code: 'SL2112',
  severity: 'error',
  title: 'There are more overlaps than are shown',
  message: ({ segment, shown }) => `on ${segment} only the first ${shown} overlaps are shown; there are more`,
  remedy: () => 'fix those that are shown and plan again',
  description: `One wrong range can overlap thousands of others, so only the first pairs are listed.`,
  example: { segment: 'main/20', shown: 200 },
})

export const liveOverlap = problem<{ owner: string; range: string; live: string; offer: string | undefined }>({
  code: 'SL2113',
  severity: 'error',
  title: 'The cluster already holds addresses of a span',
  message: ({ owner, range, live }) => `${owner} owns ${range}, and the cluster holds them already: ${live}`,
  remedy: ({ offer }) =>
    `import what is there (\`stackloom import --from cluster\`)${offer ? `, or use ${offer}` : ', or choose other addresses'}`,
  description: `With \`--live\` the ledger also knows what the cluster really holds: pools, attachment definitions, node
addresses and NetConfigs that no cloud of the site file owns. They conflict with the plan like any other owner.`,
  example: {
    owner: 'rhoso2/ctlplane vips',
    range: '192.168.122.80-192.168.122.90',
    live: 'IPAddressPool metallb-system/ctlplane',
    offer: '192.168.122.121-192.168.122.131',
  },
})
