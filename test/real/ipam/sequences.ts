/**
 * Random sequences for two implementations: a NetConfig, and IPSets that come and go. Pure.
 *
 * Where ours differs from infra-operator on purpose, the difference is named here, and said to infra-operator by its own
 * means; everything else must be equal.
 */
import fc from 'fast-check'
import type { IpSetNetwork } from '../../../src/api/ipset.ts'
import type { NetConfigSpec, NetConfigSubnet } from '../../../src/api/netconfig.ts'
import { address, formatAddress } from '../../../src/net/address.ts'
import { cidr, lastAddress } from '../../../src/net/cidr.ts'

export type Step =
  | { readonly kind: 'create'; readonly name: string; readonly networks: readonly IpSetNetwork[] }
  | { readonly kind: 'delete'; readonly name: string }

export interface Sequence {
  readonly spec: NetConfigSpec
  readonly steps: readonly Step[]
}

/** What infra-operator does otherwise, and how it is told to do it our way. */
export const exceptions = [
  {
    name: 'it gives the gateway, the network address and the broadcast address to hosts',
    said: (subnet: NetConfigSubnet): NetConfigSubnet => {
      const network = cidr(subnet.cidr)
      const { family, base } = network
      // IPv6 has no broadcast.
      const ends = family === 4 ? [base, lastAddress(network)] : [base]
      const nobodys = ends.map((value) => formatAddress({ family, value }))
      const gateway = subnet.gateway === undefined ? [] : [subnet.gateway]
      return {
        ...subnet,
        excludeAddresses: [...new Set([...(subnet.excludeAddresses ?? []), ...gateway, ...nobodys])],
      }
    },
  },
  // Said by touching those who wait, the oldest first, after each delete.
  { name: 'a freed address wakes nobody' },
  // Sequences touch nobody who has what it asked for, and nobody leaves who could free a lower address of somebody who
  // has some addresses and waits for another.
  {
    name: 'it chooses anew at every look, so that a host may move to a lower address (it keeps them since 2024)',
  },
  // Only the last network of an IPSet can be full, or its address taken.
  { name: 'it stops at the first network that has no address: those behind it get none' },
  // Each sequence is on a segment of its own, and its networks do not overlap.
  { name: 'networks and namespaces that share a segment get the same addresses' },
  // Names are asked for as the NetConfig spells them.
  { name: 'names differ by case (they do not since 2024)' },
] as const

export function forPeer(spec: NetConfigSpec): NetConfigSpec {
  const said = (subnet: NetConfigSubnet): NetConfigSubnet =>
    exceptions.reduce((now, one) => ('said' in one ? one.said(now) : now), subnet)
  return { networks: spec.networks.map((network) => ({ ...network, subnets: network.subnets.map(said) })) }
}

/** Every third has a crowd, at one edge after the other; the first is known: none of it is left to chance. */
export function sequences(count: number, seed: number): readonly Sequence[] {
  const drawn = Array.from({ length: count - 1 }, (_, n) => {
    const edge = n % 3 === 2 ? edges[Math.floor(n / 3) % edges.length] : undefined
    return fc.sample(edge ? crowdedAt(edge) : mixed, { numRuns: 1, seed: seed + n })
  })
  return [overtaken, ...drawn.flat()]
}

/** The oldest who waits wants an address that stays taken: a younger one gets what is freed before it. */
const overtaken: Sequence = {
  spec: {
    networks: [
      {
        name: 'net-0',
        mtu: 1500,
        dnsDomain: 'net-0.example.com',
        subnets: [
          {
            name: 'subnet1',
            cidr: '10.0.0.16/29',
            vlan: 20,
            allocationRanges: [{ start: '10.0.0.17', end: '10.0.0.18' }],
          },
        ],
      },
    ],
  },
  steps: [
    ...[undefined, undefined, '10.0.0.18', undefined, undefined].map((fixedIP, index) => ({
      kind: 'create' as const,
      name: `host-${index}`,
      networks: [{ name: 'net-0', subnetName: 'subnet1', ...(fixedIP !== undefined && { fixedIP }) }],
    })),
    ...[0, 1, 3].map((index) => ({ kind: 'delete' as const, name: `host-${index}` })),
  ],
}

