/** Objects that one tenant may store. None has a time limit: with an algorithm that is not linear, the file does not end. */
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../test/data-plane.ts'
import { netConfig, threeNetworks } from '../../test/ipam.ts'
import { auditAddresses } from '../addresses/audit-addresses.ts'
import { countAddresses } from '../addresses/count-addresses.ts'
import { parseOverlap } from '../addresses/overlapping-reservation.ts'
import { dnsMasqViolations } from '../api/dnsmasq.ts'
import type { IpSet, Reservation } from '../api/ipset.ts'
import { ipSetChangeViolations, ipSetViolations } from '../api/ipset.ts'
import { type NetConfig, netConfigChangeViolations, netConfigViolations, networkVersion } from '../api/netconfig.ts'
import { indexSnapshot } from '../api/snapshot.ts'
import { registerAddressMetrics } from '../controllers/ipam/address-metrics.ts'
import { buildClaim, buildReservationClaim, segmentName } from '../controllers/ipam/claim.ts'
import { blockName, createLedger } from '../controllers/ipam/ledger.ts'
import { planAllocation } from '../controllers/ipam/plan-allocation.ts'
import { buildUsageReport } from '../controllers/ipam/usage-report.ts'
import { parseInventory } from '../dataplane/execution/inventory-hosts.ts'
import { renderRoleHost, renderRoleInventory } from '../dataplane/nodes/inventory.ts'
import { ansibleVarsProblem, parseAnsibleVars, resolveNode } from '../dataplane/rules/inheritance.ts'
import { duplicateKey } from '../errors/file.ts'
import { judgeHosts } from '../hosts/judge-hosts.ts'
import { buildAnswer } from '../webhooks/admission-answer.ts'
import { overlapWarnings } from '../webhooks/other-allocators.ts'
import { readYaml } from '../yaml/read.ts'

const SUBNETS = 20_000

function largeNetConfig(networks: number, subnets: number): NetConfig {
  const spec = {
    networks: Array.from({ length: networks }, (_, n) => ({
      name: `net${n}`,
      mtu: 1500,
      subnets: Array.from({ length: subnets }, (__, s) => {
        const index = n * subnets + s
        const prefix = `10.${(index >> 14) & 255}.${(index >> 6) & 255}.`
        const first = (index & 63) * 4
        const range = { start: `${prefix}${first + 2}`, end: `${prefix}${first + 2}` }
        return { name: `subnet${s}`, cidr: `${prefix}${first}/30`, allocationRanges: [range] }
      }),
    })),
  }
  return { apiVersion: networkVersion, kind: 'NetConfig', metadata: { name: 'netconfig', namespace: 'tenant' }, spec }
}

