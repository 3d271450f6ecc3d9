import fc from 'fast-check'
import { Address4, Address6 } from 'ip-address'
import { describe, expect, it } from 'vitest'
import { address, formatAddress } from './address.ts'
import { cidr } from './cidr.ts'
import { reverseName, reverseZones } from './reverse-dns.ts'

describe('reverse DNS', () => {
  it('names an address as the ip-address package does', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) => {
        const oracle = new Address4(formatAddress({ family: 4, value })).reverseForm()
        expect(`${reverseName({ family: 4, value })}.`).toBe(oracle)
      }),
    )
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
        const oracle = Address6.fromBigInt(value).reverseForm()
        expect(`${reverseName({ family: 6, value })}.`).toBe(oracle)
      }),
    )
    expect(reverseName(address('172.17.0.5'))).toBe('5.0.17.172.in-addr.arpa')
  })

  it.each([
    ['172.17.0.0/24', ['0.17.172.in-addr.arpa']],
    ['172.17.0.0/16', ['17.172.in-addr.arpa']],
    ['172.17.2.0/23', ['2.17.172.in-addr.arpa', '3.17.172.in-addr.arpa']],
    ['172.17.0.128/25', ['0.17.172.in-addr.arpa']],
    ['fd00:bbbb::/64', ['0.0.0.0.0.0.0.0.b.b.b.b.0.0.d.f.ip6.arpa']],
  ])('cuts the zones of %s where DNS can delegate them', (network, zones) => {
    expect(reverseZones(cidr(network))).toEqual(zones)
  })
})
