/**
 * Reads the requests of the site file: what each network pins, and the hosts and pinned VIPs of each cloud.
 *
 * Chooses nothing. What the file leaves open is undefined, and the planner decides it.
 */
import { type Address, formatAddress } from '../net/address.ts'
import { type Cidr, formatCidr } from '../net/cidr.ts'
import { formatRange, type Range } from '../net/range.ts'
import {
  type AllocatorRole,
  allocatorRoles,
  type Cloud,
  type CloudNetwork,
  type Path,
  type Site,
  settingPath,
} from '../site/site.ts'
import type { AddressReader } from './address-reader.ts'
import type { Tag } from './draft/vlan-ids.ts'
import { otherFamily } from './findings/addresses.ts'
import { hostNetworks } from './node-sets.ts'
import type { Route } from './plan.ts'
import type { CloudService } from './slots/cloud-services.ts'
import type { SlotUse } from './slots/slots.ts'

export const roles = allocatorRoles

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
  /** The nodes of the cluster are not on it: only data plane hosts are. */
  readonly isHostsOnly: boolean
  readonly tag: Tag | undefined
  /** Whether this cloud pins the tag; a template only proposes it, to every cloud. */
  readonly tagIsPin: boolean
  /** Has no segment of its own: it uses the bridge of the cloud's ctlplane. */
  readonly onCtlplaneBridge: boolean
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

type SettingKey = Parameters<typeof settingPath>[1]

/** Where a setting is in the file; the cloud's path where only the built-in template has it. */
export function settingPathOrCloud(request: NetworkRequest, key: SettingKey, ...rest: Path): Path {
  return settingPath(request.network, key, ...rest) ?? request.cloud.path
}

export function readNetworkRequests(site: Site, reader: AddressReader): readonly NetworkRequest[] {
  return site.clouds.flatMap((cloud) =>
    cloud.networks.map((network) => readNetworkRequest(cloud, network, site, reader)),
  )
}

function readNetworkRequest(cloud: Cloud, network: CloudNetwork, site: Site, reader: AddressReader): NetworkRequest {
  const { settings } = network
  const owner = `${cloud.name}/${network.name}`
  const pathOf = (key: SettingKey, ...rest: Path): Path | undefined => settingPath(network, key, ...rest)
  const subnets = settings.subnets?.flatMap((_, index) => readSubnet(owner, network, index, site, reader) ?? [])
  const attach = settings.attach ?? 'macvlan'
  return {
    owner,
    cloud,
    network,
    nic: settings.nic || 'main',
    isHostsOnly: settings.nic === false,
    tag: settings.vlan,
    tagIsPin: isPinnedByCloud(network, 'vlan'),
    onCtlplaneBridge:
      attach === 'bridge' &&
      settings.vlan === undefined &&
      settings.nic === undefined &&
      (settings.bridge === undefined || settings.bridge === false),
    roles: new Set(settings.roles ?? roles),
    subnets: settings.subnets && subnets,
    supernets: (settings.supernets ?? []).flatMap((text, index) =>
      reader.ranges(text, { owner, what: 'supernet', path: pathOf('supernets', index) }),
    ),
    nodes: new Map(
      Object.entries(settings.nodes ?? {}).map(([name, text]) => [
        name,
        reader.addresses(text, { owner, what: `address of node ${name}`, path: pathOf('nodes', name) }),
      ]),
    ),
    endpoints: (settings.endpoints ?? []).flatMap(({ name, address: text }, index) => {
      const path = pathOf('endpoints', index, 'address')
      const address = reader.address(text, { owner, what: `endpoint ${name}`, path })
      return address ? [{ name, address, path }] : []
    }),
    routes: readRoutes(owner, settings.routes, pathOf('routes'), reader),
    podRoutes: readRoutes(owner, settings.podRoutes, pathOf('podRoutes'), reader),
  }
}

/** Whether the cloud's own settings have it, not a template. */
export function isPinnedByCloud(network: CloudNetwork, key: keyof CloudNetwork['settings']): boolean {
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
    reserved: (written.reserved ?? []).flatMap((text, position) =>
      reader
        .ranges(text, { owner, what: 'reserved', path: below('reserved', position) })
        .filter((range) => fits(range, `reserved ${formatRange(range)}`, below('reserved', position))),
    ),
    routes: readRoutes(owner, written.routes, below('routes'), reader),
    path,
  }
}

type FamilyCheck = (value: { readonly family: 4 | 6 }, what: string, path: Path | undefined) => boolean

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
    const rolePath = path && [...path, role]
    const ranges = reader.ranges(text, { owner, what: role, path: rolePath })
    spans[role] = ranges.filter((range) => fits(range, `${role} ${formatRange(range)}`, rolePath))
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
    const below = (key: string): Path | undefined => path && [...path, index, key]
    const subject = { owner, what: 'route destination', path: below('destination') }
    const destination = reader.cidr(route.destination, subject)
    // A template knows the offset of a router in its subnet, not which subnet it will be.
    if (destination && /^\+\d{1,9}$/.test(route.nexthop))
      return [{ destination: formatCidr(destination), nexthop: route.nexthop }]
    const nexthop = reader.address(route.nexthop, { owner, what: 'next hop', path: below('nexthop') })
    if (!destination || !nexthop) return []
    if (destination.family !== nexthop.family) {
      const expected = `its destination ${formatCidr(destination)} is IPv${destination.family}`
      const what = `next hop ${formatAddress(nexthop)}`
      reader.report(otherFamily, { owner, what, family: nexthop.family, expected }, below('nexthop'))
      return []
    }
    return [{ destination: formatCidr(destination), nexthop: formatAddress(nexthop) }]
  })
}

export interface HostRequest {
  readonly name: string
  /** Undefined: every network that has a hosts span. */
  readonly networks: ReadonlySet<string> | undefined
  readonly path: Path
}

/** The pinned addresses of a host on one network. */
export interface HostPin {
  readonly name: string
  readonly addresses: readonly Address[]
}

export interface CloudRequest {
  readonly cloud: Cloud
  readonly hosts: readonly HostRequest[]
  /** The names of all hosts, when every host is on every network: the usual case. */
  readonly allHosts: readonly string[] | undefined
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
    const networks = hostNetworks(cloud, host)
    return { name: host.name, networks: networks && new Set(networks), path: [...cloud.path, 'hosts', index] }
  })
  const pinnedVips = Object.entries(cloud.file.vips ?? {}).map(([slot, text]) => {
    const path = [...cloud.path, 'vips', slot]
    return [slot, reader.addresses(text, { owner: cloud.name, what: `VIP of ${slot}`, path })] as const
  })
  const everywhere = hosts.every((host) => host.networks === undefined)
  return {
    cloud,
    hosts,
    allHosts: everywhere ? hosts.map(({ name }) => name) : undefined,
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
      const networkPins = pins.get(network) ?? []
      networkPins.push({ name: host.name, addresses })
      pins.set(network, networkPins)
    }
  }
  return pins
}
