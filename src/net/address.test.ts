import { isIP } from 'node:net'
import fc from 'fast-check'
import { Address4, Address6 } from 'ip-address'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { address, compareAddresses, createNeighbourParser, formatAddress, parseAddress, plus } from './address.ts'
import { explainInvalidAddress } from './address-text.ts'

const runs = { numRuns: count({ test: 1000, soak: 100_000 }) }
const ipv4Value = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n })
const group = fc.oneof({ weight: 2, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: fc.bigInt(0n, 0xffffn) })
/** The texts differ in runs of zero groups. */
const ipv6Value = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((all) => all.reduce((sum, group) => (sum << 16n) | group, 0n))
const mapped = (value: bigint): boolean => value >> 32n === 0xffffn

describe('an IPv4 address', () => {
  it('is parsed and formatted as the ip-address package does (property)', () => {
    fc.assert(
      fc.property(ipv4Value, (value) => {
        const oracle = Address4.fromBigInt(value).address
        expect(formatAddress({ family: 4, value })).toBe(oracle)
        expect(parseAddress(oracle)).toEqual({ family: 4, value })
      }),
      runs,
    )
  })

  it('is accepted only if Node accepts it, and only without leading zeros', () => {
    const part = fc.oneof(fc.nat(300).map(String), fc.constantFrom('', '00', '01', '0', '1Ø', ' 1', '-1', '1e1'))
    fc.assert(
      fc.property(fc.array(part, { minLength: 3, maxLength: 5 }), (parts) => {
        const text = parts.join('.')
        expect(parseAddress(text) !== undefined).toBe(isIP(text) === 4)
      }),
      runs,
    )
  })
})

describe('an IPv6 address', () => {
  it('is parsed and formatted as the ip-address package does (property)', () => {
    fc.assert(
      fc.property(ipv6Value, (value) => {
        fc.pre(!mapped(value))
        const oracle = Address6.fromBigInt(value)
        expect(formatAddress({ family: 6, value })).toBe(oracle.correctForm())
        expect(parseAddress(oracle.canonicalForm())).toEqual({ family: 6, value })
        expect(parseAddress(oracle.correctForm().toUpperCase())).toEqual({ family: 6, value })
      }),
      runs,
    )
  })

  it('is accepted only if Node accepts it', () => {
    const piece = fc.constantFrom('', ':', '::', '0', '1', 'ffff', '12345', 'g', '1.2.3.4', '01.2.3.4', 'DB8')
    const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((all) => all.join(':'))
    const glued = fc.array(piece, { minLength: 1, maxLength: 12 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.oneof(text, glued), (candidate) => {
        const read = parseAddress(candidate, { mapped: true })
        expect(read?.family ?? 0).toBe(isIP(candidate))
      }),
      runs,
    )
  })

  it.each([
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0DB8::0001', '2001:db8::1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ])('%s is formatted as %s (RFC 5952)', (text, canonical) => {
    expect(formatAddress(address(text))).toBe(canonical)
  })

  it('that maps an IPv4 address is rejected unless requested', () => {
    expect(parseAddress('::ffff:192.0.2.1')).toBeUndefined()
    expect(parseAddress('::ffff:c000:201')).toBeUndefined()
    expect(parseAddress('::ffff:192.0.2.1', { mapped: true })).toEqual({ family: 6, value: 0xffffc0000201n })
  })
})

describe('explainInvalidAddress', () => {
  it.each([
    ['192.168.123.1ØØ', '"Ø" is not a digit'],
    ['', 'it is empty'],
    [' 10.0.0.1', 'white space'],
    ['10.0.0', 'four parts, this has 3'],
    ['10.0..1', 'part 3 is empty'],
    ['10.0.0.010', 'leading zero'],
    ['10.0.0.256', 'part 4 (256) is above 255'],
    ['10.0.0.0/24', 'it is a prefix'],
    ['fe80::1%eth0', 'a zone (%eth0)'],
    ['fd00::g', '"g" is not a hexadecimal digit'],
    ['fd00::1::2', 'only once'],
    ['fd00:1', 'eight groups, this has 2'],
    ['fd00:12345::', 'more than four digits'],
    ['1:2:3:4:5:6:7::8', 'at least one group'],
    ['::ffff:10.0.0.1', 'write the IPv4 address'],
    ['::10.0.0.300', 'above 255'],
    [':1::2', 'empty'],
  ])('explains why %s is not an address', (text, reason) => {
    expect(parseAddress(text)).toBeUndefined()
    expect(explainInvalidAddress(text)).toContain(reason)
  })

  it('has a reason for every invalid text and none for a valid one (property)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const none = explainInvalidAddress(text) === 'it is an address'
        expect(none).toBe(parseAddress(text) !== undefined)
      }),
      runs,
    )
  })
})

describe('createNeighbourParser', () => {
  it('returns what parsing each address alone returns', () => {
    const piece = fc.constantFrom(
      'fd00::1',
      'fd00::2',
      'fd00::ffff',
      'fd00::',
      'fd00:',
      'fd00::g',
      'fd00::1.2.3.4',
      '10.0.0.1',
    )
    const odd = fc.constantFrom(
      '::ffff:1',
      '::fffe:1',
      '::ffff:10.0.0.1',
      '1:2:3:4:5:6:7:8',
      '1:2:3:4:5:6:7:9',
      '1:2:3:4:5:6:7:8:9',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, odd, fc.ipV6()), { maxLength: 12 }), (texts) => {
        const read = createNeighbourParser()
        expect(texts.map((text) => read(text))).toEqual(texts.map((text) => parseAddress(text)))
      }),
      runs,
    )
  })
})

describe('address arithmetic', () => {
  it('stops at the ends of the family', () => {
    expect(plus(address('255.255.255.255'), 1)).toBeUndefined()
    expect(plus(address('::'), -1)).toBeUndefined()
    expect(plus(address('10.0.0.255'), 1)).toEqual(address('10.0.1.0'))
  })

  it('orders IPv4 before IPv6, then by value', () => {
    const sorted = ['fd00::1', '10.0.0.2', '::1', '10.0.0.10'].map(address).sort(compareAddresses)
    expect(sorted.map(formatAddress)).toEqual(['10.0.0.2', '10.0.0.10', '::1', 'fd00::1'])
  })
})
