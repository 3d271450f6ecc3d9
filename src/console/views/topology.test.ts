/** The topology of small sites: what falls with a node, which ways were probed, and which should not be. */
import { describe, expect, it } from 'vitest'
import { type PartialSiteSpec, planSpec } from '../../../test/site.ts'
import { emptyLock } from '../../plan/lock.ts'
import type { ProbeRecord } from '../../verify/probe/probe-record.ts'
import { buildTopology, buildTopologyItem } from './topology.ts'
import type { ViewInput } from './view-input.ts'

const twoClouds = [
  { name: 'rhoso1', namespace: 'openstack' },
  { name: 'rhoso2', namespace: 'openstack2' },
]

function inputFor(spec: PartialSiteSpec, more: Partial<ViewInput> = {}): ViewInput {
  const { plan, lock } = planSpec(spec)
  const before = emptyLock(plan.site)
  const locate = () => ({ file: 'site.yaml', line: 1, column: 1 })
  return {
    planned: { plan, before, lock, file: 'site.yaml', lockFile: undefined, locate, lines: [] },
    cloudName: (namespace) => namespace,
    title: (code) => code,
    fileOptions: [],
    clusterOptions: [],
    now: 0,
    ...more,
  }
}

describe('what falls with a node', () => {
  const falls = (spec: PartialSiteSpec, item: string) => buildTopologyItem(buildTopology(inputFor(spec)), item)?.falls

  it('is nothing where other nodes carry the same segments', () => {
    const nodes = ['worker-0', 'worker-1'].map((name) => ({ name, nic: 'enp6s0' }))
    for (const item of ['node:worker-0', 'nic:worker-0/enp6s0'])
      expect(falls({ cluster: { nodes } }, item)).toMatchObject({
        clouds: [],
        vips: [],
        hosts: [],
        text: expect.stringContaining('other nodes carry the same segments'),
      })
  })

  it('is everything where it is the only node', () => {
    const hosts = [{ name: 'compute-0' }]
    const found = falls({ clouds: [{ name: 'rhoso1', namespace: 'openstack', hosts }] }, 'node:worker-0')
    expect(found).toMatchObject({ clouds: ['rhoso1'], hosts: ['compute-0'] })
    expect(found?.vips.length).toBeGreaterThan(2)
  })

  it('is what depends on the segments that no other node carries', () => {
    const cluster = {
      nodes: [
        { name: 'worker-0', nics: { main: 'enp6s0', second: 'enp7s0' } },
        { name: 'worker-1', nics: { main: 'enp6s0' } },
      ],
    }
    const [first, second] = twoClouds
    const clouds = [{ ...first, networks: { storage: { nic: 'second' } } }, second] as PartialSiteSpec['clouds']
    const topology = buildTopology(inputFor({ cluster, ...(clouds && { clouds }) }))
    const storage = topology.items.find(({ id, kind }) => kind === 'segment' && id.startsWith('segment:second/'))
    for (const item of ['node:worker-0', 'nic:worker-0/enp7s0']) {
      const found = buildTopologyItem(topology, item)?.falls
      expect(found).toMatchObject({ clouds: ['rhoso1'], vips: [] })
      if (item.startsWith('node:')) expect(found?.text).toContain(`by ${storage?.label} alone`)
    }
    expect(buildTopologyItem(topology, 'node:worker-1')?.falls.clouds).toEqual([])
  })
})

describe('edges', () => {
  it('have the last probe of the network that they carry', () => {
    const message = 'rhoso1/storage on worker-0 does not reach worker-1'
    const probe: ProbeRecord = {
      site: 'lab',
      time: '2026-11-17T12:00:00.000Z',
      results: [
        {
          id: 'probe-reach',
          title: 'Reach',
          cloud: 'rhoso1',
          promise: 'every node reaches every other',
          seen: '6 probes',
          verdict: 'failed',
          findings: [{ code: 'SL9100', severity: 'error', message, remedy: 'check the switch' }],
        },
      ],
    }
    const { edges } = buildTopology(inputFor({ clouds: twoClouds }, { probe }))
    const probes = new Map(edges.filter(({ kind }) => kind === 'attaches').map((edge) => [edge.to, edge.probe]))
    expect(probes.get('network:rhoso1/storage')).toEqual({ verdict: 'failed', text: message, time: probe.time })
    expect(probes.get('network:rhoso1/tenant')?.verdict).toBe('passed')
    expect(probes.get('network:rhoso2/storage')).toBeUndefined()
  })

  it('that should not be connect the networks of two clouds that share a VLAN', () => {
    const { edges } = buildTopology(inputFor({ addressing: { isolation: 'shared-vlan' }, clouds: twoClouds }))
    const forbidden = edges.filter(({ kind }) => kind === 'forbidden')
    expect(forbidden.map(({ from, to }) => [from, to])).toContainEqual([
      'network:rhoso1/internalapi',
      'network:rhoso2/internalapi',
    ])
    for (const { problem } of forbidden) expect(problem).toMatchObject({ code: expect.stringMatching(/^SL2/) })
    const apart = buildTopology(inputFor({ clouds: twoClouds }))
    expect(apart.edges.filter(({ kind }) => kind === 'forbidden')).toEqual([])
  })
})

describe('a VIP', () => {
  it('leads to its address on the map', () => {
    const { items } = buildTopology(inputFor({ clouds: twoClouds }))
    const vips = items.filter(({ kind }) => kind === 'vip')
    expect(vips.length).toBeGreaterThan(2)
    for (const { label, link } of vips) expect(link).toMatchObject({ view: 'addresses', query: { selected: label } })
  })
})
