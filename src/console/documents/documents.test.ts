import { describe, expect, it } from 'vitest'
import {
  brokenExample,
  type ConsoleExample,
  deployedExample,
  planOnlyExample,
} from '../../../test/console-documents.ts'
import { documentNames } from '../routes.ts'
import type { AddressesDocument, NetworkDocument } from './addresses.ts'
import type { FindingsDocument } from './findings.ts'
import type { HostsDocument } from './hosts.ts'
import type { OverviewDocument } from './overview.ts'
import type { RunDocument } from './runs.ts'
import { schemas } from './schemas.ts'
import type { TopologyDocument, TopologyItemDocument } from './topology.ts'

const examples: Readonly<Record<string, ConsoleExample>> = {
  planOnly: planOnlyExample(),
  deployed: deployedExample(),
  broken: brokenExample(),
}
const { planOnly, deployed, broken } = examples as Record<'planOnly' | 'deployed' | 'broken', ConsoleExample>

describe.each(Object.entries(examples))('documents of the example %s', (_, example) => {
  it.each(documentNames)('%s has its schema, and every list of items has unique ids', (name) => {
    const parsed = schemas[name].parse(example.documents[name])
    // A field that the schema does not have would not reach a page that is typed by it.
    expect(parsed).toEqual(JSON.parse(JSON.stringify(example.documents[name])))
    for (const [field, list] of Object.entries(example.documents[name])) {
      if (!Array.isArray(list) || typeof list[0] !== 'object') continue
      const ids = list.map((item: { readonly id?: string }) => item.id)
      expect(new Set(ids).size, field).toBe(ids.length)
    }
  })

  it('has further documents with their schemas', () => {
    for (const name of ['network', 'topologyItem', 'run', 'stage', 'deployment', 'search'] as const)
      expect(schemas[name].parse(example[name])).toEqual(JSON.parse(JSON.stringify(example[name])))
  })
})

describe('the address map', () => {
  it('shows what differs between plan and cluster, with the reason', () => {
    const { subnets } = broken.network as NetworkDocument
    const marks = new Map(subnets.flatMap((subnet) => subnet.marks.map((mark) => [mark.id, mark])))
    expect(marks.get('172.17.0.88')).toMatchObject({
      state: 'differs',
      reason: 'Service openstack/keystone-internal has it, planned for it is 172.17.0.80',
    })
    expect(marks.get('172.17.0.80')).toMatchObject({
      state: 'differs',
      reason: 'Service openstack/keystone-internal has 172.17.0.88',
    })
    expect(marks.get('172.17.0.90')).toMatchObject({ state: 'foreign', live: ['Service shop/web'] })
    expect(marks.get('172.17.0.85')).toMatchObject({ state: 'same', planned: ['rabbitmq.rabbitmq'] })
  })

  it('has no problem on a healthy VIP network, and no live state without a cluster', () => {
    const states = (example: ConsoleExample) =>
      new Set((example.network as NetworkDocument).subnets.flatMap(({ marks }) => marks.map(({ state }) => state)))
    expect([...states(planOnly)]).toEqual(['planned'])
    expect(states(deployed)).not.toContain('foreign')
    expect(states(deployed)).not.toContain('differs')
  })

  it('takes addresses of nodes as planned where the cluster does not say which they have', () => {
    const { subnets } = deployed.network as NetworkDocument
    const nodes = subnets.flatMap(({ marks }) => marks.filter(({ kind }) => kind === 'node'))
    expect(nodes.length).toBeGreaterThan(0)
    expect(new Set(nodes.map(({ state }) => state))).toEqual(new Set(['planned']))
  })

  it('marks exactly the addresses of a bar that are planned, live or wrong', () => {
    const runsOf = (example: ConsoleExample) =>
      (example.documents.addresses as AddressesDocument).subnets
        .find(({ id }) => id.startsWith('rhoso1/internalapi/'))
        ?.runs.map(({ from, to, planned, live, problem }) => {
          const kinds = [planned && 'planned', live && 'live', problem && 'problem'].filter(Boolean)
          return `${Math.round(from * 256)}-${Math.round(to * 256) - 1} ${kinds.join(' ')}`
        })
    expect(runsOf(planOnly)).toEqual(['10-12 planned', '80-80 planned', '85-86 planned', '100-101 planned'])
    expect(runsOf(deployed)?.filter((run) => run.endsWith('problem'))).toEqual([])
    expect(runsOf(broken)).toEqual([
      '10-12 planned',
      '30-30 live',
      '80-80 planned live problem',
      '85-86 planned live',
      '88-88 live problem',
      '90-90 live problem',
      '100-100 planned live',
      '101-101 planned',
    ])
  })

  it('says that one more cloud fits, and how many subnets are free', () => {
    const { oneMore, supernets } = planOnly.documents.addresses as AddressesDocument
    expect(oneMore).toMatchObject({ fits: true })
    expect(supernets.length).toBeGreaterThan(0)
  })

  it('places spans in order inside the bar', () => {
    const { subnets } = planOnly.documents.addresses as AddressesDocument
    for (const { spans } of subnets)
      for (const { from, to } of spans) expect([from >= 0, to <= 1, from < to]).toEqual([true, true, true])
  })
})

