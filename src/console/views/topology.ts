/**
 * Builds the topology in columns of a known order: nodes, NICs, segments, bridges, networks, pools, VIPs, clouds, hosts.
 * Rows follow the plan, so that nothing moves between two refreshes. Pure.
 */
import { groupBy } from '../../api/collections.ts'
import { findCondition } from '../../api/raw-object.ts'
import type { Finding } from '../../errors/finding.ts'
import { formatHostNames } from '../../hosts/fold-hosts.ts'
import { compareAddresses, address as parseValid } from '../../net/address.ts'
import type { Plan, PlannedCloud, PlannedNetwork, Segment } from '../../plan/plan.ts'
import { judgeNetwork } from '../../verify/probe/probe-record.ts'
import type { TopologyDocument, TopologyEdge, TopologyItem, TopologyItemDocument } from '../documents/topology.ts'
import { cloudStates } from './cloud-states.ts'
import { column, columns, type Item, withRows } from './topology-rows.ts'
import { commandLine, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

export function buildTopology(input: ViewInput): Body<TopologyDocument> {
  const command = commandLine('plan', ...input.fileOptions, '--topology', 'topology.svg')
  const { planned } = input
  if (!planned) return { command, columns, items: [], edges: [] }
  const { plan } = planned
  const items = [
    ...nodeItems(plan, input),
    ...plan.segments.flatMap(segmentItems),
    ...plan.clouds.flatMap((cloud) => cloud.networks.flatMap((network) => networkItems(cloud, network))),
    ...cloudItems(plan, input),
  ]
  const edges = planEdges(plan)
  return {
    command,
    columns,
    items: withRows(items, edges),
    edges: [...edges.map((way) => withProbe(way, input)), ...forbiddenEdges(plan, input)],
  }
}

function nodeItems({ from }: Plan, { live }: ViewInput): readonly Item[] {
  const bonds = new Map(from.cluster.bonds.map((bond) => [bond.name, bond]))
  return from.cluster.nodes.flatMap(({ name, nics }): readonly Item[] => {
    const node = live?.index.get('Node', name)
    const ready = node && findCondition(node, 'Ready')
    const state = !live ? undefined : !node ? 'failed' : ready?.status === 'False' ? 'failed' : 'ready'
    const reason =
      live && !node ? 'the cluster has no such node' : ready?.status === 'False' ? ready.message : undefined
    return [
      {
        id: `node:${name}`,
        kind: 'node',
        column: column('Nodes'),
        label: name,
        details: Object.entries(nics).map(([role, nic]) => `${role}: ${nic}`),
        ...(state !== undefined && { state }),
        ...(reason !== undefined && { reason }),
      },
      ...[...new Set(Object.values(nics))].map((nic): Item => {
        const bond = bonds.get(nic)
        return {
          id: `nic:${name}/${nic}`,
          kind: bond ? 'bond' : 'nic',
          column: column('NICs'),
          label: nic,
          details: [name, ...(bond ? [`bond, ${bond.mode}, of ${bond.ports.join(', ')}`] : [])],
        }
      }),
    ]
  })
}

function segmentItems({ id, nic, vlan, interface: carrier, bridge, mtu, networks }: Segment): readonly Item[] {
  const tag = vlan === undefined ? 'untagged' : `VLAN ${vlan}`
  const details = [`NIC ${nic}`, `interface ${carrier}`, `MTU ${mtu}`, ...networks]
  return [
    { id: `segment:${id}`, kind: 'segment', column: column('Segments'), label: tag, details, count: networks.length },
    ...(bridge === undefined
      ? []
      : [
          { id: `bridge:${bridge}`, kind: 'bridge', column: column('Bridges'), label: bridge, details: [tag] } as const,
        ]),
  ]
}

function byAddress(a: { readonly address: string }, b: { readonly address: string }): number {
  return compareAddresses(parseValid(a.address), parseValid(b.address))
}

function networkItems({ name: cloud, namespace }: PlannedCloud, network: PlannedNetwork): readonly Item[] {
  const { name, vips, pool, subnets, interface: carrier, mtu } = network
  const link = { view: 'addresses', query: { cloud, network: name } } as const
  const addresses = groupBy(vips, ({ address }) => address)
  return [
    {
      id: `network:${cloud}/${name}`,
      kind: 'network',
      column: column('Networks'),
      label: name,
      details: [...subnets.map(({ cidr }) => cidr), `interface ${carrier}`, `MTU ${mtu}`],
      cloud,
      link,
    },
    ...(pool === undefined
      ? []
      : [
          {
            id: `pool:${pool}`,
            kind: 'pool',
            column: column('Pools'),
            // The names of pools of a cloud begin alike.
            label: pool.startsWith(`${namespace}-`) ? pool.slice(namespace.length + 1) : pool,
            details: [
              pool,
              ...subnets.flatMap(({ spans }) =>
                spans.filter(({ role }) => role === 'vips').map(({ start, end }) => `${start}-${end}`),
              ),
            ],
            cloud,
            count: addresses.size,
            link,
          } as const,
        ]),
    ...[...addresses].map(
      ([address, slots]): Item => ({
        id: `vip:${cloud}/${name}/${address}`,
        kind: 'vip',
        column: column('VIPs'),
        label: address,
        details: slots.map(({ slot }) => slot),
        cloud,
        count: slots.length,
        link: { view: 'addresses', query: { cloud, network: name, selected: address } },
      }),
    ),
  ]
}

function cloudItems({ clouds }: Plan, input: ViewInput): readonly Item[] {
  const states = cloudStates(input)
  return clouds.flatMap(({ name, namespace, networks }): readonly Item[] => {
    const found = states.get(name)
    const state = found && (found.state === 'planned' || found.state === 'denied' ? 'unknown' : found.state)
    const hosts = [...new Set(networks.flatMap((network) => network.hosts.map((host) => host.name)))]
    return [
      {
        id: `cloud:${name}`,
        kind: 'cloud',
        column: column('Clouds'),
        label: name,
        details: [`namespace ${namespace}`],
        cloud: name,
        ...(state !== undefined && { state }),
        ...(found?.reason !== undefined && { reason: found.reason }),
        link: { view: 'overview', query: { filter: name } },
      },
      ...(hosts.length === 0
        ? []
        : [
            {
              id: `hosts:${name}`,
              kind: 'hosts',
              column: column('Hosts'),
              label: formatHostNames(hosts),
              details: [`${hosts.length} data plane hosts`],
              cloud: name,
              count: hosts.length,
              link: { view: 'hosts', query: { filter: name } },
            } as const,
          ]),
    ]
  })
}

function edge(from: string, to: string, kind: TopologyEdge['kind']): TopologyEdge {
  return { id: `${from} ${to}`, from, to, kind }
}

function planEdges({ from, segments, clouds }: Plan): readonly TopologyEdge[] {
  const bridges = new Map(segments.map(({ id, bridge }) => [id, bridge]))
  const edges = [
    ...from.cluster.nodes.flatMap(({ name, nics }) =>
      [...new Set(Object.values(nics))].map((nic) => edge(`node:${name}`, `nic:${name}/${nic}`, 'carries')),
    ),
    ...segments.flatMap(({ id, nic, bridge }) => [
      ...from.cluster.nodes.flatMap(({ name, nics }) =>
        nics[nic] === undefined ? [] : [edge(`nic:${name}/${nics[nic]}`, `segment:${id}`, 'carries')],
      ),
      ...(bridge === undefined ? [] : [edge(`segment:${id}`, `bridge:${bridge}`, 'carries')]),
    ]),
    ...clouds.flatMap((cloud) =>
      cloud.networks.flatMap(({ name, segment, bridge, pool, vips }) => {
        const id = `network:${cloud.name}/${name}`
        const below = bridge ?? (segment === undefined ? undefined : bridges.get(segment))
        const carrier =
          below === undefined ? (segment === undefined ? [] : [`segment:${segment}`]) : [`bridge:${below}`]
        const addresses = [
          ...new Set(vips.toSorted(byAddress).map(({ address }) => `vip:${cloud.name}/${name}/${address}`)),
        ]
        return [
          ...carrier.map((item) => edge(item, id, 'attaches')),
          edge(id, `cloud:${cloud.name}`, 'belongs'),
          ...(pool === undefined ? [] : [edge(id, `pool:${pool}`, 'serves')]),
          ...addresses.flatMap((vip) => [
            ...(pool === undefined ? [] : [edge(`pool:${pool}`, vip, 'serves')]),
            edge(vip, `cloud:${cloud.name}`, 'serves'),
          ]),
        ]
      }),
    ),
    ...clouds
      .filter(({ networks }) => networks.some(({ hosts }) => hosts.length > 0))
      .map(({ name }) => edge(`cloud:${name}`, `hosts:${name}`, 'belongs')),
  ]
  return [...new Map(edges.map((entry) => [entry.id, entry])).values()]
}

/** What was probed is the way from what carries a network to it. */
function withProbe(way: TopologyEdge, { probe }: ViewInput): TopologyEdge {
  if (!probe || way.kind !== 'attaches') return way
  const [, cloud = '', network = ''] = /^network:([^/]+)\/(.+)$/.exec(way.to) ?? []
  const judged = judgeNetwork(probe, cloud, network)
  return judged ? { ...way, probe: { ...judged, time: probe.time } } : way
}

/** Findings of the plan, of checks and of probes that name networks of two clouds: the edge between them should not be. */
function forbiddenEdges({ clouds, findings }: Plan, { examination, probe }: ViewInput): readonly TopologyEdge[] {
  const networks = new Set(
    clouds.flatMap(({ name, networks: planned }) => planned.map((network) => `${name}/${network.name}`)),
  )
  const checked = [...(examination?.checks ?? []), ...(probe?.results ?? [])]
  const found = [...findings, ...checked.flatMap((check) => check.findings)]
  const edges = found
    .filter(({ severity }) => severity !== 'info')
    .flatMap((finding) =>
      listPairs(finding, networks).map(([first, other]) => {
        const { severity, code, message } = finding
        return {
          ...edge(`network:${first}`, `network:${other}`, 'forbidden'),
          id: `${code} ${first} ${other}`,
          problem: { severity, code, message },
        }
      }),
    )
  return [...new Map(edges.map((entry) => [entry.id, entry])).values()]
}

type Pair = readonly [first: string, other: string]

/** An owner that names networks of two clouds is one place of the problem; otherwise all texts together are. */
function listPairs({ owners = [], message }: Finding, networks: ReadonlySet<string>): readonly Pair[] {
  const inOwners = owners.flatMap((owner) => pairsOf([owner], networks))
  return inOwners.length > 0 ? inOwners : pairsOf([...owners, message], networks).slice(0, 1)
}

function pairsOf(texts: readonly string[], networks: ReadonlySet<string>): readonly Pair[] {
  const words = texts.flatMap((text) => text.match(/[a-z0-9-]+\/[a-z0-9-]+/g) ?? [])
  const named = [...new Set(words)].filter((word) => networks.has(word))
  return named.slice(1).flatMap((other, index): readonly Pair[] => {
    const first = named[index] ?? ''
    return first.split('/')[0] === other.split('/')[0] ? [] : [[first, other]]
  })
}

/** What an item touches: everything on the ways from it to the nodes, and from it to the hosts. */
export function buildTopologyItem(
  topology: Pick<TopologyDocument, 'items' | 'edges'>,
  id: string,
): Body<TopologyItemDocument> | undefined {
  const items = new Map(topology.items.map((item) => [item.id, item]))
  const item = items.get(id)
  if (!item) return undefined
  const edges = topology.edges.filter(({ kind }) => kind !== 'forbidden')
  const forward = groupBy(edges, ({ from }) => from)
  const backward = groupBy(edges, ({ to }) => to)
  const walkRight: WalkRight = (start) =>
    walk(start, (place) => (forward.get(place) ?? []).map((way) => ({ next: way.to, way: way.id })))
  const right = walkRight(id)
  const left = walk(id, (place) => (backward.get(place) ?? []).map((way) => ({ next: way.from, way: way.id })))
  const forbidden = topology.edges.filter(({ kind, from, to }) => kind === 'forbidden' && (from === id || to === id))
  const touches = [...new Set([...left, ...right, ...forbidden.flatMap((way) => [way.id, way.from, way.to])])]
  const segments = touches.filter((touched) => touched.startsWith('segment:'))
  const l2 = ['node', 'cloud', 'hosts'].includes(item.kind)
    ? []
    : segments.flatMap((segment) => [
        ...walk(segment, (place) =>
          (forward.get(place) ?? [])
            .filter(({ to }) => /^(bridge|network|pool|vip):/.test(to))
            .map((way) => ({ next: way.to, way: way.id })),
        ),
        ...walk(segment, (place) => (backward.get(place) ?? []).map((way) => ({ next: way.from, way: way.id }))),
      ])
  return {
    command: commandLine('plan', '--topology', 'topology.svg'),
    item: id,
    label: item.label,
    touches,
    l2: [...new Set(l2)],
    falls: whatFalls(item, items, walkRight, backward),
  }
}

interface Step {
  readonly next: string
  readonly way: string
}

function walk(start: string, stepsFrom: (id: string) => readonly Step[]): ReadonlySet<string> {
  const seen = new Set([start])
  const open = [start]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const { next, way } of stepsFrom(place)) {
      seen.add(way)
      if (seen.has(next)) continue
      seen.add(next)
      open.push(next)
    }
  }
  return seen
}

