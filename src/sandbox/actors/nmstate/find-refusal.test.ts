import { describe, expect, it } from 'vitest'
import type { Interface, NetworkState } from './enactments.ts'
import { findRefusal } from './find-refusal.ts'

const nics = ['eth1', 'eth2']
const base = { name: 'eth1', type: 'ethernet', state: 'up', mtu: 1500 }
const vlan = (id: number, rest: object = {}): Interface => ({
  name: `eth1.${id}`,
  type: 'vlan',
  state: 'up',
  vlan: { 'base-iface': 'eth1', id },
  ...rest,
})
const before: NetworkState = { interfaces: [base, vlan(20)] }
const refuse = (...interfaces: readonly Interface[]) => findRefusal(before, { interfaces }, { nics })
const ipv4 = (ip: string, length: number) => ({
  ipv4: { enabled: true, address: [{ ip, 'prefix-length': length }] },
})

describe('findRefusal', () => {
  it.each<readonly [string, Interface, RegExp]>([
    ['a VLAN on a missing NIC', vlan(21, { vlan: { 'base-iface': 'eth9', id: 21 } }), /UnknownDevice/],
    ['a missing NIC', { name: 'eth9', type: 'ethernet', state: 'up' }, /UnknownDevice/],
    ['an id out of range', vlan(5000), /vlan\.id: .*out of range/],
    ['an unknown field', vlan(21, { mtuu: 1500 }), /unknown field `mtuu`/],
    ['an MTU above that of the NIC', vlan(21, { mtu: 9000 }), /eth1\.21\.interface\.mtu desire '9000', current '1500'/],
    ['a VLAN by a second name', vlan(20, { name: 'internal' }), /VLAN interface 'internal'.*File exists/],
    ['an IPv6 address among those of IPv4', vlan(21, ipv4('fd00::1', 64)), /Got IPv6 address/],
    ['a prefix that is too long', vlan(21, ipv4('172.17.0.5', 33)), /prefix length '33'/],
    ['a small MTU with IPv6', vlan(21, { mtu: 1000, ipv6: { enabled: true } }), /MTU should be >= 1280/],
    ['a bond without a mode', { name: 'bond0', type: 'bond', state: 'up' }, /Bond mode is mandatory/],
    [
      'a port that does not exist',
      { name: 'br0', type: 'linux-bridge', state: 'up', bridge: { port: [{ name: 'eth1.99' }] } },
      /holding unknown port eth1\.99/,
    ],
  ])('refuses %s with the line of nmstate', (_, iface, line) => {
    expect(refuse(iface)).toMatch(line)
  })

  it('refuses a port of two controllers', () => {
    const bridge = (name: string) => ({ name, type: 'linux-bridge', state: 'up', bridge: { port: [{ name: 'eth2' }] } })
    expect(refuse(bridge('br0'), bridge('br1'))).toContain('Port eth2 is overbooked')
  })

  it('lets another controller take a port', () => {
    const bridge = (name: string) => ({ name, type: 'linux-bridge', state: 'up', bridge: { port: [{ name: 'eth2' }] } })
    expect(findRefusal({ interfaces: [bridge('br0')] }, { interfaces: [bridge('br1')] })).toBeUndefined()
  })

  it('refuses addresses on a port of a bridge', () => {
    const bridge = { name: 'br0', type: 'linux-bridge', state: 'up', bridge: { port: [{ name: 'eth1.21' }] } }
    expect(refuse(vlan(21, ipv4('172.17.0.5', 24)), bridge)).toMatch(
      /eth1\.21 cannot have IP enabled .* controller br0/,
    )
    expect(refuse(vlan(21, { ipv4: { enabled: false } }), bridge)).toBeUndefined()
  })

  it('refuses a rule for an interface that does not exist', () => {
    const rules = (iif: string) => ({ config: [{ iif, family: 'ipv4', 'route-table': 18_000, priority: 18_020 }] })
    const judge = (iif: string) => findRefusal(before, { interfaces: [], 'route-rules': rules(iif) }, { nics })
    expect(judge('eth9')).toContain('The interface eth9 required by route rule')
    expect(judge('eth2')).toBeUndefined()
  })

  it('refuses a route through an interface without addresses', () => {
    const routes = { config: [{ destination: '172.31.0.0/24', 'next-hop-interface': 'eth1.20' }] }
    expect(findRefusal(before, { interfaces: [], routes }, { nics })).toContain('IPv4 disabled')
    expect(findRefusal({}, { interfaces: [], routes }, { nics })).toContain('next hop interface eth1.20 not found')
  })

  it('assumes that NICs exist where their list is unknown', () => {
    expect(findRefusal({}, { interfaces: [vlan(21, { mtu: 9000 })] })).toBeUndefined()
  })
})
