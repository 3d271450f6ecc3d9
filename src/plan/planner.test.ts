import { describe, expect, it } from 'vitest'
import { listCodes, type PartialSiteSpec, planSpec } from '../../test/site.ts'
import { diffLocks } from './changes.ts'
import { readLock } from './lock-file.ts'
import type { Plan, PlannedNetwork } from './plan.ts'
import { builtInTable } from './slots/built-in-crds.ts'
import { writeLock } from './written-lock.ts'

const two: PartialSiteSpec = {
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
}

function networkOf(plan: Plan, owner: string): PlannedNetwork {
  const [cloud, name] = owner.split('/')
  const found = plan.clouds
    .find((plannedCloud) => plannedCloud.name === cloud)
    ?.networks.find((network) => network.name === name)
  if (!found) throw new Error(`no ${owner}`)
  return found
}

const spansOf = ({ subnets }: PlannedNetwork) =>
  Object.fromEntries((subnets[0]?.spans ?? []).map(({ role, start, end }) => [role, `${start}-${end}`]))

/** One network of one cloud with these pins. */
const pinned = (network: string, settings: object): PartialSiteSpec => ({
  clouds: [{ name: 'rhoso1', namespace: 'openstack', networks: { [network]: settings } }],
})

describe('planSite', () => {
  it('keeps the gateway that it gave a subnet when the file pins this subnet', () => {
    const first = planSpec(pinned('ctlplane', {}))
    const before = networkOf(first.plan, 'rhoso1/ctlplane').subnets[0]
    expect(before?.gateway).toBe('192.168.122.1')
    const subnets = [{ cidr: before?.cidr }]
    const again = planSpec(pinned('ctlplane', { subnets }), { lock: first.lock })
    expect(networkOf(again.plan, 'rhoso1/ctlplane').subnets[0]?.gateway).toBe('192.168.122.1')
    const without = networkOf(planSpec(pinned('ctlplane', { subnets })).plan, 'rhoso1/ctlplane')
    expect(without.subnets[0]?.gateway).toBeUndefined()
  })

  it('reports a span that has the address of a BGP peer', () => {
    const metallb = { mode: 'bgp' as const, asn: 64999, peers: [{ address: '192.168.122.85', asn: 65000 }] }
    const { findings } = planSpec({ ...two, cluster: { metallb } })
    expect(findings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('192.168.122.85, the BGP peer'),
    )
  })

  it('gives the first cloud the well-known numbers, and each further cloud its own segment, bridge and subnet', () => {
    const { plan } = planSpec(two)
    const first = networkOf(plan, 'rhoso1/internalapi')
    expect([first.vlan, first.interface, first.pool]).toEqual([20, 'enp6s0.20', 'openstack-internalapi'])
    expect(spansOf(first)).toEqual({
      nodes: '172.17.0.5-172.17.0.29',
      pods: '172.17.0.30-172.17.0.70',
      vips: '172.17.0.80-172.17.0.90',
      hosts: '172.17.0.100-172.17.0.250',
    })
    const second = networkOf(plan, 'rhoso2/ctlplane')
    expect(networkOf(plan, 'rhoso1/ctlplane').bridge).toBe('ospbr')
    expect([second.bridge, second.interface]).toEqual([`ospbr${second.vlan}`, `ospbr${second.vlan}`])
    expect(networkOf(plan, 'rhoso2/datacentre').bridge).toBe(second.bridge)
    expect(networkOf(plan, 'rhoso2/internalapi').subnets[0]?.cidr).toBe('172.17.1.0/24')
  })

  it('gives a Service a VIP on a network that the file adds, unless its spans have none', () => {
    const withSubnet = (subnet: object): PartialSiteSpec => ({
      clouds: [
        {
          name: 'rhoso1',
          namespace: 'openstack',
          services: { keystone: { network: 'extra' } },
          networks: { extra: { subnets: [{ cidr: '172.31.0.0/24', ...subnet }] } },
        },
      ],
    })
    const planned = planSpec(withSubnet({}))
    expect(listCodes(planned)).toEqual([])
    expect(networkOf(planned.plan, 'rhoso1/extra').vips).toEqual([
      expect.objectContaining({ slot: 'keystone.internal', address: '172.31.0.80' }),
    ])
    expect(listCodes(planSpec(withSubnet({ spans: { pods: '172.31.0.30-172.31.0.70' } })))).toContain('SL3004')
  })

  it('lets the APIs of a network share one VIP and gives each RabbitMQ its own', () => {
    const { vips } = networkOf(planSpec(two).plan, 'rhoso1/internalapi')
    const shared = new Set(vips.filter((vip) => vip.shared).map((vip) => vip.address))
    const alone = vips.filter((vip) => !vip.shared).map((vip) => vip.address)
    expect([...shared]).toEqual(['172.17.0.80'])
    expect(new Set([...alone, ...shared]).size).toBe(alone.length + 1)
  })

  it('names hosts in a zone per network, and keeps the name of a host that has a domain', () => {
    const words = {
      clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'c0.lab.example' }] }],
    }
    const { plan } = planSpec(words)
    expect(networkOf(plan, 'rhoso1/ctlplane').hosts[0]?.names).toEqual([
      'c0.ctlplane.rhoso1.example.com',
      'c0.lab.example',
    ])
    expect(networkOf(plan, 'rhoso1/storage').hosts[0]?.names).toEqual(['c0.storage.rhoso1.example.com'])
    expect(networkOf(plan, 'rhoso1/storage').subnets[0]?.reverseZones).toEqual(['0.18.172.in-addr.arpa'])
  })

  it('plans no pool without a vips span, and no host or node address without its span', () => {
    const settings = { subnets: [{ cidr: '172.18.0.0/24', spans: { pods: '172.18.0.30-172.18.0.70' } }] }
    const { pool, hosts, nodes } = networkOf(planSpec(pinned('storage', settings)).plan, 'rhoso1/storage')
    expect([pool, hosts, nodes]).toEqual([undefined, [], []])
  })

  it('accepts a span as a list of ranges, and leaves out reserved addresses', () => {
    const settings = {
      subnets: [
        {
          cidr: '172.18.0.0/24',
          spans: { nodes: ['172.18.0.5', '172.18.0.9-172.18.0.10'] },
          reserved: ['172.18.0.5'],
        },
      ],
    }
    const { plan } = planSpec(pinned('storage', settings))
    expect(networkOf(plan, 'rhoso1/storage').nodes).toEqual([{ name: 'worker-0', address: '172.18.0.9' }])
  })

  it('keeps an endpoint out of the span that it lies in', () => {
    const settings = {
      subnets: [{ cidr: '172.18.0.0/24' }],
      endpoints: [{ name: 'ovsdb', address: '172.18.0.40' }],
    }
    const planned = planSpec(pinned('storage', settings))
    const { endpoints, subnets } = networkOf(planned.plan, 'rhoso1/storage')
    expect(listCodes(planned)).toEqual([])
    expect(endpoints).toEqual([{ name: 'ovsdb', address: '172.18.0.40' }])
    expect(subnets[0]?.reserved).toEqual([{ start: '172.18.0.40', end: '172.18.0.40' }])
  })

  it('gives a node one address on a subnet that clouds share', () => {
    const networks = {
      ctlplane: {
        subnets: [{ cidr: '192.168.122.0/24', spans: { nodes: '192.168.122.10-192.168.122.20' } }],
      },
    }
    const dns = { services: { dns: false } }
    const { plan } = planSpec({
      addressing: { isolation: 'shared-vlan' },
      clouds: [
        { name: 'a', namespace: 'a', networks, ...dns },
        { name: 'b', namespace: 'b', networks, ...dns },
      ],
    })
    expect(plan.findings.filter((finding) => finding.severity === 'error' && finding.code === 'SL2101')).toEqual([])
    expect(networkOf(plan, 'b/ctlplane').nodes).toEqual(networkOf(plan, 'a/ctlplane').nodes)
    expect(networkOf(plan, 'b/ctlplane').bridge).toBe('ospbr')
  })

  it('names the interface after the role where NIC names differ, with at most 15 characters', () => {
    const nodes = [
      { name: 'worker-0', nic: 'enp6s0' },
      { name: 'worker-1', nic: 'eno1' },
    ]
    expect(networkOf(planSpec({ ...two, cluster: { nodes } }).plan, 'rhoso1/storage').interface).toBe('main.21')
    const long = { nodes: [{ name: 'worker-0', nic: 'enp129s0f0np0' }] }
    expect(networkOf(planSpec({ ...two, cluster: long }).plan, 'rhoso1/storage').interface).toBe('main.21')
  })

  it('keeps the names of interfaces when a node with another NIC joins or leaves', () => {
    const nodes = (...nics: readonly string[]) => nics.map((nic, index) => ({ name: `worker-${index}`, nic }))
    const site = (...nics: readonly string[]): PartialSiteSpec => ({ ...two, cluster: { nodes: nodes(...nics) } })
    const names = ({ plan }: ReturnType<typeof planSpec>) =>
      plan.clouds.flatMap(({ networks }) => networks.map((network) => network.interface))
    const [uniform, mixed] = [planSpec(site('enp6s0', 'enp6s0')), planSpec(site('enp6s0', 'eno1'))]
    const joined = planSpec(site('enp6s0', 'enp6s0', 'eno1'), { lock: uniform.lock })
    expect(names(joined)).toEqual(names(uniform))
    expect(names(planSpec(site('enp6s0', 'enp6s0'), { lock: joined.lock }))).toEqual(names(uniform))
    expect(names(planSpec(site('enp6s0'), { lock: mixed.lock }))).toEqual(names(mixed))
    // No node has the NIC that the names came from.
    expect(names(planSpec(site('ens3', 'ens3'), { lock: uniform.lock }))).toContain('ens3.20')
  })

  it('gives a cloud that joins a shared segment the interface that the others keep', () => {
    const addressing = { isolation: 'shared-vlan' as const }
    const nodes = [{ name: 'worker-0', nic: 'enp6s0' }]
    const { lock } = planSpec({ ...two, addressing, cluster: { nodes } })
    const clouds = [...(two.clouds ?? []), { name: 'rhoso3', namespace: 'openstack3' }]
    const mixed = [...nodes, { name: 'worker-1', nic: 'eno1' }]
    const { plan } = planSpec({ clouds, addressing, cluster: { nodes: mixed } }, { lock })
    expect(networkOf(plan, 'rhoso3/internalapi').interface).toBe('enp6s0.20')
    expect(networkOf(plan, 'rhoso1/internalapi').interface).toBe('enp6s0.20')
  })

  it('plans IPv6 with the digits of IPv4, and both families together', () => {
    const { plan } = planSpec({ ...two, addressing: { families: [4, 6] } })
    const { hosts, vips } = networkOf(plan, 'rhoso1/internalapi')
    expect(hosts.map((host) => host.address)).toEqual(['172.17.0.100', 'fd00:bbbb::100'])
    expect(vips.filter((vip) => vip.slot === 'keystone.internal').map((vip) => vip.address)).toEqual([
      '172.17.0.80',
      'fd00:bbbb::80',
    ])
  })

  it('plans BGP peers with names', () => {
    const metallb = { mode: 'bgp' as const, asn: 64999, peers: [{ address: '100.65.4.1', asn: 64998 }] }
    const nodes = [{ name: 'worker-0', nic: 'enp6s0' }]
    const { plan } = planSpec({ ...two, cluster: { nodes, metallb } })
    expect(plan.bgp).toEqual({
      asn: 64999,
      peers: [{ name: 'bgp-peer-100.65.4.1', address: '100.65.4.1', asn: 64998 }],
    })
  })
})

