import { describe, expect, it } from 'vitest'
import { testPlan } from '../../../test/plan.ts'
import { narrowPlan } from '../rehearsal-plan.ts'
import { planTopology } from '../topology.ts'
import { announcedObjects } from './announced-objects.ts'
import { clusterSwitch, planClusterNodes } from './cluster-network.ts'
import { chooseLost, planMove } from './move-vip.ts'
import { describeSpeaker, lastMessage, parseSpeakerLog, unsettledAddresses } from './speaker-log.ts'
import { speakerScript } from './speakers.ts'
import { holderScript, parseHolder } from './vip-holder.ts'

const clouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]
const whole = testPlan({ nodes: 3, clouds, families: [4, 6] })
const plan = narrowPlan(whole, { nodes: 2, clouds: ['rhoso1'], vips: true })
const topology = planTopology(whole, plan.from.cluster.nodes)
const nodes = planClusterNodes(topology.nodes)

describe('what speakers get', () => {
  const { objects, statuses, addresses: announced } = announcedObjects(whole, plan, nodes)

  it('has a Service with its address for every VIP of the rehearsed clouds, each address once', () => {
    const vips = plan.clouds.flatMap(({ networks }) => networks.flatMap((network) => network.vips))
    const addresses = [...new Set(vips.map(({ address }) => address))]
    expect(addresses.some((address) => address.includes(':'))).toBe(true)
    const given = statuses
      .filter(({ kind }) => kind === 'Service')
      .map(
        (object) => (object['status'] as { loadBalancer: { ingress: { ip: string }[] } }).loadBalancer.ingress[0]?.ip,
      )
    expect(new Set(given)).toEqual(new Set(addresses))
    expect(given).toHaveLength(addresses.length)
    expect(announced.toSorted()).toEqual(addresses.toSorted())
    expect(objects.filter(({ kind }) => kind === 'Service')).toHaveLength(addresses.length)
  })

  it('has the pools and advertisements of the site, and the nodes with the label that they select', () => {
    expect(objects.filter(({ kind }) => kind === 'IPAddressPool').length).toBeGreaterThan(1)
    expect(objects.filter(({ kind }) => kind === 'L2Advertisement').length).toBeGreaterThan(1)
    expect(objects.filter(({ kind }) => kind === 'Node').map(({ metadata }) => metadata.labels)).toEqual([
      { 'kubernetes.io/hostname': 'worker-0' },
      { 'kubernetes.io/hostname': 'worker-1' },
    ])
  })
})

describe('the network of the cluster', () => {
  it('has one untagged port for each node', () => {
    expect(clusterSwitch(nodes).ports.map(({ name, node, native, vlans }) => [name, node, native, vlans])).toEqual([
      ['n0c', 'worker-0', 1, []],
      ['n1c', 'worker-1', 1, []],
    ])
  })
})

