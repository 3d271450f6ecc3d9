import { describe, expect, it } from 'vitest'
import {
  type NetConfig,
  type NetConfigNetwork,
  type NetConfigSpec,
  type NetConfigSubnet,
  netConfigChangeViolations,
  netConfigViolations,
  networkVersion,
  resolveServiceNetwork,
  selectNetConfig,
} from './netconfig.ts'
import { judgeViolations } from './violation.ts'

function netConfig(name: string, creationTimestamp: string): NetConfig {
  return {
    apiVersion: networkVersion,
    kind: 'NetConfig',
    metadata: { name, namespace: 'openstack', creationTimestamp },
    spec: { networks: [] },
  }
}

describe('selectNetConfig', () => {
  it('selects the oldest of several, whatever their order', () => {
    const [old, young] = [netConfig('z', '2026-01-01T00:00:00Z'), netConfig('a', '2026-01-02T00:00:00Z')]
    expect(selectNetConfig([young, old])).toBe(old)
    expect(selectNetConfig([old, young])).toBe(old)
    expect(selectNetConfig([])).toBeUndefined()
  })
})

describe('resolveServiceNetwork', () => {
  it('returns the given service network, or the name of the network', () => {
    expect(resolveServiceNetwork('Storage', 'storagemgmt')).toBe('storagemgmt')
    expect(resolveServiceNetwork('CtlPlane', undefined)).toBe('ctlplane')
    expect(resolveServiceNetwork('CtlPlane', '')).toBe('ctlplane')
  })
})

const four: NetConfigSubnet = {
  name: 'subnet1',
  cidr: '172.17.0.0/24',
  vlan: 20,
  gateway: '172.17.0.1',
  allocationRanges: [{ start: '172.17.0.100', end: '172.17.0.200' }],
  excludeAddresses: ['172.17.0.201'],
  routes: [{ destination: '10.0.0.0/8', nexthop: '172.17.0.254' }],
}
const six: NetConfigSubnet = {
  name: 'subnet1',
  cidr: 'fd00:fd00:fd00:2000::/64',
  vlan: 20,
  gateway: 'fd00:fd00:fd00:2000::1',
  allocationRanges: [{ start: 'fd00:fd00:fd00:2000::10', end: 'fd00:fd00:fd00:2000::ffff' }],
  excludeAddresses: ['fd00:fd00:fd00:2000::11'],
  routes: [{ destination: 'fd00:fd00:fd00:3000::/64', nexthop: 'fd00:fd00:fd00:2000::99' }],
}

const network = (
  name: string,
  subnets: readonly NetConfigSubnet[],
  dnsDomain = `${name}.example.com`,
): NetConfigNetwork => ({
  name,
  mtu: 1400,
  dnsDomain,
  subnets: [...subnets],
})
const spec = (...networks: NetConfigNetwork[]): NetConfigSpec => ({ networks })
const details = (checked: NetConfigSpec): readonly string[] =>
  netConfigViolations(checked).map((netConfigViolation) => `${netConfigViolation.field}: ${netConfigViolation.detail}`)

describe.each([
  ['IPv4', four, '172.18.0.1', six.gateway],
  ['IPv6', six, 'fd00:bad::1', four.gateway],
] as const)('an %s subnet', (_, good, outside, otherFamily) => {
  const other = otherFamily as string
  const withSubnet = (changes: Partial<NetConfigSubnet>): readonly string[] =>
    details(spec(network('net-1', [{ ...good, ...changes }])))
  const range = (start: string, end: string): Partial<NetConfigSubnet> => ({
    allocationRanges: [{ start, end }],
  })
  const first = good.allocationRanges[0]?.start as string
  const last = good.allocationRanges[0]?.end as string
  const at = 'spec.networks[0].subnets[0]'
  const notIn = `address not in IP address prefix (CIDR) ${good.cidr}`

  it('is accepted with good values', () => expect(withSubnet({})).toEqual([]))

  it.each([
    ['a cidr that is none', { cidr: 'nonsense' }, `${at}.cidr: IP address prefix (CIDR) nonsense`],
    ['a gateway that is none', { gateway: 'nonsense' }, `${at}.gateway: not an IP address`],
    ['a gateway of the other family', { gateway: other }, `${at}.gateway: cannot mix IPv4 and IPv6`],
    ['a gateway outside', { gateway: outside }, `${at}.gateway: ${notIn}`],
    ['a range start that is none', range('nonsense', last), `${at}.allocationRanges[0].start: not an IP address`],
    ['a range end that is none', range(first, 'nonsense'), `${at}.allocationRanges[0].end: not an IP address`],
    ['a range of the other family', range(other, last), `${at}.allocationRanges[0].start: cannot mix IPv4 and IPv6`],
    ['a start outside', range(outside, last), `${at}.allocationRanges[0].start: ${notIn}`],
    ['an end outside', range(first, outside), `${at}.allocationRanges[0].end: ${notIn}`],
    ['an exclude that is none', { excludeAddresses: ['x'] }, `${at}.excludeAddresses[0]: not an IP address`],
    [
      'an exclude of the other family',
      { excludeAddresses: [other] },
      `${at}.excludeAddresses[0]: cannot mix IPv4 and IPv6`,
    ],
    ['an exclude outside', { excludeAddresses: [outside] }, `${at}.excludeAddresses[0]: ${notIn}`],
    [
      'a nexthop that is none',
      { routes: [{ destination: '::/0', nexthop: 'x' }] },
      `${at}.routes[0].nexthop: not an IP address`,
    ],
    [
      'a nexthop of the other family',
      { routes: [{ destination: '::/0', nexthop: other }] },
      `${at}.routes[0].nexthop: cannot mix IPv4 and IPv6`,
    ],
    ['a nexthop outside', { routes: [{ destination: '::/0', nexthop: outside }] }, `${at}.routes[0].nexthop: ${notIn}`],
    [
      'a destination that is none',
      { routes: [{ destination: 'x', nexthop: good.gateway as string }] },
      `${at}.routes[0].destination: IP address prefix (CIDR) x`,
    ],
  ])('is refused with %s', (_case, changes, expected) => expect(withSubnet(changes)).toEqual([expected]))

  it('is refused with a range that ends before it starts, on both fields', () => {
    const detail = `Start address: ${last} > End address ${first}`
    expect(withSubnet(range(last, first))).toEqual([
      `${at}.allocationRanges[0].start: ${detail}`,
      `${at}.allocationRanges[0].end: ${detail}`,
    ])
  })

  it('may have a range of a single address, which upstream refuses without need', () => {
    expect(withSubnet(range(first, first))).toEqual([])
  })

  it('is refused with ranges that overlap or contain the gateway', () => {
    const twice = {
      allocationRanges: [
        { start: first, end: last },
        { start: last, end: last },
      ],
    }
    expect(withSubnet(twice)).toEqual([
      `${at}.allocationRanges[1]: allocation range ${last}-${last} overlaps with ${first}-${last}`,
    ])
    const gateway = good.gateway as string
    expect(withSubnet(range(gateway, last))).toEqual([
      `${at}.allocationRanges[0]: allocation range ${gateway}-${last} contains the gateway ${gateway}`,
    ])
  })
})