describe('conflicts', () => {
  it('name both owners with their locations and suggest free addresses', () => {
    const spans = (own: object) => ({ ctlplane: { subnets: [{ cidr: '192.168.122.0/24', spans: own }] } })
    const { plan } = planSpec({
      addressing: { isolation: 'shared-vlan' },
      clouds: [
        {
          name: 'a',
          namespace: 'a',
          networks: spans({
            vips: '192.168.122.80-192.168.122.90',
            hosts: '192.168.122.100-192.168.122.120',
          }),
        },
        { name: 'b', namespace: 'b', networks: spans({ vips: '192.168.122.100-192.168.122.110' }) },
      ],
    })
    const found = plan.findings.find((finding) => finding.code === 'SL2101')
    expect(found?.message).toContain('a/ctlplane hosts 192.168.122.100-192.168.122.120')
    expect(found?.owners).toHaveLength(2)
    expect(found?.owners).toHaveLength(2)
    for (const owner of found?.owners ?? []) expect(owner).toMatch(/\(site\.yaml:\d+:\d+\)$/)
    expect(found?.remedy).toContain('192.168.122.1-192.168.122.11')
  })

  it('suggest what is left of a span that is too large to move (document 002)', () => {
    const spans = {
      pods: '172.17.0.30-172.17.0.70',
      vips: '172.17.0.80-172.17.0.90',
      hosts: '172.17.0.10-172.17.0.250',
    }
    const { plan } = planSpec(pinned('internalapi', { vlan: 20, subnets: [{ cidr: '172.17.0.0/24', spans }] }))
    const found = plan.findings.filter((finding) => finding.code === 'SL2101')
    expect(found).toHaveLength(2)
    for (const finding of found) {
      expect(finding.remedy).toContain('172.17.0.10-172.17.0.29, 172.17.0.71-172.17.0.79, 172.17.0.91-172.17.0.250')
    }
  })
})

