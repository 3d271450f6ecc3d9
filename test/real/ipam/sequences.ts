/**
 * Generates random sequences for two implementations: a NetConfig, and IPSets that are created and deleted. Pure.
 *
 * Intended differences from infra-operator are listed here, with the input that makes infra-operator behave the same.
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

/** How infra-operator differs, and how its input is changed so that the results are equal. */
export const exceptions = [
  {
    name: 'it assigns the gateway, the network address and the broadcast address to hosts',
    adapt: (subnet: NetConfigSubnet): NetConfigSubnet => {
      const network = cidr(subnet.cidr)
      const { family, base } = network
      // IPv6 has no broadcast.
      const ends = family === 4 ? [base, lastAddress(network)] : [base]
      const reserved = ends.map((value) => formatAddress({ family, value }))
      const gateway = subnet.gateway === undefined ? [] : [subnet.gateway]
      return {
        ...subnet,
        excludeAddresses: [...new Set([...(subnet.excludeAddresses ?? []), ...gateway, ...reserved])],
      }
    },
  },
  // Waiting IPSets are touched, oldest first, after each delete.
  { name: 'it does not serve waiting IPSets when an address is freed' },
  // Sequences touch only waiting IPSets, and delete none that would free a lower address of an IPSet that has some
  // addresses and waits for another.
  {
    name: 'it selects again at every reconcile, so that a host may move to a lower address (not since 2024)',
  },
  // Only the last network of an IPSet can be full, or its address taken.
  { name: 'it stops at the first network without an address: later networks get none' },
  // Each sequence has its own segment, and its networks do not overlap.
  { name: 'networks and namespaces that share a segment get the same addresses' },
  // Names are requested as the NetConfig spells them.
  { name: 'names differ by case (they do not since 2024)' },
] as const

export function adaptForInfraOperator(spec: NetConfigSpec): NetConfigSpec {
  const adapt = (subnet: NetConfigSubnet): NetConfigSubnet =>
    exceptions.reduce((adapted, exception) => ('adapt' in exception ? exception.adapt(adapted) : adapted), subnet)
  return { networks: spec.networks.map((network) => ({ ...network, subnets: network.subnets.map(adapt) })) }
}

/** Every third sequence has more hosts than addresses, at one edge after the other; the first is fixed. */
export function sequences(count: number, seed: number): readonly Sequence[] {
  const drawn = Array.from({ length: count - 1 }, (_, n) => {
    const edge = n % 3 === 2 ? edges[Math.floor(n / 3) % edges.length] : undefined
    return fc.sample(edge ? crowdedAt(edge) : mixed, { numRuns: 1, seed: seed + n })
  })
  return [overtaken, ...drawn.flat()]
}

/** The oldest waiting IPSet requests an address that stays taken, so that a younger one gets the freed one. */
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

/** Consecutive addresses, some in the ranges of a subnet: all of a small one, or those at a border in a large one. */
interface Place {
  readonly cidr: string
  readonly at: (n: number) => string
}

/** The number of addresses that can be drawn; the next is the last of a small subnet. */
const reachOf = (wide: boolean): number => (wide ? 14 : 6)

function placeOf(index: number, { six, crossing, wide }: Record<'six' | 'crossing' | 'wide', boolean>): Place {
  // In the large subnet the third ends with .0, or with 16 zero bits, which is never assigned.
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
  /** Has addresses for every host of a sequence. In the others gateway, broadcast, excluded and exhausted happen. */
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
        // Does not overlap the first, which both webhooks refuse.
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

/** Small ranges at the edges of what may be assigned: from the `first` address after `base` to the `last`. */
const edges = [
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 0, last: 1, why: 'the network address' },
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 6, last: 7, why: 'the broadcast address' },
  { cidr: '10.0.0.16/29', base: '10.0.0.16', first: 5, last: 7, why: 'the broadcast address, two before it' },
  { cidr: '10.0.0.0/23', base: '10.0.0.253', first: 2, last: 4, why: '.0 in the midst of a subnet' },
  { cidr: 'fd00:1::10/125', base: 'fd00:1::10', first: 0, last: 1, why: 'the first of an IPv6 subnet' },
  { cidr: 'fd00:1::10/125', base: 'fd00:1::10', first: 6, last: 7, why: 'the last address, which is assigned' },
  { cidr: 'fd00:1::/64', base: 'fd00:1::fffd', first: 2, last: 4, why: '16 zero bits' },
  { cidr: 'fd00:1::/64', base: 'fd00:1::fd', first: 2, last: 4, why: '8 zero bits, which are given' },
] as const