describe('the networks of a NetConfig', () => {
  const elsewhere = {
    ...four,
    cidr: '172.18.0.0/24',
    gateway: '172.18.0.1',
    allocationRanges: [],
    excludeAddresses: [],
    routes: [],
  }

  it('have distinct names, ignoring case', () => {
    expect(details(spec(network('net-1', [four]), network('net-1', [elsewhere], 'b.example.com')))).toEqual([
      'spec.networks[1].name: network name net-1 already in use at spec.networks[0].name, must be uniq',
    ])
    expect(details(spec(network('net-1', [four]), network('Net-1', [elsewhere], 'b.example.com')))[0]).toContain(
      'only in case',
    )
  })

  it('may share a subnet name, but repeat none within a network', () => {
    expect(details(spec(network('net-1', [four]), network('net-2', [elsewhere])))).toEqual([])
    expect(details(spec(network('net-1', [four, elsewhere])))).toEqual([
      'spec.networks[0].subnets[1].name: network name subnet1 already in use at spec.networks[0].subnets[0].name, must be uniq',
    ])
  })

  it('have disjoint CIDRs, also on different VLANs', () => {
    const again = {
      ...elsewhere,
      cidr: four.cidr,
      gateway: undefined,
      vlan: 21,
    } as unknown as NetConfigSubnet
    expect(details(spec(network('net-1', [four]), network('net-2', [again])))).toEqual([
      'spec.networks[1].subnets[0].cidr: CIDR 172.17.0.0/24 already in use at spec.networks[0].subnets[0].cidr',
    ])
    const inside = { ...again, cidr: '172.17.0.0/25' }
    expect(details(spec(network('net-1', [four]), network('net-2', [inside])))[0]).toContain(
      'overlaps with 172.17.0.0/24',
    )
  })

  it.each(['-net.example.com', 'net-.example.com', `${'a'.repeat(64)}.example.com`])(
    'refuse the domain %s',
    (domain) => {
      expect(details(spec(network('net-1', [four], domain)))).toEqual([
        `spec.networks[0].dnsDomain: DNSDoman name ${domain} is not valid`,
      ])
    },
  )

  it('have distinct domains, or none as in the first API version', () => {
    const domain = 'a.example.com'
    expect(details(spec(network('net-1', [four], domain), network('net-2', [elsewhere], domain)))).toEqual([
      `spec.networks[1].dnsDomain: DNSDoman name ${domain} already in use at spec.networks[0].dnsDomain, must be uniq`,
    ])
    const { dnsDomain: _none, ...old } = network('net-1', [four])
    expect(details(spec(old))).toEqual([])
  })
})

describe('netConfigChangeViolations', () => {
  const old = spec(network('net-1', [four]))
  const change = (changes: Partial<NetConfigSubnet>): readonly string[] =>
    netConfigChangeViolations(spec(network('net-1', [{ ...four, ...changes }])), old).map(
      (netConfigChangeViolation) => netConfigChangeViolation.detail,
    )

  it('allows an unchanged spec and another gateway', () => {
    expect(change({})).toEqual([])
    expect(change({ gateway: '172.17.0.2' })).toEqual([])
  })

  it('refuses a removed network, a renamed subnet, and another cidr or vlan', () => {
    expect(
      netConfigChangeViolations(spec(), old).map((netConfigChangeViolation) => netConfigChangeViolation.detail),
    ).toEqual(['network net-1 removed'])
    expect(change({ name: 'subnet2' })).toEqual(['name of a subnet must not change - subnet1'])
    expect(change({ cidr: '172.17.0.0/23' })).toEqual(['cidr of a subnet must not change - 172.17.0.0/24'])
    expect(change({ vlan: 21 })).toEqual(['vlan of a subnet must not change - 20'])
  })
})

it('a rule of ours refuses what is new and warns of what was there before', () => {
  const bad = spec(network('net-1', [{ ...four, allocationRanges: [{ start: '172.17.0.1', end: '172.17.0.9' }] }]))
  const violations = netConfigViolations(bad)
  expect(judgeViolations(violations).refusals).toHaveLength(1)
  expect(judgeViolations(violations, violations)).toEqual({ refusals: [], warnings: violations })
})