describe('the topology', () => {
  it('connects only items that exist, left to right', () => {
    const { items, edges } = broken.documents.topology as TopologyDocument
    const columns = new Map(items.map(({ id, column }) => [id, column]))
    for (const { from, to, kind } of edges) {
      expect(columns.has(from) && columns.has(to), `${from} ${to}`).toBe(true)
      if (kind !== 'forbidden') expect(columns.get(from)).toBeLessThan(columns.get(to) ?? 0)
    }
  })

  it('keeps every item at its place when the cluster changes', () => {
    const places = (example: ConsoleExample) =>
      (example.documents.topology as TopologyDocument).items.map(({ id, column, row }) => [id, column, row])
    expect(places(broken)).toEqual(places(planOnly))
  })

  it('lists what a segment carries in one L2 domain', () => {
    const item = planOnly.topologyItem as TopologyItemDocument
    expect(item.l2).toEqual(
      expect.arrayContaining(['network:rhoso1/internalapi', 'pool:openstack-internalapi', 'node:worker-2']),
    )
    expect(item.l2.filter((id) => /^(network:rhoso2|cloud:)/.test(id))).toEqual([])
    expect(item.falls.clouds).toEqual(['rhoso1'])
    expect(item.touches).not.toContain('cloud:rhoso2')
  })
})

describe('overview, hosts and findings', () => {
  it('puts the failed cloud first, with the reason and the next command', () => {
    const { attention, clouds } = broken.documents.overview as OverviewDocument
    expect(attention[0]).toMatchObject({ severity: 'error', cloud: 'rhoso1' })
    expect(clouds.find(({ name }) => name === 'rhoso1')).toMatchObject({
      state: 'failed',
      soonestCertificate: { daysLeft: 10 },
    })
  })

  it('lists each cause once, and names the object that its message is about', () => {
    const { attention } = broken.documents.overview as OverviewDocument
    const { groups } = broken.documents.findings as FindingsDocument
    expect(attention.filter(({ reason }) => reason.includes('172.17.0.88'))).toHaveLength(1)
    expect(attention.filter(({ id }) => id.startsWith('finding')).length).toBeLessThanOrEqual(groups.length)
    expect(attention.find(({ id }) => id.startsWith('finding SL9580'))?.reason).toMatch(/^Secret openstack\/.*more\)$/)
  })

  it('calls a cloud planned without a cluster', () => {
    const { clouds } = planOnly.documents.overview as OverviewDocument
    expect(clouds.map(({ name, state }) => [name, state])).toEqual([
      ['rhoso1', 'planned'],
      ['rhoso2', 'planned'],
    ])
  })

  it('shows the failed service of a failed host', () => {
    const { nodeSets } = broken.documents.hosts as HostsDocument
    const cells = nodeSets.flatMap(({ groups }) => groups.flatMap((group) => group.cells.map(({ state }) => state)))
    expect(cells).toContain('failed')
    expect(nodeSets.some(({ alike }) => alike !== undefined)).toBe(true)
  })

  it('has the lines of the site file and the entry to accept', () => {
    const { findings } = planOnly.documents.findings as FindingsDocument
    const placed = findings.filter(({ excerpt }) => excerpt)
    expect(placed.length).toBeGreaterThan(0)
    for (const { excerpt } of placed) expect(excerpt?.lines.filter(({ marked }) => marked)).toHaveLength(1)
  })

  it('names the next command and the critical path of a failed run', () => {
    const { criticalPath, next, stages } = broken.run as RunDocument
    expect(next).toBe('stackloom up -f site.yaml')
    expect(criticalPath[0]).toBe('operators')
    expect(stages.find(({ id }) => id === 'rhoso2/data-plane')).toMatchObject({ state: 'blocked' })
  })
})