function largeIpSet(networks: number): IpSet {
  const requests = Array.from({ length: networks }, (_, n) => ({ name: `net${n}`, subnetName: 'subnet0' }))
  return {
    apiVersion: networkVersion,
    kind: 'IPSet',
    metadata: { name: 'edpm-0', namespace: 'tenant', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { immutable: false, networks: requests },
  }
}

describe('a NetConfig with many subnets', () => {
  it('is checked, compared and reported', () => {
    const config = largeNetConfig(1, SUBNETS)
    expect(netConfigViolations(config.spec)).toEqual([])
    expect(netConfigChangeViolations(config.spec, config.spec)).toEqual([])
    const held = config.spec.networks.flatMap(({ subnets }) =>
      subnets.slice(0, 10_000).map((_, index) => ({
        address: { segment: 'untagged', family: 4 as const, value: 0x0a000002n + BigInt(index) * 4n },
        holder: { uid: 'u', namespace: 'tenant', name: 'edpm-0', network: 'net0' },
      })),
    )
    const report = buildUsageReport({ netConfigs: [config], ipSets: [], held })
    expect(report.filter(({ used }) => used === 1)).toHaveLength(10_000)
    const allocators = config.spec.networks[0]?.subnets.map((_, index) => ({
      source: `IPAddressPool ${index}`,
      ranges: [{ family: 4 as const, first: BigInt(index) * 4n, last: BigInt(index) * 4n }],
    }))
    expect(overlapWarnings(config.spec.networks, allocators ?? [])).toEqual([])
  })

  it('is refused with a limited number of causes when all of its ranges overlap', () => {
    const [network] = largeNetConfig(1, 1).spec.networks
    const [subnet] = network?.subnets ?? []
    const allocationRanges = Array.from({ length: 20_000 }, () => ({ start: '10.0.0.1', end: '10.0.0.2' }))
    const spec = {
      networks: [
        { name: 'net0', mtu: 1500, subnets: [{ name: 'a', cidr: '10.0.0.0/24', ...subnet, allocationRanges }] },
      ],
    }
    const refusals = netConfigViolations(spec)
    const kind = { group: 'network.openstack.org', version: 'v1beta1', kind: 'NetConfig' }
    const resource = { group: kind.group, version: kind.version, resource: 'netconfigs' }
    const answer = buildAnswer({ uid: 'u', operation: 'CREATE', kind, resource }, { refusals, warnings: [] })
    expect(answer.causes?.length).toBeLessThanOrEqual(100)
  })

  it('is refused with the first CIDR that each one overlaps', () => {
    const cidrs = [
      '10.0.0.0/24',
      '10.0.1.0/24',
      '10.0.0.0/16',
      '10.0.1.128/25',
      '10.0.0.0/24',
      '2001:db8::/64',
      '10.0.0.7/24',
    ]
    const subnets = cidrs.map((cidr, index) => ({ name: `s${index}`, cidr, allocationRanges: [] }))
    const found = netConfigViolations({ networks: [{ name: 'net0', mtu: 1500, subnets }] })
    expect(found.map(({ field, detail }) => [field.slice(-14), detail])).toEqual(
      [
        ['subnets[2].cidr', 'CIDR 10.0.0.0/16 overlaps with 10.0.0.0/24 at spec.networks[0].subnets[0].cidr'],
        ['subnets[3].cidr', 'CIDR 10.0.1.128/25 overlaps with 10.0.1.0/24 at spec.networks[0].subnets[1].cidr'],
        ['subnets[4].cidr', 'CIDR 10.0.0.0/24 already in use at spec.networks[0].subnets[0].cidr'],
        ['subnets[6].cidr', 'CIDR 10.0.0.7/24 overlaps with 10.0.0.0/24 at spec.networks[0].subnets[0].cidr'],
      ].map(([field = '', detail]) => [field.slice(-14), detail]),
    )
  })
})

describe('a segment annotation', () => {
  it('of any length gives a short name', () => {
    const name = blockName({ segment: `a${'-'.repeat(250_000)}b`, family: 4, first: 0n })
    expect(name.length).toBeLessThan(253)
    expect(blockName({ segment: '--a--', family: 4, first: 0n })).toMatch(/^a-[0-9a-f]{12}\.v4-00000000$/)
  })

  it('of any length is a short part of every AddressBlock', () => {
    const config = netConfig(threeNetworks, { 'stackloom.dev/segment': 'x'.repeat(250_000) })
    const subnet = threeNetworks.networks[0]?.subnets[0]
    expect(subnet && segmentName(config, subnet).length).toBeLessThan(300)
  })
})

describe('an IPSet with many networks', () => {
  it('is checked, claimed and allocated', () => {
    const config = largeNetConfig(10_000, 1)
    const ipSet = largeIpSet(10_000)
    expect(ipSetViolations(ipSet.spec, config.spec)).toEqual([])
    expect(ipSetChangeViolations(ipSet.spec, ipSet.spec)).toEqual([])
    const reservation: Reservation = {
      apiVersion: networkVersion,
      kind: 'Reservation',
      metadata: { name: 'edpm-0', namespace: 'tenant' },
      spec: {
        ipSetRef: {},
        reservation: Object.fromEntries(
          ipSet.spec.networks.map(({ name }) => [name, { network: name, subnet: 'subnet0', address: '192.0.2.1' }]),
        ),
      },
    }
    buildClaim(ipSet, config, reservation)
    const { claim } = buildClaim(ipSet, config, undefined)
    const { changes } = planAllocation([claim], createLedger())
    expect(changes).toHaveLength(10_000)
  })
})

describe('objects of which addresses are counted', () => {
  const none = { attachments: [], ipPools: [], addressPools: [], services: [], netConfigs: [], reservations: [] }
  const metadata = { name: 'a', namespace: 'tenant' }

  it('cost as much as they are large when thousands of ranges of an attachment have one IPPool', () => {
    const ipRanges = Array.from({ length: 30_000 }, () => ({ range: '10.0.0.0/8' }))
    const config = JSON.stringify({ type: 'macvlan', ipam: { type: 'whereabouts', ipRanges } })
    const allocations = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [String(n + 1), {}]))
    const counts = countAddresses({
      ...none,
      attachments: [{ apiVersion: '', kind: '', metadata, spec: { config } }],
      ipPools: [
        { apiVersion: '', kind: '', metadata: { name: '10.0.0.0-8' }, spec: { range: '10.0.0.0/8', allocations } },
      ],
    })
    expect(counts).toEqual([
      { namespace: 'tenant', network: 'a', role: 'pods', used: 20_000, free: 2 ** 24 - 2 - 20_000, created: [] },
    ])
  })

  it('cost as much as they are large when a namespace has thousands of subnets and Reservations', () => {
    const reservations = Array.from({ length: 20_000 }, (_, n) => ({
      apiVersion: '',
      kind: '',
      metadata: { ...metadata, name: `r${n}` },
      spec: { reservation: { NET0: { address: `10.${n >> 14}.${(n >> 6) & 255}.${(n & 63) * 4 + 2}` } } },
    }))
    const counts = countAddresses({ ...none, netConfigs: [largeNetConfig(1, SUBNETS)], reservations })
    expect(counts).toMatchObject([{ network: 'net0', used: SUBNETS, free: 0 }])
  })
})