describe('the lock', () => {
  const moved: PartialSiteSpec = {
    clouds: [
      {
        name: 'rhoso1',
        namespace: 'openstack',
        hosts: [{ name: 'compute-0' }],
        networks: { internalapi: { subnets: [{ cidr: '172.27.0.0/24' }] } },
      },
      { name: 'rhoso2', namespace: 'openstack2' },
    ],
  }

  it('survives being written and read', () => {
    const { lock } = planSpec({ ...two, addressing: { families: [4, 6] } })
    expect(readLock(writeLock(lock), 'site.lock.yaml')).toEqual({ lock, findings: [] })
  })

  it('refuses a file that is not a lock, with a reason and no stack trace', () => {
    for (const text of ['', 'kind: Site', '<<<<<<< HEAD\na: 1', 'apiVersion: [', 'clouds: {a: 1}']) {
      const { lock, findings } = readLock(text, 'site.lock.yaml')
      expect(lock).toBeUndefined()
      expect(findings.map((finding) => finding.code)).toEqual(['SL2404'])
    }
  })

  it('refuses a lock that is cut off after any of its lines, and reads one of an earlier version', () => {
    const { lock } = planSpec(two)
    const lines = writeLock(lock).trimEnd().split('\n')
    for (let count = 1; count < lines.length; count += 1) {
      const { findings } = readLock(`${lines.slice(0, count).join('\n')}\n`, 'site.lock.yaml')
      expect(findings.map((finding) => finding.code)).toEqual(['SL2404'])
    }
    const earlier = lines.filter((line) => !line.startsWith('#')).join('\n')
    expect(readLock(earlier, 'site.lock.yaml').lock).toEqual(lock)
  })

  it('keeps a network that the file would move, and names each address, old and new', () => {
    const { lock } = planSpec(two)
    const planned = planSpec(moved, { lock })
    const found = planned.plan.findings.find((finding) => finding.code === 'SL2402')
    expect(found?.severity).toBe('error')
    expect(found?.owners).toContain('subnet subnet1 172.17.0.0/24 -> 172.27.0.0/24')
    expect(found?.owners).toContain('VIP of keystone.internal 172.17.0.80 -> 172.27.0.80')
    expect(found?.owners).toContain('host compute-0 172.17.0.100 -> 172.27.0.100')
    expect(networkOf(planned.plan, 'rhoso1/internalapi').subnets[0]?.cidr).toBe('172.17.0.0/24')
    expect(planned.lock).toEqual(lock)
  })

  it('moves what --allow-move names, and nothing else', () => {
    const { lock } = planSpec(two)
    for (const name of ['rhoso1', 'rhoso1/internalapi']) {
      const planned = planSpec(moved, { lock, allowMove: [name] })
      expect(listCodes(planned)).toEqual([])
      expect(networkOf(planned.plan, 'rhoso1/internalapi').subnets[0]?.cidr).toBe('172.27.0.0/24')
      expect(new Set(diffLocks(lock, planned.lock).map((change) => `${change.cloud}/${change.network}`))).toEqual(
        new Set(['rhoso1/internalapi']),
      )
    }
    expect(listCodes(planSpec(moved, { lock, allowMove: ['rhoso2'] }))).toEqual(['SL2402'])
    expect(listCodes(planSpec(two, { lock, allowMove: ['roso1'] }))).toEqual(['SL2407'])
  })

  it('marks a cloud that left, keeps its addresses reserved, and frees them when it is forgotten', () => {
    const { lock } = planSpec(two)
    const without = { clouds: [two.clouds?.[1] as NonNullable<typeof two.clouds>[number]] }
    const left = planSpec(without, { lock })
    expect(left.lock.clouds['rhoso1']?.leaving).toBe(true)
    expect(left.plan.findings.map((finding) => finding.code)).toEqual(['SL2405'])
    const third = { name: 'rhoso3', namespace: 'openstack3' }
    const added = planSpec({ clouds: [...without.clouds, third] }, { lock: left.lock })
    expect(networkOf(added.plan, 'rhoso3/internalapi').subnets[0]?.cidr).toBe('172.17.2.0/24')
    const forgotten = planSpec({ clouds: [...without.clouds, third] }, { lock: left.lock, forget: ['rhoso1'] })
    expect(networkOf(forgotten.plan, 'rhoso3/internalapi').subnets[0]?.cidr).toBe('172.17.0.0/24')
    expect(forgotten.lock.clouds['rhoso1']).toBeUndefined()
    expect(listCodes(planSpec(two, { lock, forget: ['rhoso1'] }))).toEqual(['SL2406'])
  })

  it('reserves the address of a host that left until the host is forgotten', () => {
    const hosts = (...names: string[]): PartialSiteSpec => ({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: names.map((name) => ({ name })) }],
    })
    const { lock } = planSpec(hosts('a', 'b'))
    const left = planSpec(hosts('b', 'c'), { lock })
    expect(networkOf(left.plan, 'rhoso1/storage').hosts.map((host) => host.address)).toEqual([
      '172.18.0.101',
      '172.18.0.102',
    ])
    const forgotten = planSpec(hosts('b', 'c', 'd'), { lock: left.lock, forget: ['rhoso1/a'] })
    expect(networkOf(forgotten.plan, 'rhoso1/storage').hosts.at(-1)?.address).toBe('172.18.0.100')
  })

  it('reports both owners when two merged branches locked one value twice', () => {
    const base = planSpec({ clouds: [{ name: 'rhoso1', namespace: 'openstack' }] })
    const branch = (name: string) => ({
      clouds: [
        { name: 'rhoso1', namespace: 'openstack' },
        { name, namespace: name },
      ],
    })
    const [a, b] = ['red', 'blue'].map((name) => planSpec(branch(name), { lock: base.lock }).lock)
    const merged = { ...base.lock, clouds: { ...a?.clouds, ...b?.clouds } }
    const clouds = [...branch('red').clouds, { name: 'blue', namespace: 'blue' }]
    const planned = planSpec({ clouds }, { lock: merged })
    const found = planned.plan.findings.filter((finding) => finding.code === 'SL2401')
    expect(found.some((finding) => finding.message.includes('VLAN') && /red.*blue/.test(finding.message))).toBe(true)
    expect(found.some((finding) => finding.message.includes('the subnet 172.17.1.0/24'))).toBe(true)
  })

  it('keeps a shared pinned subnet for the remaining cloud when the other one leaves', () => {
    const cloud = (name: string, at: number) => ({
      name,
      namespace: name,
      networks: {
        storage: {
          subnets: [
            {
              cidr: '172.18.0.0/24',
              spans: Object.fromEntries(
                ['nodes', 'pods', 'vips', 'hosts'].map((role, index) => {
                  const first = 10 + at * 100 + index * 20
                  return [role, `172.18.0.${first}-172.18.0.${first + 10}`]
                }),
              ),
            },
          ],
        },
      },
    })
    const both = planSpec({ clouds: [cloud('red', 0), cloud('blue', 1)] })
    expect(listCodes(both)).not.toContain('SL2401')
    const left = planSpec({ clouds: [cloud('red', 0)] }, { lock: both.lock })
    expect(listCodes(left)).not.toContain('SL2401')
    expect(left.lock.clouds['blue']?.leaving).toBe(true)
    const taken = planSpec({ clouds: [cloud('red', 0), { name: 'green', namespace: 'green' }] }, left)
    expect(networkOf(taken.plan, 'green/storage').subnets[0]?.cidr).not.toBe('172.18.0.0/24')
  })

  it('reports both hosts when two merged branches locked one address twice', () => {
    const hosts = (...names: string[]): PartialSiteSpec => ({
      clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: names.map((name) => ({ name })) }],
    })
    const { lock } = planSpec(hosts('a'))
    const b = planSpec(hosts('b')).lock.clouds['rhoso1']?.networks['storage']?.hosts
    const cloud = lock.clouds['rhoso1']
    const storage = cloud?.networks['storage']
    if (!cloud || !storage) throw new Error('no storage')
    const networks = { ...cloud.networks, storage: { ...storage, hosts: { ...storage.hosts, ...b } } }
    const planned = planSpec(hosts('a', 'b'), {
      lock: { ...lock, clouds: { rhoso1: { ...cloud, networks } } },
    })
    const found = planned.plan.findings.find((finding) => finding.code === 'SL2401')
    expect(found?.message).toContain('172.18.0.100')
    expect(found?.message).toMatch(/host a.*host b/)
  })

  it('reports a lock of another site, and a lock with the slots of another CRD', () => {
    const { lock } = planSpec(two)
    expect(listCodes(planSpec(two, { lock: { ...lock, site: 'production' } }))).toEqual(['SL2408'])
    expect(listCodes(planSpec(two, { lock: { ...lock, crd: 'sha256:other' } }))).toEqual(['SL2409'])
    const { crd } = builtInTable('18.0-fr4')
    expect(planSpec(two, { lock: { ...lock, crd } }).findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^the lock was made for the control plane CRD of 18\.0-fr4, this plan uses that of 18\.0-fr6/,
      ),
    ])
  })

  it('classifies each change by its risk', () => {
    const { lock } = planSpec(two)
    const planned = planSpec(moved, { lock, allowMove: ['rhoso1'] })
    const risk = (what: string) => diffLocks(lock, planned.lock).find((change) => change.what === what)?.risk
    expect(risk('subnet subnet1')).toBe('needs recreation')
    expect(risk('VIP of keystone.internal')).toBe('changes a VIP')
    expect(risk('node worker-0')).toBe('touches node networking')
    const pods = pinned('storage', {
      subnets: [{ cidr: '172.18.0.0/24', spans: { pods: '172.18.0.30-172.18.0.60' } }],
    })
    const narrow = pinned('storage', {
      subnets: [{ cidr: '172.18.0.0/24', spans: { pods: '172.18.0.30-172.18.0.50' } }],
    })
    const before = planSpec(pods).lock
    const changes = diffLocks(before, planSpec(narrow, { lock: before }).lock)
    expect(changes.map((change) => [change.what, change.risk])).toEqual([['pods of subnet1', 'restarts pods']])
    const { lock: narrowLock } = planSpec(narrow, { lock: before })
    const wide = diffLocks(narrowLock, planSpec(pods, { lock: narrowLock }).lock)
    expect(wide.map((change) => [change.what, change.risk])).toEqual([['pods of subnet1', 'safe']])
  })
})

