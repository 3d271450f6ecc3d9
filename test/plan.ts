/**
 * Builds a plan without the planner, with the well-known numbers of install_yamls, for tests of code that reads plans.
 * Cloud k has the third octet k in each network, and VLANs from 20 + 10 k.
 */
import type { SiteFileCloud } from '../src/api/site.ts'
import type { Plan, PlannedCloud, PlannedNetwork, PlannedSubnet, Segment } from '../src/plan/plan.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { slotUses } from '../src/plan/slots/slot-uses.ts'
import type { SlotTable, SlotUse } from '../src/plan/slots/slots.ts'
import { buildSite } from '../src/site/defaults.ts'
import type { Cloud, Family, Site } from '../src/site/site.ts'
import { TODAY } from './sandbox-context.ts'

export interface PlanSettings {
  readonly clouds?: readonly (Partial<SiteFileCloud> & {
    readonly name: string
    readonly namespace: string
  })[]
  readonly families?: readonly Family[]
  readonly nodes?: number
  readonly platform?: 'openshift' | 'kubernetes'
  /** Every cloud's networks on the VLANs of the first. */
  readonly shared?: boolean
  readonly table?: SlotTable
  readonly cluster?: Readonly<Record<string, unknown>>
}

const networks: readonly {
  readonly name: string
  readonly vlan?: number
  readonly base: number
  readonly roles: string
}[] = [
  { name: 'ctlplane', base: 0, roles: 'nodes pods vips hosts' },
  { name: 'internalapi', vlan: 20, base: 17, roles: 'nodes pods vips hosts' },
  { name: 'storage', vlan: 21, base: 18, roles: 'nodes pods vips hosts' },
  { name: 'tenant', vlan: 22, base: 19, roles: 'nodes pods vips hosts' },
  { name: 'storagemgmt', vlan: 23, base: 20, roles: 'nodes pods hosts' },
  { name: 'designate', vlan: 25, base: 28, roles: 'nodes pods' },
  { name: 'designateext', vlan: 26, base: 26, roles: 'nodes pods vips' },
]

function testSite(settings: PlanSettings = {}): Site {
  const { nodes = 3, platform = 'openshift', families = [4] } = settings
  const clouds = settings.clouds ?? [{ name: 'rhoso1', namespace: 'openstack' }]
  return buildSite({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'lab' },
    spec: {
      cluster: {
        platform,
        nodes: Array.from({ length: nodes }, (_, index) => ({ name: `worker-${index}`, nic: 'enp6s0' })),
        dns: ['192.168.122.1'],
        ...settings.cluster,
      },
      addressing: { families: [...families] },
      clouds: [...clouds],
    },
  })
}

export function testPlan(settings: PlanSettings = {}): Plan {
  const site = testSite(settings)
  const table = settings.table ?? builtInTable()
  const clouds = site.clouds.map((cloud, index) => plannedCloud(site, cloud, index, table, settings.shared ?? false))
  return {
    site: site.name,
    clouds,
    segments: segmentsOf(clouds),
    slots: table,
    findings: [],
    from: site,
  }
}

/** For tests that apply what they render: the set `today` of the sandbox has the CRDs of this release. */
export function sandboxPlan(settings: PlanSettings = {}): Plan {
  return testPlan({ table: builtInTable(TODAY), ...settings })
}

function plannedCloud(site: Site, from: Cloud, index: number, table: SlotTable, shared: boolean): PlannedCloud {
  const { services, uses } = slotUses({
    cloud: from,
    platform: site.cluster.platform,
    table,
    locate: () => undefined,
  })
  const bridge = index === 0 || shared ? 'ospbr' : `ospbr${index}`
  const planned = networks.map(({ name, vlan, base, roles }) => {
    const tag =
      vlan === undefined ? (index === 0 || shared ? undefined : 29 + 10 * index) : vlan + (shared ? 0 : 10 * index)
    const subnets = site.addressing.families.map((family) => subnetOf(family, base, index, roles))
    return networkOf({ site, from, name, tag, subnets, uses, ...(name === 'ctlplane' && { bridge }) })
  })
  const datacentre: PlannedNetwork = {
    ...networkOf({ site, from, name: 'datacentre', tag: undefined, subnets: [], uses, bridge }),
    attach: 'bridge',
  }
  const { segment: _, ...rest } = datacentre
  return { name: from.name, namespace: from.namespace, networks: [...planned, rest], services, uses, from }
}