describe('addresses without an owner', () => {
  const metadata = { name: 'a', namespace: 'tenant' }
  const overlap = (name: string) => ({
    apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
    kind: 'OverlappingRangeIPReservation',
    metadata: { ...metadata, name },
    spec: { podref: 'tenant/gone' },
  })

  it('are read from a name of many words without trying each part of it', () => {
    expect(parseOverlap(overlap(`${'x-'.repeat(200_000)}10.0.0.1`))).toMatchObject({ address: '10.0.0.1' })
    expect(parseOverlap(overlap('net-fd00-1-2-3-4-5-6-7'))).toMatchObject({ address: 'fd00:1:2:3:4:5:6:7' })
    expect(parseOverlap(overlap('net-fd00--7'))).toMatchObject({ address: 'fd00::7' })
  })

  it('are sorted and counted when a namespace has thousands of them', () => {
    const reservations = Array.from({ length: 20_000 }, (_, n) => ({
      apiVersion: networkVersion,
      kind: 'Reservation',
      metadata: { ...metadata, name: `r${n}` },
      spec: { ipSetRef: { name: 'gone' }, reservation: { net0: { address: `fd00::${(n % 60_000).toString(16)}` } } },
    }))
    const index = indexSnapshot({ objects: reservations, unread: [] })
    expect(auditAddresses(index).faults).toHaveLength(20_000)
  })
})

describe('a node set with many hosts and services', () => {
  it('is judged once for all hosts that are alike', () => {
    const names = Array.from({ length: 30_000 }, (_, n) => `h${n}`)
    const nodes = Object.fromEntries(names.map((name) => [name, {}]))
    const metadata = { name: 'computes', namespace: 'tenant' }
    const limit = `${names.slice(1).join(',')},!h1`
    const states = judgeHosts({
      nodeSets: [{ apiVersion: '', kind: '', metadata, spec: { nodes, services: names }, status: { configHash: 'a' } }],
      deployments: [
        {
          apiVersion: '',
          kind: '',
          metadata: { ...metadata, name: 'first' },
          spec: { nodeSets: ['computes'], ansibleLimit: limit },
          status: { deployed: true, nodeSetHashes: { computes: 'a' } },
        },
      ],
      services: [],
      versions: [],
      content: () => ({ kind: 'ignored' }),
      certificates: [],
    })
    const verdicts = new Map(states.map(({ host, verdict }) => [host, verdict]))
    expect([verdicts.get('h0'), verdicts.get('h1'), verdicts.get('h2')]).toEqual(['never', 'never', 'unknown'])
  })
})

