/**
 * What each network of each cloud asks for, as values: the pins of the site file, read.
 *
 * Nothing is chosen here. What the file leaves open is undefined, and the planner's to decide.
 */
import { type Address, formatAddress } from '../net/address.ts'
import { type Cidr, formatCidr } from '../net/cidr.ts'
import { formatRange, type Range } from '../net/range.ts'
import { type AllocatorRole, type Cloud, type CloudNetwork, type Path, type Site, settingPath } from '../site/site.ts'
import { type AddressReader } from './address-reader.ts'
import { type Tag } from './draft/vlan-ids.ts'
import { otherFamily } from './findings/addresses.ts'
import { type Route } from './plan.ts'
import { type CloudService } from './slots/cloud-services.ts'
import { type SlotUse } from './slots/slots.ts'

export const roles: readonly AllocatorRole[] = ['nodes', 'pods', 'vips', 'hosts']

export type Spans = Readonly<Partial<Record<AllocatorRole, readonly Range[]>>>

export interface SubnetRequest {
  readonly name: string
  readonly cidr: Cidr
  readonly gateway: Address | undefined
  readonly vlan: number | undefined
  readonly dnsDomain: string | undefined
  /** Undefined: by layout. A role that is absent has no span. */
  readonly spans: Spans | undefined
  readonly reserved: readonly Range[]
  readonly routes: readonly Route[]
  readonly path: Path | undefined
}

export interface NetworkRequest {
  /** `rhoso1/internalapi`. */
  readonly owner: string
  readonly cloud: Cloud
  readonly network: CloudNetwork
  /** The NIC's role. */
  readonly nic: string
  readonly tag: Tag | undefined
  /** Whether the tag is this cloud's own pin, not what a template proposes to every cloud. */
  readonly tagIsPin: boolean
  /** Has no segment of its own: rides on the bridge of the cloud's ctlplane. */
  readonly rides: boolean
  readonly roles: ReadonlySet<AllocatorRole>
  /** Undefined: the planner takes one of each family from the supernets. */
  readonly subnets: readonly SubnetRequest[] | undefined
  readonly supernets: readonly Range[]
  readonly nodes: ReadonlyMap<string, readonly Address[]>
  readonly endpoints: readonly {
    readonly name: string
    readonly address: Address
    readonly path: Path | undefined
  }[]
  readonly routes: readonly Route[]
  readonly podRoutes: readonly Route[]
}

/** Where a setting is written; the cloud's own place where nobody wrote it. */
export function settingPathOrCloud(wish: NetworkRequest, key: Parameters<typeof settingPath>[1], ...rest: Path): Path {
  return settingPath(wish.network, key, ...rest) ?? wish.cloud.path
}

function ownerOf(cloud: Cloud, network: CloudNetwork): string {
  return `${cloud.name}/${network.name}`
}

export function readNetworkRequests(site: Site, reader: AddressReader): readonly NetworkRequest[] {
  return site.clouds.flatMap((cloud) => cloud.networks.map((network) => readWish(cloud, network, site, reader)))
}

function readWish(cloud: Cloud, network: CloudNetwork, site: Site, reader: AddressReader): NetworkRequest {
  const { settings } = network
  const owner = ownerOf(cloud, network)
  const at = (key: Parameters<typeof settingPath>[1], ...rest: Path): Path | undefined =>
    settingPath(network, key, ...rest)
  const subnets = settings.subnets?.flatMap((_, index) => readSubnet(owner, network, index, site, reader) ?? [])
  const attach = settings.attach ?? 'macvlan'
  return {
    owner,
    cloud,
    network,
    nic: settings.nic ?? 'main',
    tag: settings.vlan,
    tagIsPin: isOwnPin(network, 'vlan'),
    rides:
      attach === 'bridge' &&
      settings.vlan === undefined &&
      settings.nic === undefined &&
      (settings.bridge === undefined || settings.bridge === false),
    roles: new Set(settings.roles ?? roles),
    subnets: settings.subnets && subnets,
    supernets: (settings.supernets ?? []).flatMap((text, index) =>
      reader.ranges(text, { owner, what: 'supernet', path: at('supernets', index) }),
    ),
    nodes: new Map(
      Object.entries(settings.nodes ?? {}).map(([name, text]) => [
        name,
        reader.addresses(text, { owner, what: `address of node ${name}`, path: at('nodes', name) }),
      ]),
    ),
    endpoints: (settings.endpoints ?? []).flatMap(({ name, address: text }, index) => {
      const path = at('endpoints', index, 'address')
      const address = reader.address(text, { owner, what: `endpoint ${name}`, path })
      return address ? [{ name, address, path }] : []
    }),
    routes: readRoutes(owner, settings.routes, at('routes'), reader),
    podRoutes: readRoutes(owner, settings.podRoutes, at('podRoutes'), reader),
  }
}

