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
import { cidr, lastOf } from '../../../src/net/cidr.ts'

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
    name: 'it gives the gateway and the broadcast address to hosts',
    said: (subnet: NetConfigSubnet): NetConfigSubnet => {
      const read = cidr(subnet.cidr)
      // IPv6 has no broadcast.
      const last = read.family === 4 ? [formatAddress({ family: 4, value: lastOf(read) })] : []
      const nobodys = [...(subnet.gateway === undefined ? [] : [subnet.gateway]), ...last]
      return { ...subnet, excludeAddresses: [...(subnet.excludeAddresses ?? []), ...nobodys] }
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
  return { networks: spec.networks.map((one) => ({ ...one, subnets: one.subnets.map(said) })) }
}

export function sequences(count: number, seed: number): readonly Sequence[] {
  return fc.sample(sequence, { numRuns: count, seed })
}

/** Neighbours of which some are in the ranges of a subnet: all of a small one, or those at a border within a large one. */
interface Place {
  readonly cidr: string
  readonly at: (n: number) => string
}

/** So many addresses can be drawn; the next one is the last of a small subnet. */
const reachOf = (wide: boolean): number => (wide ? 14 : 6)

function placeOf(
  index: number,
  { six, crossing, wide }: Record<'six' | 'crossing' | 'wide', boolean>,
): Place {
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

const subnetAt = (index: number): fc.Arbitrary<Drawn> =>
  fc.boolean().chain((wide) => {
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

const sequence: fc.Arbitrary<Sequence> = fc.integer({ min: 1, max: 3 }).chain((many) =>
  fc
    .record({
      drawn: fc.tuple(...Array.from({ length: many }, (_, index) => subnetAt(index))),
      steps: fc.array(
        fc.record({
          deletes: fc.option(fc.nat(), { freq: 2 }),
          networks: fc.shuffledSubarray([...Array(many).keys()], { minLength: 1 }),
          // Seldom: who asks for no certain address is what makes a pool full.
          fixed: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
        }),
        { minLength: 4, maxLength: 7 },
      ),
    })
    .map(({ drawn, steps }) => ({
      spec: {
        networks: drawn.map(({ subnet }, index) => ({
          name: `net-${index}`,
          mtu: 1500,
          dnsDomain: `net-${index}.example.com`,
          subnets: [subnet],
        })),
      },
      steps: stepsOf(steps, drawn),
    })),
)

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
    const leavers = deletes === null ? [] : living.filter((one) => mayLeave(one, living))
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
    const wishes = networks.map((one) => ({
      name: `net-${one}`,
      subnetName: 'subnet1',
      ...(one === last && fixedIP !== undefined && { fixedIP }),
    }))
    return { kind: 'create', name, networks: wishes }
  })
}

/** Nobody younger may be waiting with an address of one of its networks that it would then exchange for a lower one. */
function mayLeave(one: Host, living: readonly Host[]): boolean {
  const younger = living.slice(living.indexOf(one) + 1)
  return !younger.some(
    ({ networks, mayWait }) =>
      mayWait && networks.slice(0, -1).some((network) => one.networks.includes(network)),
  )
}