describe('a speaker', () => {
  it('binds to the address of its node and finds the others by the labels of their pods', () => {
    const script = speakerScript({
      node: 'worker-0',
      address: '198.18.0.10',
      namespace: 'metallb-system',
      kubeconfig: '{}\n',
    })
    expect(script).toContain('--ml-bindaddr=198.18.0.10')
    expect(script).toContain('--ml-labels=app=metallb,component=speaker')
    expect(script).toContain('METALLB_POD_NAME=speaker-worker-0')
  })

  const joined = (...nodes: readonly string[]) =>
    nodes.map((node) => `{"msg":"node event - forcing sync","node event":"NodeJoin","node name":"${node}"}`)
  const line = (event: string, address: string) => `{"event":"${event}","ips":["${address}"],"protocol":"layer2"}`
  const read = (...lines: readonly string[]) => parseSpeakerLog(lines.join('\n'))

  it('writes what it announces and which speakers it knows into its log', () => {
    const { announced, members } = read(
      ...joined('worker-0', 'worker-1', 'worker-2'),
      line('serviceAnnounced', '172.17.0.80'),
      line('serviceAnnounced', '172.17.0.81'),
      'panic: not a line of JSON',
      line('serviceWithdrawn', '172.17.0.81'),
      '{"node event":"NodeLeave","node name":"worker-2"}',
    )
    expect([...announced]).toEqual(['172.17.0.80'])
    expect([...members]).toEqual(['worker-0', 'worker-1'])
  })

  it('has agreed with the others when all know each other and one announces each VIP', () => {
    const layer2 = { addresses: ['172.17.0.80'], mode: 'layer2' } as const
    const announces = line('serviceAnnounced', '172.17.0.80')
    const alone = read(...joined('worker-0'), announces)
    const first = read(...joined('worker-0', 'worker-1'), announces)
    const second = read(...joined('worker-1', 'worker-0'))
    const both = read(...joined('worker-1', 'worker-0'), announces)
    expect(unsettledAddresses([first, second], layer2)).toEqual([])
    expect(unsettledAddresses([alone, second], layer2)).toEqual(['172.17.0.80'])
    expect(unsettledAddresses([first, both], layer2)).toEqual(['172.17.0.80'])
    expect(unsettledAddresses([second, second], layer2)).toEqual(['172.17.0.80'])
    expect(unsettledAddresses([alone, both], { ...layer2, mode: 'bgp' })).toEqual([])
    expect(unsettledAddresses([second], { ...layer2, mode: 'bgp' })).toEqual(['172.17.0.80'])
  })

  it('tells what it thinks of a VIP that no node answers for', () => {
    const vip = { node: 'worker-1', address: '172.17.0.85', service: 'vip-172-17-0-85' }
    const announced = '{"event":"serviceAnnounced","ips":["172.17.0.85"],"ts":"2026-11-18T02:41:03Z"}'
    const members = joined('worker-0', 'worker-1')
    const left = '{"node event":"NodeLeave","node name":"worker-0"}'
    expect(describeSpeaker([...members, announced].join('\n'), vip)).toBe(
      'the speaker of worker-1 announces it since 2026-11-18T02:41:03Z, knows worker-0 and worker-1',
    )
    expect(describeSpeaker([...members, left, ...members].join('\n'), vip)).toBe(
      'the speaker of worker-1 does not announce it, knows worker-1 and worker-0, has lost another one 1 time',
    )
    const warning = '{"level":"warn","msg":"the interfaces do not exist","service":"openstack/vip-172-17-0-85"}'
    expect(describeSpeaker(warning, vip)).toMatch(/knows no speaker, warns "the interfaces do not exist"$/)
  })

  it('names the cause when it ends', () => {
    const log = '{"error":"x509: \\"late\\"","level":"error","msg":"failed"}\n{"op":"shutdown"}\n'
    expect(lastMessage(log)).toBe('x509: "late"')
    expect(lastMessage('panic: no\n')).toBe('panic: no')
  })
})

describe('the loss of a node', () => {
  it('is tested with the VIPs of a tagged network without a bridge, and with two nodes', () => {
    expect(planMove(plan, topology)).toMatchObject({ role: 'main', vlan: 20 })
    expect(planMove(plan, topology)?.addresses).toContain('172.17.0.85')
    expect(planMove(plan, { ...topology, nodes: topology.nodes.slice(0, 1) })).toBeUndefined()
    expect(planMove(narrowPlan(whole, { nodes: 2, clouds: [] }), topology)).toBeUndefined()
  })

  it('is that of the node which has VIPs of both families, if one has', () => {
    const vip = (node: string, address: string) => ({ node, address, mac: `52:54:00:5c:00:0${node.at(-1)}` })
    const first = vip('worker-0', '172.17.0.80')
    const six = [vip('worker-1', 'fd00::80'), vip('worker-1', 'fd00::81')]
    const second = vip('worker-1', '172.17.0.81')
    expect(chooseLost([first, ...six])).toEqual([first])
    expect(chooseLost([first, ...six, second])).toEqual([second, six[0]])
    expect(chooseLost(six)).toEqual([six[0]])
    expect(chooseLost([])).toEqual([])
  })

  it('is seen in the hardware address that answers, in both families', () => {
    expect(parseHolder('Unicast reply from 172.17.0.80 [52:54:00:5C:00:00] 2.103ms\n')).toBe('52:54:00:5c:00:00')
    expect(parseHolder('Sent 1 probe(s) (1 broadcast(s))\nReceived 0 response(s)\n')).toBeUndefined()
    expect(parseHolder('fd00::80 lladdr 52:54:00:5c:00:01 REACHABLE\n')).toBe('52:54:00:5c:00:01')
    expect(parseHolder('fd00::80 FAILED\n')).toBeUndefined()
    const observer = { iface: 'v0b', busybox: '/c/busybox' }
    expect(holderScript(observer, '172.17.0.80')).toBe('/c/busybox arping -D -c 1 -w 1 -I v0b 172.17.0.80')
    expect(holderScript(observer, 'fd00::80')).toContain('ip -6 neigh del fd00::80 dev v0b')
  })
})
