import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import { planPods } from '../rehearsal-plan.ts'
import { askScript, type DnsVip, dnsScript, hasAnswer, planDnsVips } from './dns-vip.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const plan = testPlan({ nodes: 2, clouds, families: [4, 6] })
const pods = planPods(plan)
const vips = planDnsVips(plan, pods)

describe('the DNS of a cloud', () => {
  it('is asked on each of its VIPs, and listens on a port of its own', () => {
    expect(vips.map(({ cloud, network, address, port }) => [cloud, network, address.includes(':'), port])).toEqual([
      ['rhoso1', 'ctlplane', false, 5300],
      ['rhoso1', 'ctlplane', true, 5300],
      ['rhoso2', 'ctlplane', false, 5301],
      ['rhoso2', 'ctlplane', true, 5301],
    ])
    for (const { records } of vips) expect(records.length).toBeGreaterThan(0)
  })

  it('is not asked with one node, whose pods cannot reach its VIPs', () => {
    const onFirst = pods.filter(({ node }) => node === pods[0]?.node)
    expect(planDnsVips(plan, onFirst)).toEqual([])
  })

  it('gets what is sent to its VIPs, by UDP and TCP', () => {
    const script = dnsScript(vips)
    const [first, second] = vips as [DnsVip, DnsVip]
    expect(script.match(/^dnsmasq /gm)).toHaveLength(2)
    expect(script).toContain(`ip daddr ${first.address} udp dport 53 redirect to :5300`)
    expect(script).toContain(`ip6 daddr ${second.address} tcp dport 53 redirect to :5300`)
    expect(askScript(second, 'pod-a')).toMatch(/^ip netns exec pod-a busybox nslookup -type=AAAA \S+ \S+:\S+$/)
  })

  it('has answered when the address of the name is printed, and not with that of the server alone', () => {
    const vip: DnsVip = {
      cloud: 'rhoso1',
      network: 'ctlplane',
      address: '192.168.122.80',
      port: 5300,
      records: [{ name: 'dns.ctlplane.example.com', address: '192.168.122.80' }],
    }
    const server = 'Server:\t\t192.168.122.80\nAddress:\t192.168.122.80:53\n\n'
    expect(hasAnswer(vip, `${server}Name:\tdns.ctlplane.example.com\nAddress: 192.168.122.80\n`)).toBe(true)
    expect(hasAnswer(vip, `${server}Name:\tdns.ctlplane.example.com\nAddress: 192.168.122.90\n`)).toBe(false)
    expect(hasAnswer(vip, `${server}** server can't find dns.ctlplane.example.com: REFUSED\n`)).toBe(false)
    expect(hasAnswer(vip, ';; connection timed out; no servers could be reached\n')).toBe(false)
  })
})