/** Neighbours of which some are in the ranges of a subnet: all of a small one, or those at a border within a large one. */
interface Place {
  readonly cidr: string
  readonly at: (n: number) => string
}

/** So many addresses can be drawn; the next one is the last of a small subnet. */
const reachOf = (wide: boolean): number => (wide ? 14 : 6)

function placeOf(index: number, { six, crossing, wide }: Record<'six' | 'crossing' | 'wide', boolean>): Place {
  // Of the large one the third ends with .0, or with 16 zero bits, which is for nobody.
  const border = six ? 0xfffdn : 0xfdn
  const start = six ? `fd00:${index + 1}::` : `10.${index}.0.0`
  const { family, value } = address(start)
  const first = value + (crossing ? border : 16n)
  const small = (six ? 128 : 32) - (wide ? 4 : 3)
  const prefix = crossing ? (six ? 64 : 23) : small
  return {
    cidr: `${crossing ? start : formatAddress({ family, value: first })}/${prefix}`,
    at: (n) => formatAddress({ family, value: first + BigInt(n) }),
  }
}

interface Drawn {
  readonly subnet: NetConfigSubnet
  readonly at: Place['at']
  /** Holds everybody of a sequence. In the others gateway, broadcast, excluded and exhausted all happen. */
  readonly wide: boolean
}

const subnetAt = (index: number, surelyWide = false): fc.Arbitrary<Drawn> =>
  (surelyWide ? fc.constant(true) : fc.boolean()).chain((wide) => {
    const drawn = fc.integer({ min: 1, max: reachOf(wide) })
    return fc
      .record({
        six: fc.boolean(),
        crossing: fc.boolean(),
        first: wide ? fc.integer({ min: 1, max: 3 }) : drawn,
        size: wide ? fc.integer({ min: 10, max: 11 }) : fc.integer({ min: 0, max: 3 }),
        second: fc.option(drawn),
        gateway: fc.option(drawn),
        excluded: fc.uniqueArray(drawn, { maxLength: 2 }),
      })
      .map(({ six, crossing, first, size, second, gateway, excluded }) => {
        const { cidr: prefix, at } = placeOf(index, { six, crossing, wide })
        const last = Math.min(first + size, reachOf(wide) + 1)
        // Not overlapping the first: that is refused at the door of both.
        const more = second !== null && (second < first || second > last) ? [second] : []
        const ranges = [[first, last] as const, ...more.map((n) => [n, n] as const)]
        const subnet = {
          name: 'subnet1',
          cidr: prefix,
          vlan: 20 + index,
          allocationRanges: ranges.map(([start, end]) => ({ start: at(start), end: at(end) })),
          excludeAddresses: excluded.map(at),
          ...(gateway !== null && { gateway: at(gateway) }),
        }
        return { subnet, at, wide }
      })
  })

/** Ranges for few, at the edges of what may be given: from the `first` one after `base` to the `last`. */
const edges = [
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 0, last: 1, why: 'the network address' },
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 6, last: 7, why: 'the broadcast address' },
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 5, last: 7, why: 'the broadcast address, two before it' },
  { cidr: '10.0.0.0/23', base: '10.0.0.253', first: 2, last: 4, why: '.0 in the midst of a subnet' },
  { cidr: 'fd00:1::10/125', base: 'fd00:1::10', first: 0, last: 1, why: 'the first of an IPv6 subnet' },
  { cidr: 'fd00:1::10/125', base: 'fd00:1::10', first: 6, last: 7, why: 'the last of one, which is given' },
  { cidr: 'fd00:1::/64', base: 'fd00:1::fffd', first: 2, last: 4, why: '16 zero bits' },
  { cidr: 'fd00:1::/64', base: 'fd00:1::fd', first: 2, last: 4, why: '8 zero bits, which are given' },
] as const

function drawnAt({ cidr: prefix, base, first, last }: (typeof edges)[number]): Drawn {
  const { family, value } = address(base)
  const at = (n: number): string => formatAddress({ family, value: value + BigInt(n) })
  const allocationRanges = [{ start: at(first), end: at(last) }]
  return { subnet: { name: 'subnet1', cidr: prefix, vlan: 20, allocationRanges }, at, wide: false }
}