describe('a Reservation with many addresses', () => {
  it('of one subnet with many excluded addresses parses that subnet once', () => {
    const excludeAddresses = Array.from({ length: 4_096 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
    const allocationRanges = [{ start: '10.0.128.1', end: '10.0.255.254' }]
    const subnets = [{ name: 'subnet0', cidr: '10.0.0.0/16', allocationRanges, excludeAddresses }]
    const config = { ...largeNetConfig(1, 1), spec: { networks: [{ name: 'net0', mtu: 1500, subnets }] } }
    const entries = Array.from({ length: 20_000 }, (_, index) => {
      const address = `10.0.${128 + (index >> 8)}.${index & 255}`
      return [`net${index}`, { network: 'net0', subnet: 'subnet0', address }] as const
    })
    const { requests } = buildReservationClaim(
      {
        apiVersion: networkVersion,
        kind: 'Reservation',
        metadata: { name: 'large', namespace: 'tenant' },
        spec: { ipSetRef: {}, reservation: Object.fromEntries(entries) },
      },
      config,
    )
    expect(requests).toHaveLength(20_000)
    expect(new Set(requests.map(({ pool }) => pool)).size).toBe(1)
  })
})

describe('ansibleVars', () => {
  it('are refused when aliases repeat a long text', () => {
    const text = `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(100)}]\n`
    expect(ansibleVarsProblem(text)).toContain('its aliases expand to more than 1048576 characters')
    expect(parseAnsibleVars(text)).toEqual({})
  })

  it('are refused when they have more aliases than a person writes', () => {
    const text = `a: &a x\nb: [${'*a,'.repeat(5_000)}]\n`
    expect(ansibleVarsProblem(text)).toContain('it has more than 200 aliases')
    expect(parseAnsibleVars(`a: &a x\nb: [${'*a,'.repeat(100)}]\n`)['b']).toHaveLength(100)
  })

  it('are refused when they are too long to parse while others wait', () => {
    const text = `a: [${'1,'.repeat(500_000)}]`
    expect(ansibleVarsProblem(text)).toBe('it is longer than 131072 characters')
    expect(parseAnsibleVars(text)).toEqual({})
  })
})

describe('a YAML text with many keys', () => {
  const keys = (count: number, write: (key: string) => string): string =>
    Array.from({ length: count }, (_, index) => write(`h${index}`)).join('\n')

  it('is parsed with one pass over its keys, and its duplicate is still found', () => {
    const text = keys(20_000, (key) => `${key}: {}`)
    expect(readYaml(text, 'x').findings).toEqual([])
    const { findings } = readYaml(`${text}\nh7: {}\n`, 'x')
    expect(findings.map(({ code, where }) => [code, where])).toEqual([
      [duplicateKey.code, { file: 'x', line: 20_001, column: 1 }],
    ])
  })

  it('is refused as ansibleVars when it has too many words and signs', () => {
    expect(ansibleVarsProblem(keys(8_000, (key) => `${key}: 1`))).toContain('more than 25000 words and signs')
  })

  it('leaves the hosts of an inventory unknown, so that its run gets all hosts to itself', () => {
    expect(parseInventory(`all: {hosts: {${keys(100_000, (key) => `${key}: {},`)}}}`)).toBeUndefined()
  })

  it('has known hosts as the inventory of a role, whose layout is read line by line', () => {
    const node = dataPlaneNode('edpm', { ansibleHost: '192.0.2.1', node: { ansibleVars: VARS } })
    const host = renderRoleHost(resolveNode(node, undefined), node, { ctlplane_ip: '192.0.2.1' })
    const hosts = Array.from({ length: 2_000 }, (_, index) =>
      host
        .replace('edpm:', `edpm-${index}:`)
        .replace('ansible_host: 192.0.2.1', `ansible_host: 192.0.2.${index % 250}`),
    )
    const role = dataPlaneRole('edpm', { nodeTemplate: { ansibleVars: 'text: |\n  hosts:\n  x: 1\n' } })
    const { inventory } = renderRoleInventory(role, hosts)
    const found = parseInventory(inventory)
    expect(found?.size).toBe(2_000)
    expect(found?.get('edpm-7')).toBe('192.0.2.7')
    expect(parseInventory(renderRoleInventory(role, hosts.slice(0, 10)).inventory)?.get('edpm-7')).toBe('192.0.2.7')
    expect(parseInventory(inventory.replace('ansible_host: 192.0.2.9', 'ansible_host: "{{ x }}"'))).toBeUndefined()
  })
})

const VARS = Array.from({ length: 10 }, (_, index) => `variable_${index}: [a, b, {c: d}]\n`).join('')

describe('a DNSMasq', () => {
  it('with many wrong values is refused with a limited number of them', () => {
    const values = Array.from({ length: 500_000 }, () => '"')
    expect(dnsMasqViolations({ options: [{ key: 'txt-record', values }] }, 'tenant')).toHaveLength(100)
    const options = values.slice(0, 1000).map((value) => ({ key: 'txt-record' as const, values: [value] }))
    expect(dnsMasqViolations({ options }, 'tenant')).toHaveLength(100)
  })
})

describe('the metrics of addresses', () => {
  it('have a limited number of subnets of each namespace', async () => {
    const registry = new Registry()
    const other = { ...netConfig(threeNetworks), metadata: { name: 'netconfig', namespace: 'other' } }
    const netConfigs = [largeNetConfig(1, 5_000), other]
    registerAddressMetrics(registry, () => ({ netConfigs, ipSets: [], findHeld: () => [] }))
    const lines = (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('stackloom_ipam_addresses_free'))
    expect(lines.filter((line) => line.includes('namespace="tenant"'))).toHaveLength(1_000)
    expect(lines.filter((line) => line.includes('namespace="other"'))).toHaveLength(3)
  })
})