describe('a network whose subnets leave nothing for VIPs', () => {
  const subnet = (cidr: string, spans?: object) =>
    pinned('internalapi', { subnets: [{ cidr, ...(spans && { spans }) }] })

  it.each(['172.17.0.0/27', '172.17.0.0/28', '172.17.0.0/29', '172.17.0.0/30', '172.17.0.0/31', '172.17.0.0/32'])(
    'is an error that names the Services without an address: %s',
    (cidr) => {
      const { plan } = planSpec(subnet(cidr))
      const [found] = plan.findings.filter(({ code }) => code === 'SL2301')
      expect(found).toMatchObject({
        severity: 'error',
        message: expect.stringContaining('rabbitmq.rabbitmq') as string,
      })
      if (Number(cidr.split('/')[1]) > 28) expect(found?.message).toContain('has 0; left out: ')
    },
  )

  it('is an error when the spans of the file have no vips', () => {
    const spans = { nodes: '172.17.0.5-172.17.0.29', hosts: '172.17.0.100-172.17.0.250' }
    const { plan } = planSpec(subnet('172.17.0.0/24', spans))
    expect(plan.findings.map(({ code }) => code)).toEqual(['SL2301'])
  })
})

describe('the nova cell of a host', () => {
  const cloudWith = (hosts: readonly { name: string; cell?: string }[], nova?: object): PartialSiteSpec => ({
    clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts: [...hosts], ...(nova && { services: { nova } }) }],
  })
  const cells = { cells: ['cell1', 'cell2'] }

  it.each(['cell9', 'cell0', 'nova-cell1', 'cell2'])(
    'is refused if the control plane has none for hosts: %s',
    (cell) => {
      const { plan } = planSpec(cloudWith([{ name: 'compute-0', cell }]))
      expect(plan.findings).toEqual([
        expect.objectContaining({
          code: 'SL2003',
          message: expect.stringContaining(`cell for hosts ${cell}`) as string,
        }),
      ])
    },
  )

  it('may be one that raw fields add', () => {
    const nova = { template: { cellTemplates: { cell5: { cellMessageBusInstance: 'rabbitmq' } } } }
    expect(listCodes(planSpec(cloudWith([{ name: 'compute-0', cell: 'cell5' }], nova)))).not.toContain('SL2003')
  })

  it('stays as it is locked, also when the order of the cells changes the default', () => {
    const { lock } = planSpec(cloudWith([{ name: 'compute-0' }], cells))
    const moved = planSpec(cloudWith([{ name: 'compute-0', cell: 'cell2' }], cells), { lock })
    expect(moved.plan.findings).toEqual([
      expect.objectContaining({
        code: 'SL2411',
        message: 'rhoso1/compute-0 would move from cell1 to cell2',
        remedy: expect.stringContaining('--forget rhoso1/compute-0') as string,
      }),
    ])
    const reordered = cloudWith([{ name: 'compute-0' }], { cells: ['cell2', 'cell1'] })
    expect(listCodes(planSpec(reordered, { lock }))).toEqual(['SL2411'])
  })

  it('is remembered while a host is away, until the host is forgotten', () => {
    const { lock } = planSpec(cloudWith([{ name: 'compute-0' }, { name: 'compute-1' }], cells))
    const away = planSpec(cloudWith([{ name: 'compute-1' }], cells), { lock })
    const back = cloudWith([{ name: 'compute-0', cell: 'cell2' }, { name: 'compute-1' }], cells)
    expect(listCodes(planSpec(back, { lock: away.lock }))).toEqual(['SL2411'])
    const forgotten = planSpec(cloudWith([{ name: 'compute-1' }], cells), {
      lock: away.lock,
      forget: ['rhoso1/compute-0'],
    })
    expect(listCodes(planSpec(back, { lock: forgotten.lock }))).toEqual([])
  })

  it('is recorded for a host of a lock that has none yet', () => {
    const spec = cloudWith([{ name: 'compute-0', cell: 'cell2' }], cells)
    const { lock } = planSpec(spec)
    const { cells: recorded, ...older } = lock.clouds['rhoso1'] ?? { namespace: '', networks: {} }
    const again = planSpec(spec, { lock: { ...lock, clouds: { rhoso1: older } } })
    expect(listCodes(again)).toEqual([])
    expect(again.lock.clouds['rhoso1']?.cells).toEqual(recorded)
  })
})