const wish = (
  networks: fc.Arbitrary<readonly number[]>,
  leaves: fc.Arbitrary<number | null>,
  address = fc.nat(),
): fc.Arbitrary<Draw> =>
  fc.record({
    deletes: leaves,
    networks,
    // Seldom: who asks for no certain address is what makes a pool full.
    fixed: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: address }),
  })

/** Whoever comes and goes, on one to three networks. */
const mixed: fc.Arbitrary<Sequence> = fc.integer({ min: 1, max: 3 }).chain((many) =>
  fc
    .record({
      drawn: fc.tuple(...Array.from({ length: many }, (_, index) => subnetAt(index))),
      draws: fc.array(
        wish(fc.shuffledSubarray([...Array(many).keys()], { minLength: 1 }), fc.option(fc.nat(), { freq: 2 })),
        { minLength: 4, maxLength: 7 },
      ),
    })
    .map(sequenceOf),
)

/** More than there are addresses for, so that several wait for one pool; then those who came first leave. */
const crowdedAt = (edge: (typeof edges)[number]): fc.Arbitrary<Sequence> => {
  // One that somebody else has or waits for, counted as draws are: from the second of the place.
  const inRange = fc.integer({ min: Math.max(edge.first, 1) - 1, max: Math.min(edge.last, 6) - 1 })
  const comes = (networks: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Draw> =>
    wish(networks, fc.constant(null), inRange)
  const leaves = fc.option(fc.nat({ max: 1 }), { freq: 3 })
  return fc
    .record({
      wide: subnetAt(1, true),
      first: fc.array(comes(fc.constant([0])), { minLength: 2, maxLength: 2 }),
      more: fc.array(comes(fc.constantFrom([0], [0, 1])), { minLength: 2, maxLength: 3 }),
      last: fc.array(wish(fc.constant([0]), leaves, inRange), { minLength: 2, maxLength: 4 }),
    })
    .map(({ wide, first, more, last }) =>
      sequenceOf({ drawn: [drawnAt(edge), wide], draws: [...first, ...more, ...last] }),
    )
}

function sequenceOf({ drawn, draws }: { drawn: readonly Drawn[]; draws: readonly Draw[] }): Sequence {
  const networks = drawn.map(({ subnet }, index) => ({
    name: `net-${index}`,
    mtu: 1500,
    dnsDomain: `net-${index}.example.com`,
    subnets: [subnet],
  }))
  return { spec: { networks }, steps: stepsOf(draws, drawn) }
}

interface Draw {
  readonly deletes: number | null
  readonly networks: readonly number[]
  readonly fixed: number | null
}

/** Somebody who is there, as far as it matters for who may leave. */
interface Host {
  readonly name: string
  readonly networks: readonly number[]
  /** Its last network may have nothing for it: then it holds the others, and waits. */
  readonly mayWait: boolean
}

function stepsOf(draws: readonly Draw[], drawn: readonly Drawn[]): readonly Step[] {
  const isWide = (network: number): boolean => drawn[network]?.wide ?? false
  const living: Host[] = []
  return draws.map(({ deletes, networks: asked, fixed }, index): Step => {
    const leavers = deletes === null ? [] : living.filter((host) => mayLeave(host, living))
    const leaver = leavers[(deletes ?? 0) % leavers.length]
    if (leaver) {
      living.splice(living.indexOf(leaver), 1)
      return { kind: 'delete', name: leaver.name }
    }
    const name = `host-${index}`
    const networks = [...asked.filter(isWide), ...asked.filter((one) => !isWide(one)).slice(0, 1)]
    const last = networks.at(-1) ?? 0
    living.push({ name, networks, mayWait: fixed !== null || !isWide(last) })
    const fixedIP = fixed === null ? undefined : drawn[last]?.at(1 + (fixed % reachOf(isWide(last))))
    const wishes = networks.map((network) => ({
      name: `net-${network}`,
      subnetName: 'subnet1',
      ...(network === last && fixedIP !== undefined && { fixedIP }),
    }))
    return { kind: 'create', name, networks: wishes }
  })
}

/** Nobody younger may be waiting with an address of one of its networks that it would then exchange for a lower one. */
function mayLeave(one: Host, living: readonly Host[]): boolean {
  const younger = living.slice(living.indexOf(one) + 1)
  return !younger.some(
    ({ networks, mayWait }) => mayWait && networks.slice(0, -1).some((network) => one.networks.includes(network)),
  )
}
