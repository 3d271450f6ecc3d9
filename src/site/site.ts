/**
 * A Site: the site file with every default filled in, and the path of every value.
 *
 * What the planner reads. Decides nothing: what the file leaves open is still open.
 */
import type { SiteFileBond, SiteFileCloud, SiteFileNetwork, SiteFilePeer } from '../api/site.ts'

export type Family = 4 | 6

/** The allocator that gives out the addresses of a span. */
export type AllocatorRole = 'nodes' | 'pods' | 'vips' | 'hosts'

/** Every role; the roles of a network that the file adds without naming any. */
export const allocatorRoles: readonly AllocatorRole[] = ['nodes', 'pods', 'vips', 'hosts']

/** A path in the site file: `['spec', 'clouds', 0, 'namespace']`. */
export type Path = readonly (string | number)[]

export interface Site {
  readonly name: string
  readonly cluster: Cluster
  readonly addressing: Addressing
  readonly clouds: readonly Cloud[]
  readonly accept: readonly Acceptance[]
}

/** What nodes keep apart beside the VLANs. */
export interface Isolation {
  readonly forwarding: 'block' | 'allow'
  /** On which segments nodes answer ARP for an address. */
  readonly nodeAddresses: 'own-segment' | 'any-segment'
  /** What bridges over a whole NIC do with tagged frames that no `trunk` lists. */
  readonly taggedFrames: 'block' | 'allow'
}

export interface Cluster {
  readonly platform: 'openshift' | 'kubernetes'
  /** As written; absent: as the lock has it, or the default. */
  readonly release: string | undefined
  readonly nodes: readonly ClusterNode[]
  readonly reserved: readonly ReservedPrefix[]
  readonly dns: readonly string[]
  readonly domain: string | undefined
  readonly storageClass: string | undefined
  readonly bonds: readonly Bond[]
  readonly maxUnavailable: number | string | undefined
  readonly isolation: Isolation
  readonly metallb: MetalLb
  readonly operators: Readonly<Record<OperatorName, OperatorSource>>
}

export interface ClusterNode {
  readonly name: string
  /** NICs by role; every node has the role `main`. */
  readonly nics: Readonly<Record<string, string>>
  readonly mtu: number | undefined
  readonly path: Path
}

/** A prefix that the cluster itself uses. */
export interface ReservedPrefix {
  readonly use: 'machine' | 'pods' | 'services' | 'join' | 'other'
  readonly cidr: string
  /** Absent for a default. */
  readonly path: Path | undefined
}

/** As written, with its options. */
export interface Bond extends SiteFileBond {
  readonly options: Readonly<Record<string, string | number>>
}

export interface MetalLb {
  readonly mode: 'layer2' | 'bgp'
  readonly namespace: string
  readonly asn: number | undefined
  readonly peers: readonly BgpPeer[]
}

/** As written; no nodes means all of them. */
export interface BgpPeer extends SiteFilePeer {
  readonly nodes: string[]
  readonly path: Path
}

export type OperatorName = 'nmstate' | 'metallb' | 'certManager' | 'openstack'

export interface OperatorSource {
  /** Absent for a catalog image whose CatalogSource has no name in the file. */
  readonly source: string | undefined
  /** Absent for a catalog image: its CatalogSource is in the namespace of the operator. */
  readonly sourceNamespace: string | undefined
  readonly channel: string
  /** A catalog image that is not in a known CatalogSource; one is created for it. */
  readonly image: string | undefined
}

export interface Addressing {
  readonly isolation: 'vlan-per-cloud' | 'shared-vlan'
  readonly families: readonly Family[]
  readonly vlans: { readonly first: number; readonly last: number }
  readonly prefixLength: Readonly<Record<Family, number>>
  /** Spans as offsets from a subnet's first address, for subnets without spans: `{vips: ['80-90']}`. */
  readonly layout: Readonly<Record<AllocatorRole, readonly string[]>>
}

export interface Cloud {
  readonly name: string
  readonly namespace: string
  readonly networks: readonly CloudNetwork[]
  /** Everything else that the file has for the cloud, as written. */
  readonly file: SiteFileCloud
  readonly path: Path
}

/** One network of one cloud: its settings, merged from built-in template, site template and the cloud's own pins. */
export interface CloudNetwork {
  readonly name: string
  readonly settings: SiteFileNetwork
  readonly layers: readonly SettingsLayer[]
}

export interface SettingsLayer {
  readonly settings: SiteFileNetwork
  /** Absent for the built-in template, which no file has. */
  readonly path: Path | undefined
}

export interface Acceptance {
  readonly code: string
  readonly where: string | undefined
  readonly reason: string
  readonly path: Path
}

/** Where a setting of a network is in the file: the last layer that has it, or the last layer with a path at all. */
export function settingPath(network: CloudNetwork, key: keyof SiteFileNetwork, ...rest: Path): Path | undefined {
  const layer = network.layers.findLast(({ settings }) => settings[key] !== undefined)
  if (layer?.path) return [...layer.path, key, ...rest]
  return network.layers.findLast((layer) => layer.path)?.path
}

/**
 * The name of a BGP peer: as the site file has it, or one with the address of the router. Neither another router nor another cloud
 * changes it: MetalLB refuses a peer whose address another one has, so peers cannot exchange their names.
 */
export function bgpPeerName({ cluster: { metallb } }: Site, index: number): string {
  const { name, address = '' } = metallb.peers[index] ?? {}
  if (name !== undefined) return name
  const earlier = metallb.peers.slice(0, index).filter((peer) => peer.address === address).length
  const text = address.toLowerCase().replaceAll(':', '-').replace(/-+$/, '')
  return `bgp-peer-${text}${earlier > 0 ? `-${earlier + 1}` : ''}`
}
