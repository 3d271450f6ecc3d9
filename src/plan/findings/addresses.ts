/** SL21xx: addresses, networks and spans that are invalid, or that conflict with each other. */
import { problem } from '../../errors/finding.ts'

export const spansOverlap = problem<{ a: string; b: string; shared: string; offer: string | undefined }>({
  code: 'SL2101',
  severity: 'error',
  message: ({ a, b, shared }) => `${a} and ${b} both own ${shared}`,
  remedy: ({ b, offer }) =>
    offer ? `give ${b} what is free: ${offer}` : `make the subnet larger, or give ${b} fewer addresses`,
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
  message: ({ owner, cidr, use, reserved }) =>
    `${owner} uses ${cidr}, and the cluster uses ${reserved} for its ${use} network`,
  remedy: ({ offer }) => `choose another subnet${offer ? `, for example ${offer}` : ''}`,
})

export const publicSpace = problem<{ owner: string; cidr: string; offer: string | undefined }>({
  code: 'SL2103',
  severity: 'error',
  message: ({ owner, cidr }) => `${owner} uses ${cidr}, which is public address space`,
  remedy: ({ offer }) =>
    `choose a private range${offer ? `, for example ${offer}` : ''}; if you own the space, accept the finding in spec.accept`,
})

export const specialSpace = problem<{ owner: string; cidr: string; about: string }>({
  code: 'SL2104',
  severity: 'error',
  message: ({ owner, cidr, about }) => `${owner} uses ${cidr}, which is ${about}`,
  remedy: () => 'choose a network in 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 or fc00::/7',
})

export const spanOutside = problem<{ owner: string; what: string; cidrs: string }>({
  code: 'SL2105',
  severity: 'error',
  message: ({ owner, what, cidrs }) => `${owner}: ${what} is not inside ${cidrs}`,
  remedy: ({ cidrs }) => `choose addresses of ${cidrs}`,
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
  message: ({ owner, span, what, address }) => `${owner}: ${span} contains ${address}, the ${what}`,
  remedy: ({ offer, address }) =>
    offer ? `use ${offer}` : `leave ${address} out of the span, or name it in \`reserved\``,
})

export const hostBits = problem<{ owner: string; text: string; network: string }>({
  code: 'SL2107',
  severity: 'error',
  message: ({ owner, text, network }) => `${owner}: ${text} is an address, not a network; its network is ${network}`,
  remedy: ({ network }) => `write ${network}`,
})

export const notAnAddress = problem<{ owner: string; what: string; text: string; kind: string; reason: string }>({
  code: 'SL2108',
  severity: 'error',
  message: ({ owner, what, text, kind, reason }) => `${owner}: ${what} "${text}" is not ${kind}: ${reason}`,
  remedy: ({ kind }) => `write ${kind}, such as ${sampleOf(kind)}`,
})

function sampleOf(kind: string): string {
  if (kind === 'a network') return '172.17.0.0/24'
  return kind === 'a range' ? '172.17.0.80-172.17.0.90' : '172.17.0.80'
}

export const otherFamily = problem<{ owner: string; what: string; family: number; expected: string }>({
  code: 'SL2109',
  severity: 'error',
  message: ({ owner, what, family, expected }) => `${owner}: ${what} is IPv${family}, and ${expected}`,
  remedy: () => 'write an address of the right family, or add the family to addressing.families',
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
  message: ({ a, b, cidrA, cidrB }) => `${a} (${cidrA}) and ${b} (${cidrB}) overlap, and the same nodes are on both`,
  remedy: ({ b, offer }) => `give ${b} a subnet of its own${offer ? `, such as ${offer}` : ''}`,
})

export const duplicateAddress = problem<{ a: string; b: string; address: string; offer: string | undefined }>({
  code: 'SL2111',
  severity: 'error',
  message: ({ a, b, address }) => `${address} is given to ${a} and to ${b}`,
  remedy: ({ b, offer }) => `give ${b} another address${offer ? `, such as ${offer}` : ''}, or leave it to the planner`,
})

export const moreOverlaps = problem<{ segment: string; shown: number }>({
  code: 'SL2112',
  severity: 'error',
  message: ({ segment, shown }) => `on ${segment} only the first ${shown} overlaps are shown; there are more`,
  remedy: () => 'fix those that are shown and plan again',
})

export const liveOverlap = problem<{ owner: string; range: string; live: string; offer: string | undefined }>({
  code: 'SL2113',
  severity: 'error',
  message: ({ owner, range, live }) => `${owner} owns ${range}, and the cluster holds them already: ${live}`,
  remedy: ({ offer }) =>
    `import what is there (\`stackloom import --source cluster\`)${offer ? `, or use ${offer}` : ', or choose other addresses'}`,
})