function drawnAt({ cidr: prefix, base, first, last }: (typeof edges)[number]): Drawn {
  const { family, value } = address(base)
  const at = (n: number): string => formatAddress({ family, value: value + BigInt(n) })
  const allocationRanges = [{ start: at(first), end: at(last) }]
  return { subnet: { name: 'subnet1', cidr: prefix, vlan: 20, allocationRanges }, at, wide: false }
}

const drawRequest = (
  networks: fc.Arbitrary<readonly number[]>,
  leaves: fc.Arbitrary<number | null>,
  address = fc.nat(),
): fc.Arbitrary<Draw> =>
  fc.record({
    deletes: leaves,
    networks,
    // Rarely: requests without a fixedIP are what exhausts a pool.
    fixed: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: address }),
  })

/** Hosts that are created and deleted, on one to three networks. */
const mixed: fc.Arbitrary<Sequence> = fc.integer({ min: 1, max: 3 }).chain((many) =>
  fc
    .record({
      drawn: fc.tuple(...Array.from({ length: many }, (_, index) => subnetAt(index))),
      draws: fc.array(
        drawRequest(fc.shuffledSubarray([...Array(many).keys()], { minLength: 1 }), fc.option(fc.nat(), { freq: 2 })),
        { minLength: 4, maxLength: 7 },
      ),
    })
    .map(sequenceOf),
)

/** More hosts than addresses, so that several wait for one pool; then the first ones are deleted. */
const crowdedAt = (edge: (typeof edges)[number]): fc.Arbitrary<Sequence> => {
  // An address that another host has or waits for, counted like draws: from the second address.
  const inRange = fc.integer({ min: Math.max(edge.first, 1) - 1, max: Math.min(edge.last, 6) - 1 })
  const comes = (networks: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Draw> =>
    drawRequest(networks, fc.constant(null), inRange)
  const leaves = fc.option(fc.nat({ max: 1 }), { freq: 3 })
  return fc
    .record({
      wide: subnetAt(1, true),
      first: fc.array(comes(fc.constant([0])), { minLength: 2, maxLength: 2 }),
      more: fc.array(comes(fc.constantFrom([0], [0, 1])), { minLength: 2, maxLength: 3 }),
      last: fc.array(drawRequest(fc.constant([0]), leaves, inRange), { minLength: 2, maxLength: 4 }),
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

/** An existing host, with what decides whether it may be deleted. */
interface Host {
  readonly name: string
  readonly networks: readonly number[]
  /** Its last network may have no address for it: then it holds the others and waits. */
  readonly mayWait: boolean
}

function stepsOf(draws: readonly Draw[], drawn: readonly Drawn[]): readonly Step[] {
  const isWide = (network: number): boolean => drawn[network]?.wide ?? false
  const living: Host[] = []
  return draws.map(({ deletes, networks: requested, fixed }, index): Step => {
    const deletable = deletes === null ? [] : living.filter((host) => mayBeDeleted(host, living))
    const deleted = deletable[(deletes ?? 0) % deletable.length]
    if (deleted) {
      living.splice(living.indexOf(deleted), 1)
      return { kind: 'delete', name: deleted.name }
    }
    const name = `host-${index}`
    const networks = [...requested.filter(isWide), ...requested.filter((network) => !isWide(network)).slice(0, 1)]
    const last = networks.at(-1) ?? 0
    living.push({ name, networks, mayWait: fixed !== null || !isWide(last) })
    const fixedIP = fixed === null ? undefined : drawn[last]?.at(1 + (fixed % reachOf(isWide(last))))
    const requests = networks.map((network) => ({
      name: `net-${network}`,
      subnetName: 'subnet1',
      ...(network === last && fixedIP !== undefined && { fixedIP }),
    }))
    return { kind: 'create', name, networks: requests }
  })
}

/** No younger host may wait with an address of one of its networks that it would then exchange for a lower one. */
function mayBeDeleted(host: Host, living: readonly Host[]): boolean {
  const younger = living.slice(living.indexOf(host) + 1)
  return !younger.some(
    ({ networks, mayWait }) => mayWait && networks.slice(0, -1).some((network) => host.networks.includes(network)),
  )
}