/** Whether the cloud itself says this, not a template. */
function isOwnPin(network: CloudNetwork, key: keyof CloudNetwork['settings']): boolean {
  const written = network.layers.findLast((layer) => layer.settings[key] !== undefined)
  return written?.path?.[1] === 'clouds'
}

function readSubnet(
  owner: string,
  network: CloudNetwork,
  index: number,
  site: Site,
  reader: AddressReader,
): SubnetRequest | undefined {
  const written = network.settings.subnets?.[index]
  const path = settingPath(network, 'subnets', index)
  const below = (...rest: Path): Path | undefined => path && [...path, ...rest]
  const cidr = written && reader.cidr(written.cidr, { owner, what: 'subnet', path: below('cidr') })
  if (!written || !cidr) return undefined
  const fits = familyCheck(owner, cidr, reader)
  if (!site.addressing.families.includes(cidr.family)) {
    const expected = `the site has IPv${site.addressing.families.join(' and IPv')} only`
    const what = `subnet ${written.cidr}`
    reader.report(otherFamily, { owner, what, family: cidr.family, expected }, below('cidr'))
  }
  const gateway =
    written.gateway === undefined
      ? undefined
      : reader.address(written.gateway, { owner, what: 'gateway', path: below('gateway') })
  return {
    name: written.name ?? `subnet${index + 1}`,
    cidr,
    gateway: gateway && fits(gateway, `gateway ${formatAddress(gateway)}`, below('gateway')) ? gateway : undefined,
    vlan: written.vlan,
    dnsDomain: written.dnsDomain,
    spans: written.spans && readSpans(owner, written.spans, below('spans'), fits, reader),
    reserved: (written.reserved ?? []).flatMap((text, at) =>
      reader
        .ranges(text, { owner, what: 'reserved', path: below('reserved', at) })
        .filter((range) => fits(range, `reserved ${formatRange(range)}`, below('reserved', at))),
    ),
    routes: readRoutes(owner, written.routes, below('routes'), reader),
    path,
  }
}

type FamilyCheck = (one: { readonly family: 4 | 6 }, what: string, path: Path | undefined) => boolean

function familyCheck(owner: string, cidr: Cidr, reader: AddressReader): FamilyCheck {
  return ({ family }, what, path) => {
    if (family === cidr.family) return true
    const expected = `its subnet ${formatCidr(cidr)} is IPv${cidr.family}`
    reader.report(otherFamily, { owner, what, family, expected }, path)
    return false
  }
}

type WrittenSpans = NonNullable<NonNullable<CloudNetwork['settings']['subnets']>[number]['spans']>

function readSpans(
  owner: string,
  written: WrittenSpans,
  path: Path | undefined,
  fits: FamilyCheck,
  reader: AddressReader,
): Spans {
  const spans: Partial<Record<AllocatorRole, readonly Range[]>> = {}
  for (const role of roles) {
    const text = written[role]
    if (text === undefined) continue
    const at = path && [...path, role]
    const ranges = reader.ranges(text, { owner, what: role, path: at })
    spans[role] = ranges.filter((range) => fits(range, `${role} ${formatRange(range)}`, at))
  }
  return spans
}