describe('a cloud with another name in the same namespace', () => {
  const named = (name: string): PartialSiteSpec => ({ clouds: [{ name, namespace: 'openstack' }] })

  it('is refused as a rename, without the advice to take down what shares its namespace', () => {
    const { lock } = planSpec(named('rhoso1'))
    const { plan, lock: after } = planSpec(named('production'), { lock })
    expect(plan.findings).toEqual([
      expect.objectContaining({
        code: 'SL2412',
        severity: 'error',
        message: 'production has the namespace openstack of rhoso1, which is no longer in the site file',
      }),
    ])
    const leaving = diffLocks(lock, after).find(({ cloud }) => cloud === 'rhoso1')
    expect(leaving).toMatchObject({ to: 'leaving', risk: 'needs recreation' })
  })

  it('is a new cloud once the old one is forgotten', () => {
    const { lock } = planSpec(named('rhoso1'))
    expect(listCodes(planSpec(named('production'), { lock, forget: ['rhoso1'] }))).toEqual([])
  })
})

describe('an edit of a locked site', () => {
  const clouds = [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ]
  const { lock, plan: before } = planSpec({ clouds })
  const planned = ({ clouds: all, segments, bgp }: Plan): string =>
    JSON.stringify([all.map(({ name, namespace, networks }) => [name, namespace, networks]), segments, bgp])

  it.each<[string, PartialSiteSpec]>([
    ['spec.networks.ctlplane.bridge', { networks: { ctlplane: { bridge: 'br-other' } } }],
    ['spec.addressing.isolation', { addressing: { isolation: 'shared-vlan' } }],
    ['spec.addressing.vlans', { addressing: { vlans: { first: 400, last: 500 } } }],
    ['spec.addressing.prefixLength', { addressing: { prefixLength: { ipv4: 25 } } }],
    ['spec.addressing.layout', { addressing: { layout: { vips: '71-79' } } }],
    ['spec.addressing.families', { addressing: { families: [4, 6] } }],
    ['spec.networks.storage.supernets', { networks: { storage: { supernets: ['10.9.0.0/16'] } } }],
    ['spec.networks.storage.mtu', { networks: { storage: { mtu: 9000 } } }],
    ['spec.networks.storage.vlan', { networks: { storage: { vlan: 77 } } }],
    ['spec.networks.storage.interface', { networks: { storage: { interface: 'stor' } } }],
    ['spec.networks.storage.roles', { networks: { storage: { roles: ['nodes', 'pods'] } } }],
    ['spec.networks.storage.attach', { networks: { storage: { attach: 'none' } } }],
    ['spec.networks.storage.dnsDomain', { networks: { storage: { dnsDomain: 'storage.lab' } } }],
    [
      'spec.networks.storage.routes',
      { networks: { storage: { routes: [{ destination: '10.0.0.0/8', nexthop: '+1' }] } } },
    ],
    ['spec.networks.designate', { networks: { designate: false } }],
  ])('changes the plan, is refused, or is reported: %s', (setting, spec) => {
    const { plan } = planSpec({ clouds, ...spec }, { lock })
    const isReported = plan.findings.some(
      ({ code, severity, message }) => severity === 'error' || (code === 'SL2413' && message.startsWith(setting)),
    )
    expect(isReported || planned(plan) !== planned(before)).toBe(true)
  })

  it('says nothing about settings that were locked as they are', () => {
    const words = { clouds, addressing: { vlans: { first: 30, last: 99 }, layout: { vips: '71-79' } } }
    expect(planSpec(words, { lock: planSpec(words).lock }).plan.findings).toEqual([])
  })
})

describe('a site of very many clouds', () => {
  it('gets findings for what does not fit', { timeout: 240_000 }, () => {
    const clouds = Array.from({ length: 9_000 }, (_, index) => ({ name: `c${index}`, namespace: `openstack${index}` }))
    expect(planSpec({ clouds }).findings.length).toBeGreaterThan(100_000)
  })
})
