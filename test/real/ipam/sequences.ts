/**
 * Random sequences for two implementations: a NetConfig, and IPSets that come and go. Pure.
 *
 * Where ours differs from infra-operator on purpose, the difference is named here, and said to infra-operator by its own
 * means; everything else must be equal.
 */
import fc from 'fast-check'
import type { IpSetNetwork } from '../../../src/api/ipset.ts'
import type { NetConfigSpec, NetConfigSubnet } from '../../../src/api/netconfig.ts'
import { formatAddress, parseAddress } from '../../../src/net/address.ts'
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
  // Sequences touch nobody who has what it asked for.
  {
    name: 'it chooses anew at every look, so that a host may move to a lower address (it keeps them since 2024)',
  },
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

/** A /28, or a /124: ranges so narrow that gateway, broadcast, excluded and exhausted all happen. */
const subnetAt = (index: number): fc.Arbitrary<NetConfigSubnet> =>
  fc
    .record({
      six: fc.boolean(),
      first: fc.integer({ min: 1, max: 12 }),
      size: fc.integer({ min: 1, max: 4 }),
      second: fc.option(fc.integer({ min: 1, max: 14 })),
      gateway: fc.option(fc.integer({ min: 1, max: 14 })),
      excluded: fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { maxLength: 2 }),
    })
    .map(({ six, first, size, second, gateway, excluded }) => {
      const at = (n: number): string =>
        six ? `fd00:${index + 1}::${(16 + n).toString(16)}` : `10.${index}.0.${16 + n}`
      const last = Math.min(first + size, 15)
      // Not overlapping the first: that is refused at the door of both.
      const more = second !== null && (second < first || second > last) ? [second] : []
      return {
        name: 'subnet1',
        cidr: six ? `${at(0)}/124` : `${at(0)}/28`,
        vlan: 20 + index,
        allocationRanges: [[first, last] as const, ...more.map((n) => [n, n] as const)].map(
          ([start, end]) => ({
            start: at(start),
            end: at(end),
          }),
        ),
        excludeAddresses: excluded.map(at),
        ...(gateway !== null && { gateway: at(gateway) }),
      }
    })

const sequence: fc.Arbitrary<Sequence> = fc.integer({ min: 1, max: 3 }).chain((many) =>
  fc
    .record({
      subnets: fc.tuple(...Array.from({ length: many }, (_, index) => subnetAt(index))),
      steps: fc.array(
        fc.record({
          deletes: fc.option(fc.nat(), { freq: 2 }),
          network: fc.nat({ max: many - 1 }),
          fixed: fc.option(fc.integer({ min: 1, max: 14 }), { freq: 3 }),
        }),
        { minLength: 3, maxLength: 6 },
      ),
    })
    .map(({ subnets, steps }) => ({
      spec: {
        networks: subnets.map((subnet, index) => ({
          name: `net-${index}`,
          mtu: 1500,
          dnsDomain: `net-${index}.example.com`,
          subnets: [subnet],
        })),
      },
      steps: stepsOf(steps, subnets),
    })),
)

interface Draw {
  readonly deletes: number | null
  readonly network: number
  readonly fixed: number | null
}

/** One network per IPSet: one that has some of its addresses and waits for others is moved by infra-operator. */
function stepsOf(draws: readonly Draw[], subnets: readonly NetConfigSubnet[]): readonly Step[] {
  const living: string[] = []
  return draws.map(({ deletes, network, fixed }, index): Step => {
    if (deletes !== null && living.length > 0) {
      const [name = ''] = living.splice(deletes % living.length, 1)
      return { kind: 'delete', name }
    }
    const name = `host-${index}`
    living.push(name)
    const base = parseAddress(subnets[network]?.cidr.split('/')[0] ?? '')
    const fixedIP =
      fixed === null || !base ? undefined : formatAddress({ ...base, value: base.value + BigInt(fixed) })
    const wish = { name: `net-${network}`, subnetName: 'subnet1', ...(fixedIP !== undefined && { fixedIP }) }
    return { kind: 'create', name, networks: [wish] }
  })
}