/** Everything between an item and the hosts. */
type WalkRight = (start: string) => ReadonlySet<string>

/** A segment that other nodes carry too survives the loss of a node or NIC: only what the others depend on falls. */
function whatFalls(
  item: TopologyItem,
  items: ReadonlyMap<string, TopologyItem>,
  walkRight: WalkRight,
  backward: ReadonlyMap<string, readonly TopologyEdge[]>,
): TopologyItemDocument['falls'] {
  const right = walkRight(item.id)
  const isCarrier = item.kind === 'node' || item.kind === 'nic' || item.kind === 'bond'
  const carried = isCarrier ? [...right].filter((id) => items.get(id)?.kind === 'segment') : []
  const alone = carried.filter((segment) => (backward.get(segment) ?? []).every(({ from }) => right.has(from)))
  if (carried.length > 0 && alone.length === 0)
    return {
      clouds: [],
      vips: [],
      hosts: [],
      text: 'other nodes carry the same segments: VIPs move to them, and pods of this node start there',
    }
  const lost = alone.length > 0 ? new Set(alone.flatMap((segment) => [...walkRight(segment)])) : right
  const label = (kind: TopologyItem['kind']): readonly string[] =>
    [...lost].flatMap((id) => items.get(id) ?? []).flatMap((other) => (other.kind === kind ? other.label : []))
  const falls = { clouds: label('cloud'), vips: label('vip'), hosts: label('hosts') }
  const parts = [
    falls.clouds.length === 1 ? '1 cloud' : `${falls.clouds.length} clouds`,
    falls.vips.length === 1 ? '1 VIP' : `${falls.vips.length} VIPs`,
    falls.hosts.length > 0 ? `hosts ${falls.hosts.join(', ')}` : 'no hosts',
  ]
  const text = `${item.label} carries ${parts.join(', ')}`
  if (alone.length === carried.length) return { ...falls, text }
  const only = alone.map((segment) => items.get(segment)?.label).join(', ')
  return { ...falls, text: `${text} by ${only} alone; other nodes carry its other segments` }
}
