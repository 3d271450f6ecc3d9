import { describe, expect, it } from 'vitest'
import type { IpSetNetwork, IpSetSpec } from './ipset.ts'
import { fixedIpProblem, ipSetChangeViolations, ipSetViolations } from './ipset-rules.ts'
import type { NetConfigSpec, NetConfigSubnet } from './netconfig.ts'

const subnet = (cidr: string, gateway?: string): NetConfigSubnet => ({
  name: 'subnet1',
  cidr,
  allocationRanges: [],
  excludeAddresses: cidr.includes('.') ? ['172.17.0.201'] : [],
  ...(gateway && { gateway }),
})
const netConfig: NetConfigSpec = {
  networks: [
    { name: 'net-1', mtu: 1500, subnets: [subnet('172.17.0.0/24', '172.17.0.1')] },
    { name: 'net-2', mtu: 1500, subnets: [subnet('172.18.0.0/24')] },
    { name: 'net-3', mtu: 1500, subnets: [subnet('172.19.0.0/24', '172.19.0.1')] },
    { name: 'net-6', mtu: 1500, subnets: [subnet('fd00::/64', 'fd00::1')] },
  ],
}
const wish = (name: string, rest: Partial<IpSetNetwork> = {}): IpSetNetwork => ({
  name,
  subnetName: 'subnet1',
  ...rest,
})
const spec = (...networks: IpSetNetwork[]): IpSetSpec => ({ immutable: false, networks })
const details = (...networks: IpSetNetwork[]): readonly string[] =>
  ipSetViolations(spec(...networks), netConfig).map((ipSetViolation) => ipSetViolation.detail)

describe('an IPSet', () => {
  it('may ask in any case, with an address in the subnet, with one default route per family', () => {
    expect(details({ name: 'Net-1', subnetName: 'Subnet1', fixedIP: '172.17.0.220' })).toEqual([])
    expect(details(wish('net-1', { defaultRoute: true }), wish('net-6', { defaultRoute: true }))).toEqual([])
  })

  it.each([
    ['an unknown network', [wish('nope')], 'network nope not in NetConfig'],
    ['an unknown subnet', [wish('net-1', { subnetName: 'nope' })], 'subnet nope not in network net-1 of the NetConfig'],
    ['an address that is none', [wish('net-1', { fixedIP: '172.17.0.256' })], 'not an IP address'],
    ['an IPv6 address that is none', [wish('net-6', { fixedIP: 'fd00::g' })], 'not an IP address'],
    ['IPv6 on an IPv4 subnet', [wish('net-1', { fixedIP: 'fd00::5' })], 'cannot mix IPv4 and IPv6'],
    ['IPv4 on an IPv6 subnet', [wish('net-6', { fixedIP: '172.17.0.5' })], 'cannot mix IPv4 and IPv6'],
    [
      'an address outside',
      [wish('net-1', { fixedIP: '172.18.0.5' })],
      'address not in IP address prefix (CIDR) 172.17.0.0/24',
    ],
    [
      'an IPv6 address outside',
      [wish('net-6', { fixedIP: 'fd01::5' })],
      'address not in IP address prefix (CIDR) fd00::/64',
    ],
    [
      'two default routes of a family',
      [wish('net-1', { defaultRoute: true }), wish('net-3', { defaultRoute: true })],
      '4 defaultRoute can only be requested on a singe network',
    ],
    [
      'a default route without gateway',
      [wish('net-2', { defaultRoute: true })],
      'defaultRoute requested, but not configured for subnet subnet1',
    ],
    [
      'a network twice',
      [wish('net-1'), wish('net-1')],
      'network name net-1 already in use at spec.networks[0].name, must be uniq',
    ],
  ])('is refused with %s', (_case, networks, expected) => expect(details(...networks)).toEqual([expected]))

  it('is refused when two wishes differ in case alone, which would never become ready', () => {
    expect(details(wish('net-1'), wish('Net-1'))[0]).toContain('in case alone')
  })

  it('is warned of a fixed address that is excluded or the gateway', () => {
    const on = netConfig.networks[0]?.subnets[0] as NetConfigSubnet
    expect(fixedIpProblem(wish('net-1', { fixedIP: '172.17.0.201' }), on)).toBe(
      'FixedIP 172.17.0.201 is in ExcludeAddresses',
    )
    expect(fixedIpProblem(wish('net-1', { fixedIP: '172.17.0.1' }), on)).toContain('is the gateway')
    expect(fixedIpProblem(wish('net-1', { fixedIP: '172.17.0.202' }), on)).toBeUndefined()
  })
})

describe('an update of an IPSet', () => {
  const old = spec(wish('net-1', { fixedIP: '172.17.0.5' }))
  const change = (...networks: IpSetNetwork[]): readonly string[] =>
    ipSetChangeViolations(spec(...networks), old).map((ipSetChangeViolation) => ipSetChangeViolation.detail)

  it('may leave things, add networks and reorder them', () => {
    expect(change(wish('net-2'), wish('net-1', { fixedIP: '172.17.0.5' }))).toEqual([])
  })

  it('may not remove a network, nor change subnet, address or default route', () => {
    expect(change()).toEqual(['network net-1 removed'])
    expect(change(wish('net-1', { subnetName: 'b2', fixedIP: '172.17.0.5' }))).toEqual([
      'subnet within a network must not change (net-1/subnet1)',
    ])
    expect(change(wish('net-1'))).toEqual(['fixedIP must not change'])
    expect(change(wish('net-1', { fixedIP: '172.17.0.5', defaultRoute: true }))).toEqual([
      'defaultRoute must not change',
    ])
  })
})
