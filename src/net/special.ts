/**
 * Looks up the purpose of an address in IANA's special-purpose registries.
 *
 * Pure. Must not decide whether a use is right; the planner does.
 */
import type { Address } from './address.ts'
import { type Cidr, cidr, cidrContains, cidrsOverlap } from './cidr.ts'

export type Purpose =
  | 'private'
  | 'public'
  | 'shared'
  | 'link-local'
  | 'loopback'
  | 'documentation'
  | 'benchmarking'
  | 'multicast'
  | 'unspecified'
  | 'translation'
  | 'reserved'

export interface SpecialBlock {
  readonly cidr: Cidr
  readonly purpose: Purpose
  /** To follow "172.50.0.0/24 is …". */
  readonly description: string
}

const block = (text: string, purpose: Purpose, about: string): SpecialBlock => ({
  cidr: cidr(text),
  purpose,
  description: about,
})

/** Where two blocks overlap, the narrower one comes first. */
const blocks: readonly SpecialBlock[] = [
  block('0.0.0.0/8', 'unspecified', '"this network", never the address of a machine (RFC 791)'),
  block('10.0.0.0/8', 'private', 'private space (RFC 1918)'),
  block('100.64.0.0/10', 'shared', 'shared space for carrier-grade NAT, and for OVN-Kubernetes (RFC 6598)'),
  block('127.0.0.0/8', 'loopback', 'loopback (RFC 1122)'),
  block('169.254.0.0/16', 'link-local', 'link-local, and used by metadata services (RFC 3927)'),
  block('172.16.0.0/12', 'private', 'private space (RFC 1918)'),
  block('192.0.0.0/24', 'reserved', 'for IETF protocol assignments (RFC 6890)'),
  block('192.0.2.0/24', 'documentation', 'for documentation (RFC 5737)'),
  block('192.31.196.0/24', 'reserved', 'for AS112 service (RFC 7535)'),
  block('192.52.193.0/24', 'reserved', 'for automatic multicast tunneling (RFC 7450)'),
  block('192.88.99.0/24', 'reserved', 'the retired 6to4 relay anycast (RFC 7526)'),
  block('192.168.0.0/16', 'private', 'private space (RFC 1918)'),
  block('192.175.48.0/24', 'reserved', 'for AS112 service (RFC 7534)'),
  block('198.18.0.0/15', 'benchmarking', 'for benchmarks (RFC 2544)'),
  block('198.51.100.0/24', 'documentation', 'for documentation (RFC 5737)'),
  block('203.0.113.0/24', 'documentation', 'for documentation (RFC 5737)'),
  block('224.0.0.0/4', 'multicast', 'multicast (RFC 5771)'),
  block('240.0.0.0/4', 'reserved', 'reserved for future use (RFC 1112)'),
  block('::/128', 'unspecified', 'the unspecified address (RFC 4291)'),
  block('::1/128', 'loopback', 'loopback (RFC 4291)'),
  {
    cidr: { family: 6, base: 0xffff00000000n, prefix: 96 },
    purpose: 'translation',
    description: 'IPv4-mapped (RFC 4291)',
  },
  block('64:ff9b::/96', 'translation', 'for IPv4/IPv6 translation (RFC 6052)'),
  block('64:ff9b:1::/48', 'translation', 'for local IPv4/IPv6 translation (RFC 8215)'),
  block('100::/64', 'reserved', 'discard-only (RFC 6666)'),
  block('2001:2::/48', 'benchmarking', 'for benchmarks (RFC 5180)'),
  block('2001:db8::/32', 'documentation', 'for documentation (RFC 3849)'),
  block('2001::/23', 'reserved', 'for IETF protocol assignments (RFC 2928)'),
  block('2002::/16', 'translation', '6to4 (RFC 3056)'),
  block('3fff::/20', 'documentation', 'for documentation (RFC 9637)'),
  block('5f00::/16', 'reserved', 'for segment routing identifiers (RFC 9602)'),
  block('fc00::/7', 'private', 'unique local space (RFC 4193)'),
  block('fe80::/10', 'link-local', 'link-local (RFC 4291)'),
  block('fec0::/10', 'reserved', 'the retired site-local space (RFC 3879)'),
  block('ff00::/8', 'multicast', 'multicast (RFC 4291)'),
]

/** The block that contains an address; undefined for ordinary public space. */
export function findSpecialBlock(address: Address): SpecialBlock | undefined {
  return blocks.find((block) => cidrContains(block.cidr, address))
}

/** The purposes of all addresses of a network: a wide prefix may have several. */
export function addressPurposes(network: Cidr): readonly Purpose[] {
  const touched = blocks.filter((block) => cidrsOverlap(block.cidr, network))
  const whole = touched.find((specialBlock) =>
    cidrContains(specialBlock.cidr, { family: network.family, value: network.base }),
  )
  const inside = whole !== undefined && whole.cidr.prefix <= network.prefix
  const purposes = new Set<Purpose>(inside ? [whole.purpose] : ['public'])
  if (!inside) for (const specialBlock of touched) purposes.add(specialBlock.purpose)
  return [...purposes]
}
