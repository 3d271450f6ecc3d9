import fc from 'fast-check'
import { Address4, Address6 } from 'ip-address'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { address, formatAddress } from './address.ts'
import {
  type Cidr,
  cidr,
  cidrContaining,
  cidrContains,
  cidrRange,
  cidrSize,
  cidrsOverlap,
  createAddressFormatter,
  explainInvalidCidr,
  formatCidr,
  formatConsecutive,
  lastAddress,
  nthSubnet,
  parseCidr,
  parsePrefixed,
  subnetCount,
  subnets,
  usableRange,
} from './cidr.ts'
import { formatRange, parseRange, toCidrs } from './range.ts'
import { rangeSet, setSize } from './range-set.ts'
import { addressPurposes, findSpecialBlock } from './special.ts'

const runs = { numRuns: count({ test: 1000, soak: 50_000 }) }
const anyAddress = fc.oneof(
  fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => ({ family: 4 as const, value })),
  fc.bigInt({ min: 1n << 120n, max: (1n << 128n) - 1n }).map((value) => ({ family: 6 as const, value })),
)
const anyCidr = anyAddress.chain((address) =>
  fc.integer({ min: 0, max: address.family === 4 ? 32 : 128 }).map((prefix) => cidrContaining(address, prefix)),
)

describe('a network', () => {
  it('has the first and last address that the ip-address package says', () => {
    fc.assert(
      fc.property(anyCidr, (network) => {
        const text = formatCidr(network)
        const oracle = network.family === 4 ? new Address4(text) : new Address6(text)
        expect(network.base).toBe(oracle.startAddress().bigInt())
        expect(lastAddress(network)).toBe(oracle.endAddress().bigInt())
        expect(parseCidr(text)).toEqual(network)
      }),
      runs,
    )
  })

  it('contains an address and overlaps a network exactly when the ip-address package says so', () => {
    fc.assert(
      fc.property(anyCidr, anyCidr, (a, b) => {
        fc.pre(a.family === b.family)
        const make = (text: string) => (a.family === 4 ? new Address4(text) : new Address6(text))
        const [oracleA, oracleB] = [make(formatCidr(a)), make(formatCidr(b))]
        const nested = oracleA.isInSubnet(oracleB) || oracleB.isInSubnet(oracleA)
        expect(cidrsOverlap(a, b)).toBe(nested)
        expect(cidrContains(a, { family: a.family, value: b.base })).toBe(
          make(formatAddress({ family: b.family, value: b.base })).isInSubnet(oracleA),
        )
      }),
      runs,
    )
  })

  it('formats its addresses as formatAddress does, only faster', () => {
    const near = fc.oneof(fc.bigInt(0n, 0x2ffffn), fc.bigInt(0n, (1n << 64n) - 1n))
    fc.assert(
      fc.property(anyCidr, near, (network, offset) => {
        const value = network.base + (offset % cidrSize(network))
        const text = formatAddress({ family: network.family, value })
        expect(createAddressFormatter(network)(value)).toBe(text)
        const rest = lastAddress(network) - value + 1n
        const count = rest < 3n ? Number(rest) : 3
        const run = [0n, 1n, 2n]
          .slice(0, count)
          .map((step) => formatAddress({ family: network.family, value: value + step }))
        expect(formatConsecutive(network, value, count)).toEqual(run)
      }),
      runs,
    )
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0n, 1n), { minLength: 4, maxLength: 4 }),
        fc.bigInt(0n, 0xfffffn),
        (groups, offset) => {
          const high = groups.reduce<bigint>((sum, group) => (sum << 16n) | group, 0n)
          const network: Cidr = { family: 6, base: high << 64n, prefix: 64 }
          const value = network.base + offset
          expect(createAddressFormatter(network)(value)).toBe(formatAddress({ family: 6, value }))
          expect(formatConsecutive(network, value, 1)).toEqual([formatAddress({ family: 6, value })])
        },
      ),
      runs,
    )
  })

  it.each([
    ['172.17.0.1/24', 'host bits are set; the network is 172.17.0.0/24'],
    ['172.17.0.0', 'prefix length is missing'],
    ['172.17.0.0/33', 'from 0 to 32'],
    ['172.17.0.0/024', 'from 0 to 32'],
    ['172.17.0/24', 'four parts'],
    ['fd00::/129', 'from 0 to 128'],
    ['fd00::1/64', 'the network is fd00::/64'],
  ])('is not %s, with the reason', (text, reason) => {
    expect(parseCidr(text)).toBeUndefined()
    expect(explainInvalidCidr(text)).toContain(reason)
  })

  it('with host bits is the address of an interface', () => {
    expect(parsePrefixed('172.17.0.5/24')).toEqual({ address: address('172.17.0.5'), prefix: 24 })
  })

  it('excludes its network and broadcast address from the usable range', () => {
    expect(formatRange(usableRange(cidr('172.17.0.0/24')))).toBe('172.17.0.1-172.17.0.254')
    expect(formatRange(usableRange(cidr('10.0.0.0/31')))).toBe('10.0.0.0-10.0.0.1')
    expect(formatRange(usableRange(cidr('fd00::/126')))).toBe('fd00::1-fd00::3')
  })

  it('is divided into subnets by number', () => {
    const supernet = cidr('172.16.0.0/12')
    expect(subnetCount(supernet, 24)).toBe(4096n)
    expect(formatCidr(nthSubnet(supernet, 24, 257) ?? supernet)).toBe('172.17.1.0/24')
    expect(nthSubnet(supernet, 24, 4096)).toBeUndefined()
    expect([...subnets(cidr('10.0.0.0/30'), 32)].map(formatCidr)).toHaveLength(4)
  })
})

describe('a range', () => {
  it('is parsed from a-b, from a prefix and from one address', () => {
    expect(formatRange(parseRange('172.17.0.80-172.17.0.90') ?? cidrRange(cidr('::/0')))).toBe(
      '172.17.0.80-172.17.0.90',
    )
    expect(parseRange('10.0.0.0/30')).toEqual(parseRange('10.0.0.0 - 10.0.0.3'))
    expect(parseRange('10.0.0.9-10.0.0.1')).toBeUndefined()
    expect(parseRange('10.0.0.9-fd00::1')).toBeUndefined()
  })

  it('is exactly the prefixes that it is divided into', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.nat(5000), (from, length) => {
        const range = { family: 4 as const, first: BigInt(from), last: BigInt(from + length) }
        const cut = toCidrs(range)
        expect(rangeSet(cut.map(cidrRange))).toEqual([range])
        expect(cut.reduce((sum, cidr) => sum + cidrSize(cidr), 0n)).toBe(setSize([range]))
      }),
      runs,
    )
  })
})

describe('the purpose of an address', () => {
  it.each([
    ['172.17.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['172.50.0.1', 'public'],
    ['169.254.169.254', 'link-local'],
    ['100.64.0.1', 'shared'],
    ['192.0.2.1', 'documentation'],
    ['fd00::1', 'private'],
    ['2001:db8::1', 'documentation'],
    ['2a00::1', 'public'],
    ['fe80::1', 'link-local'],
    ['::1', 'loopback'],
    ['224.0.0.1', 'multicast'],
  ])('%s is %s', (text, purpose) => {
    expect(findSpecialBlock(address(text))?.purpose ?? 'public').toBe(purpose)
  })

  it('of a wide network may be several', () => {
    expect(addressPurposes(cidr('172.16.0.0/12'))).toEqual(['private'])
    expect(addressPurposes(cidr('172.0.0.0/8'))).toEqual(['public', 'private'])
  })
})
