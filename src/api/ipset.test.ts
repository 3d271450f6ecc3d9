import { describe, expect, it } from 'vitest'
import {
  createFixedIpCheck,
  type IpSetNetwork,
  type IpSetSpec,
  ipSetChangeViolations,
  ipSetViolations,
} from './ipset.ts'
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
const request = (name: string, rest: Partial<IpSetNetwork> = {}): IpSetNetwork => ({
  name,
  subnetName: 'subnet1',
  ...rest,
})
const spec = (...networks: IpSetNetwork[]): IpSetSpec => ({ immutable: false, networks })
const details = (...networks: IpSetNetwork[]): readonly string[] =>
  ipSetViolations(spec(...networks), netConfig).map((ipSetViolation) => ipSetViolation.detail)

describe('ipSetViolations', () => {
  it('allows any case, a fixedIP in the subnet, and one default route per family', () => {
    expect(details({ name: 'Net-1', subnetName: 'Subnet1', fixedIP: '172.17.0.220' })).toEqual([])
    expect(details(request('net-1', { defaultRoute: true }), request('net-6', { defaultRoute: true }))).toEqual([])
  })

  it.each([
    ['an unknown network', [request('nope')], 'network nope not in NetConfig'],
    [
      'an unknown subnet',
      [request('net-1', { subnetName: 'nope' })],
      'subnet nope not in network net-1 of the NetConfig',
    ],
    ['an address that is none', [request('net-1', { fixedIP: '172.17.0.256' })], 'not an IP address'],
    ['an IPv6 address that is none', [request('net-6', { fixedIP: 'fd00::g' })], 'not an IP address'],
    ['IPv6 on an IPv4 subnet', [request('net-1', { fixedIP: 'fd00::5' })], 'cannot mix IPv4 and IPv6'],
    ['IPv4 on an IPv6 subnet', [request('net-6', { fixedIP: '172.17.0.5' })], 'cannot mix IPv4 and IPv6'],
    [
      'an address outside',
      [request('net-1', { fixedIP: '172.18.0.5' })],
      'address not in IP address prefix (CIDR) 172.17.0.0/24',
    ],
    [
      'an IPv6 address outside',
      [request('net-6', { fixedIP: 'fd01::5' })],
      'address not in IP address prefix (CIDR) fd00::/64',
    ],
    [
      'two default routes of a family',
      [request('net-1', { defaultRoute: true }), request('net-3', { defaultRoute: true })],
      '4 defaultRoute can only be requested on a singe network',
    ],
    [
      'a default route without gateway',
      [request('net-2', { defaultRoute: true })],
      'defaultRoute requested, but not configured for subnet subnet1',
    ],
    [
      'a network twice',
      [request('net-1'), request('net-1')],
      'network name net-1 already in use at spec.networks[0].name, must be uniq',
    ],
  ])('is refused with %s', (_case, networks, expected) => expect(details(...networks)).toEqual([expected]))

  it('refuses two networks that differ only in case, which would never become ready', () => {
    expect(details(request('net-1'), request('Net-1'))[0]).toContain('only in case')
  })

  it('explains a fixedIP that is excluded or the gateway', () => {
    const on = netConfig.networks[0]?.subnets[0] as NetConfigSubnet
    const fixedIpProblem = createFixedIpCheck()
    expect(fixedIpProblem(request('net-1', { fixedIP: '172.17.0.201' }), on)).toBe(
      'FixedIP 172.17.0.201 is in ExcludeAddresses',
    )
    expect(fixedIpProblem(request('net-1', { fixedIP: '172.17.0.1' }), on)).toContain('is the gateway')
    expect(fixedIpProblem(request('net-1', { fixedIP: '172.17.0.202' }), on)).toBeUndefined()
  })
})

describe('ipSetChangeViolations', () => {
  const old = spec(request('net-1', { fixedIP: '172.17.0.5' }))
  const change = (...networks: IpSetNetwork[]): readonly string[] =>
    ipSetChangeViolations(spec(...networks), old).map((ipSetChangeViolation) => ipSetChangeViolation.detail)

  it('allows an unchanged, extended or reordered list', () => {
    expect(change(request('net-2'), request('net-1', { fixedIP: '172.17.0.5' }))).toEqual([])
  })

  it('refuses a removed network, and another subnet, fixedIP or default route', () => {
    expect(change()).toEqual(['network net-1 removed'])
    expect(change(request('net-1', { subnetName: 'b2', fixedIP: '172.17.0.5' }))).toEqual([
      'subnet within a network must not change (net-1/subnet1)',
    ])
    expect(change(request('net-1'))).toEqual(['fixedIP must not change'])
    expect(change(request('net-1', { fixedIP: '172.17.0.5', defaultRoute: true }))).toEqual([
      'defaultRoute must not change',
    ])
  })
})