function subnetOf(family: Family, base: number, index: number, roles: string): PlannedSubnet {
  const prefix =
    family === 4
      ? base === 0
        ? `192.168.${122 + index}.`
        : `172.${base}.${index}.`
      : `fd00:${base.toString(16)}:${(index + 1).toString(16)}::`
  const at = (host: number): string => `${prefix}${family === 4 ? host : host.toString(16)}`
  const spans = { nodes: [10, 29], pods: [30, 70], vips: [80, 90], hosts: [100, 250] } as const
  return {
    name: family === 4 ? 'subnet1' : 'subnet2',
    family,
    cidr: family === 4 ? `${prefix}0/24` : `${prefix}/64`,
    ...(base === 0 && { gateway: at(1) }),
    spans: Object.entries(spans)
      .filter(([role]) => roles.split(' ').includes(role))
      .map(([role, [start, end]]) => ({ role: role as keyof typeof spans, start: at(start), end: at(end) })),
    reserved: [],
    routes: [],
  }
}

interface NetworkInput {
  readonly site: Site
  readonly from: Cloud
  readonly name: string
  readonly tag: number | undefined
  readonly subnets: readonly PlannedSubnet[]
  readonly uses: readonly SlotUse[]
  readonly bridge?: string
}

function networkOf({ site, from, name, tag, subnets, uses, bridge }: NetworkInput): PlannedNetwork {
  const carrier = tag === undefined ? 'enp6s0' : `enp6s0.${tag}`
  const first = (role: string, step: number): readonly string[] =>
    subnets.flatMap((subnet) => {
      const span = subnet.spans.find((span) => span.role === role)
      return span ? [nth(span.start, step)] : []
    })
  const pool = first('vips', 0).length > 0 ? `${from.namespace}-${name}` : undefined
  let alone = 5
  return {
    name,
    segment: `main/${tag ?? 'untagged'}`,
    ...(tag !== undefined && { vlan: tag }),
    interface: bridge ?? carrier,
    ...(bridge !== undefined && { bridge }),
    mtu: 1500,
    attach: 'macvlan',
    dnsDomain: `${name}.${from.name}.example.com`,
    ...(pool !== undefined && { pool, sharingKey: pool }),
    subnets,
    vips: uses
      .filter((use) => use.network === name)
      .flatMap((use) => {
        const step = use.alone ? alone++ : use.group === 'public' ? 1 : 0
        return first('vips', step).map((address) => ({ slot: use.name, address, shared: !use.alone }))
      }),
    nodes: site.cluster.nodes.flatMap((node, index) =>
      first('nodes', index).map((address) => ({ name: node.name, address })),
    ),
    hosts: (from.file.hosts ?? []).flatMap((host, index) =>
      first('hosts', index).map((address) => ({ name: host.name, address, names: [`${host.name}.${name}`] })),
    ),
    endpoints: [],
    routes: [],
    podRoutes: [],
  }
}

function nth(address: string, step: number): string {
  const [, head = '', last = '', radix] =
    /^(.*[.:])([0-9a-f]+)$/.exec(address)?.concat(address.includes(':') ? '16' : '10') ?? []
  const base = Number(radix)
  return `${head}${(Number.parseInt(last, base) + step).toString(base)}`
}

function segmentsOf(clouds: readonly PlannedCloud[]): readonly Segment[] {
  const found = new Map<string, Segment>()
  for (const cloud of clouds) {
    for (const network of cloud.networks) {
      const { segment: id, vlan, mtu, bridge } = network
      if (id === undefined) continue
      const owner = `${cloud.name}/${network.name}`
      const before = found.get(id)
      const carrier = vlan === undefined ? 'enp6s0' : `enp6s0.${vlan}`
      found.set(id, {
        id,
        nic: 'main',
        ...(vlan !== undefined && { vlan }),
        interface: carrier,
        ...(bridge !== undefined && { bridge }),
        mtu,
        networks: [...(before?.networks ?? []), owner],
      })
    }
  }
  return [...found.values()]
}