function readRoutes(
  owner: string,
  written: readonly Route[] | undefined,
  path: Path | undefined,
  reader: AddressReader,
): readonly Route[] {
  return (written ?? []).flatMap((route, index) => {
    const at = (key: string): Path | undefined => path && [...path, index, key]
    const destination = reader.cidr(route.destination, {
      owner,
      what: 'route destination',
      path: at('destination'),
    })
    // A template knows where in the subnet a router stands, not which subnet it will be.
    if (destination && /^\+\d{1,9}$/.test(route.nexthop))
      return [{ destination: formatCidr(destination), nexthop: route.nexthop }]
    const nexthop = reader.address(route.nexthop, { owner, what: 'next hop', path: at('nexthop') })
    if (!destination || !nexthop) return []
    if (destination.family !== nexthop.family) {
      const expected = `its destination ${formatCidr(destination)} is IPv${destination.family}`
      const what = `next hop ${formatAddress(nexthop)}`
      reader.report(otherFamily, { owner, what, family: nexthop.family, expected }, at('nexthop'))
      return []
    }
    return [{ destination: formatCidr(destination), nexthop: formatAddress(nexthop) }]
  })
}

// FOLDED src/plan/cloud-wishes.ts
/**
 * What each cloud asks for beside its networks: hosts with their pins, and pinned VIPs.
 *
 * Nothing is chosen here.
 */
export interface HostRequest {
  readonly name: string
  /** Undefined: every network that has a hosts span. */
  readonly networks: ReadonlySet<string> | undefined
  readonly path: Path
}

/** A host, and where it is pinned to on one network. */
export interface HostPin {
  readonly name: string
  readonly addresses: readonly Address[]
}

export interface CloudRequest {
  readonly cloud: Cloud
  readonly hosts: readonly HostRequest[]
  /** Everybody's name, when everybody is on every network: the usual case. */
  readonly everybody: readonly string[] | undefined
  /** Pinned addresses of hosts, by network. */
  readonly pins: ReadonlyMap<string, readonly HostPin[]>
  /** Pinned addresses, by slot. */
  readonly pinnedVips: ReadonlyMap<string, readonly Address[]>
  readonly services: readonly CloudService[]
  readonly uses: readonly SlotUse[]
}

export function readCloudRequest(
  cloud: Cloud,
  { services, uses }: Pick<CloudRequest, 'services' | 'uses'>,
  reader: AddressReader,
): CloudRequest {
  const hosts = (cloud.file.hosts ?? []).map((host, index): HostRequest => {
    const networks = host.networks && new Set(host.networks)
    return { name: host.name, networks, path: [...cloud.path, 'hosts', index] }
  })
  const pinnedVips = Object.entries(cloud.file.vips ?? {}).map(([slot, text]) => {
    const path = [...cloud.path, 'vips', slot]
    return [slot, reader.addresses(text, { owner: cloud.name, what: `VIP of ${slot}`, path })] as const
  })
  const alike = hosts.every((host) => host.networks === undefined)
  const everybody = alike ? hosts.map(({ name }) => name) : undefined
  return {
    cloud,
    hosts,
    everybody,
    pins: readHostPins(cloud, reader),
    pinnedVips: new Map(pinnedVips),
    services,
    uses,
  }
}

function readHostPins(cloud: Cloud, reader: AddressReader): ReadonlyMap<string, readonly HostPin[]> {
  const known = new Set(cloud.networks.map(({ name }) => name))
  const pins = new Map<string, HostPin[]>()
  for (const [index, host] of (cloud.file.hosts ?? []).entries()) {
    for (const [network, text] of Object.entries(host.addresses ?? {})) {
      if (!known.has(network)) continue
      const path = [...cloud.path, 'hosts', index, 'addresses', network]
      const owner = `${cloud.name} host ${host.name}`
      const addresses = reader.addresses(text, { owner, what: `address on ${network}`, path })
      pins.set(network, [...(pins.get(network) ?? []), { name: host.name, addresses }])
    }
  }
  return pins
}
