/** SL20xx: the site file: what its schema cannot check, and its acceptances. */
import { withArticle } from '../errors/article.ts'
import { problem } from '../errors/finding.ts'

export const duplicateName = problem<{ what: string; name: string; first: string }>({
  code: 'SL2001',
  severity: 'error',
  message: ({ what, name, first }) => `there is ${withArticle(what)} ${name} already, at ${first}`,
  remedy: ({ what }) => `give this ${what} a name of its own, or remove it`,
})

export const badName = problem<{ what: string; name: string }>({
  code: 'SL2002',
  severity: 'error',
  message: ({ what, name }) =>
    `${JSON.stringify(name)} cannot name ${withArticle(what)}: lower case letters, digits and dashes, at most 63, a letter or digit at both ends`,
  remedy: ({ what }) => `choose such a name for the ${what}`,
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
  message: ({ what, name, within, nearest }) =>
    `${within} has no ${what} ${name}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ what, name, nearest, known }) => {
    if (nearest) return `write ${nearest}, or add ${withArticle(what)} ${name}`
    return known.length > 0 ? `known: ${known.join(', ')}` : `add ${withArticle(what)} ${name}`
  },
})

export const nodeWithoutNic = problem<{ node: string }>({
  code: 'SL2004',
  severity: 'error',
  message: ({ node }) => `the node ${node} has no NIC called main`,
  remedy: () => 'add nic: with the name of the interface that carries the networks, such as nic: enp6s0',
})

export const conflictingNics = problem<{ node: string; short: string; long: string }>({
  code: 'SL2005',
  severity: 'error',
  message: ({ node, short, long }) => `the node ${node} says nic: ${short} and nics: {main: ${long}}`,
  remedy: () => 'keep one of them',
})

export const networkWithoutSubnets = problem<{
  network: string
  roles: readonly string[]
  nearest?: string | undefined
}>({
  code: 'SL2006',
  severity: 'error',
  message: ({ network, roles, nearest }) =>
    `the network ${network} has neither subnets nor supernets, but needs addresses for ${roles.join(', ')}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ network, nearest }) =>
    `${nearest ? `write ${nearest}, or ` : ''}add supernets: [10.20.0.0/16] or subnets to ${network}, or roles: [] for none`,
})

export const bgpIncomplete = problem<{ missing: string }>({
  code: 'SL2007',
  severity: 'error',
  message: ({ missing }) => `metallb.mode is bgp, but ${missing} is missing`,
  remedy: ({ missing }) => `add ${missing} below spec.cluster.metallb, or use mode: layer2`,
})

export const bgpUnused = problem<Record<never, never>>({
  code: 'SL2008',
  severity: 'warning',
  message: () => 'metallb has peers or an asn, but its mode is layer2: they have no effect',
  remedy: () => 'add mode: bgp, or remove peers and asn',
})

export const badLayout = problem<{ role: string; text: string }>({
  code: 'SL2009',
  severity: 'error',
  message: ({ role, text }) => `the layout of ${role} is ${JSON.stringify(text)}, which is not a range of offsets`,
  remedy: () => 'write the first and the last offset from the start of a subnet, such as 80-90',
})

export const badVlanRange = problem<{ first: number; last: number }>({
  code: 'SL2010',
  severity: 'error',
  message: ({ first, last }) => `no VLAN is from ${first} to ${last}: ids go from 1 to 4094, first before last`,
  remedy: () => 'write a range that your switches carry, such as {first: 20, last: 400}',
})

export const acceptUnknown = problem<{ code: string; nearest: string | undefined }>({
  code: 'SL2011',
  severity: 'error',
  message: ({ code, nearest }) => `no finding has the code ${code}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'list all codes with `stackloom explain`',
})

export const acceptUnused = problem<{ code: string; where: string | undefined }>({
  code: 'SL2012',
  severity: 'info',
  message: ({ code, where }) => `no finding has the code ${code}${where ? ` at ${where}` : ''} any more`,
  remedy: () => 'remove the entry from spec.accept; the problem is gone',
})

export const familyWithoutSupernet = problem<{ network: string; family: number }>({
  code: 'SL2013',
  severity: 'warning',
  message: ({ network, family }) =>
    `the site uses IPv${family}, but the network ${network} has no IPv${family} subnet and no IPv${family} supernet`,
  remedy: ({ network, family }) => {
    const sample = family === 6 ? 'fd00:1234::/48' : '10.20.0.0/16'
    return `add an IPv${family} supernet such as ${sample} to ${network}, or take ${family} out of addressing.families`
  },
})

export const hostsOnlyNetwork = problem<{ cloud: string; network: string; needs: readonly string[] }>({
  code: 'SL2034',
  severity: 'error',
  message: ({ cloud, network, needs }) =>
    `${cloud}/${network} has nic: false, so the nodes of the cluster are not on it, but it has ${needs.join(', ')}`,
  remedy: () => 'write attach: none and roles: [hosts], or name the NIC that carries it',
})

export const subnetTooLarge = problem<{ cidr: string; network: string; least: number }>({
  code: 'SL2045',
  severity: 'error',
  message: ({ cidr, network, least }) =>
    `${cidr} of ${network} is larger than /${least}: it contains the networks of every other cloud and of the cluster`,
  remedy: () => 'write the subnet of this one network, such as 172.17.0.0/24',
})

export const tooManyClouds = problem<{ clouds: number; most: number }>({
  code: 'SL2046',
  severity: 'error',
  message: ({ clouds, most }) => `this file has ${clouds} clouds; a site has at most ${most}`,
  remedy: () => 'divide the clouds among several sites, each with a file and a lock of its own',
})

export const unlikelyNetworkName = problem<{ network: string; nearest: string | undefined; off: boolean }>({
  code: 'SL2039',
  severity: 'warning',
  message: ({ network, nearest, off }) => {
    const effect = off
      ? `${network}: false has no effect: there is no built-in network of this name`
      : `${network} is a network that this file adds`
    return `${effect}${nearest ? `; did you mean ${nearest}?` : ''}`
  },
  remedy: ({ network, nearest, off }) => {
    if (off) return nearest ? `write ${nearest}: false, or remove the line` : 'remove the line'
    return `write ${nearest}; to keep ${network} beside it, list ${nearest} in the same networks, as {} without settings`
  },
})
