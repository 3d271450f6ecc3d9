/** Fills in every default of a site file: the Site that the planner reads. Decides nothing. */
import type { SiteFile, SiteFileCloud, SiteFileNetwork, SiteFilePeer, SiteFileSpec } from '../api/site.ts'
import { parseAcceptances } from './accept.ts'
import { networkTemplates } from './network-templates.ts'
import type {
  Addressing,
  AllocatorRole,
  BgpPeer,
  Cloud,
  CloudNetwork,
  Cluster,
  ClusterNode,
  Family,
  Isolation,
  OperatorName,
  OperatorSource,
  Path,
  ReservedPrefix,
  SettingsLayer,
  Site,
} from './site.ts'

export function buildSite({ metadata, spec }: SiteFile): Site {
  const families = [...new Set(spec.addressing?.families ?? [4 as const])]
  return {
    name: metadata.name,
    cluster: buildCluster(spec.cluster, families),
    addressing: buildAddressing(spec.addressing, families),
    clouds: spec.clouds.map((cloud, index) => buildCloud(cloud, ['spec', 'clouds', index], spec.networks ?? {})),
    accept: parseAcceptances(spec.accept),
  }
}

type FileCluster = SiteFileSpec['cluster']

/** Every way between clouds through the nodes is closed unless the file opens it. */
function buildIsolation(file: FileCluster['isolation']): Isolation {
  return {
    forwarding: file?.forwarding ?? 'block',
    nodeAddresses: file?.nodeAddresses ?? 'own-segment',
    taggedFrames: file?.taggedFrames ?? 'block',
  }
}

function buildCluster(file: FileCluster, families: readonly Family[]): Cluster {
  const platform = file.platform ?? 'openshift'
  const { metallb } = file
  return {
    platform,
    release: file.release,
    nodes: file.nodes.map(buildNode),
    reserved: listReserved(file, platform, families),
    dns: file.dns ?? [],
    domain: file.domain,
    storageClass: file.storageClass,
    bonds: (file.bonds ?? []).map((bond) => ({ ...bond, options: bond.options ?? {} })),
    maxUnavailable: file.maxUnavailable,
    isolation: buildIsolation(file.isolation),
    metallb: {
      mode: metallb?.mode ?? 'layer2',
      namespace: metallb?.namespace ?? 'metallb-system',
      asn: metallb?.asn,
      peers: (metallb?.peers ?? []).map(buildPeer),
    },
    operators: buildOperators(file.operators),
  }
}

function buildNode(node: FileCluster['nodes'][number], index: number): ClusterNode {
  const nics = { ...(node.nic !== undefined && { main: node.nic }), ...node.nics }
  return { name: node.name, nics, mtu: node.mtu, path: ['spec', 'cluster', 'nodes', index] }
}

function buildPeer(peer: SiteFilePeer, index: number): BgpPeer {
  return { ...peer, nodes: peer.nodes ?? [], path: ['spec', 'cluster', 'metallb', 'peers', index] }
}

type Use = ReservedPrefix['use']

/** The prefixes that a cluster of this platform uses by default. */
const PLATFORM_PREFIXES: Readonly<
  Record<Cluster['platform'], Readonly<Record<Family, Readonly<Partial<Record<Use, readonly string[]>>>>>>
> = {
  openshift: {
    4: { pods: ['10.128.0.0/14'], services: ['172.30.0.0/16'], join: ['100.64.0.0/16', '100.88.0.0/16'] },
    6: { pods: ['fd01::/48'], services: ['fd02::/112'], join: ['fd98::/64', 'fd97::/64'] },
  },
  kubernetes: {
    4: { pods: ['10.244.0.0/16'], services: ['10.96.0.0/12'] },
    6: { pods: ['fd00:10:244::/56'], services: ['fd00:10:96::/112'] },
  },
}

const USES: readonly Use[] = ['machine', 'pods', 'services', 'join', 'other']

/** A use that the file names replaces the platform's default for this use. */
function listReserved(
  file: FileCluster,
  platform: Cluster['platform'],
  families: readonly Family[],
): readonly ReservedPrefix[] {
  return USES.flatMap((use): readonly ReservedPrefix[] => {
    const written = file.reserved?.[use]
    if (written) {
      const path: Path = ['spec', 'cluster', 'reserved', use]
      return written.map((cidr, index) => ({ use, cidr, path: [...path, index] }))
    }
    const standard = families.flatMap((family) => PLATFORM_PREFIXES[platform][family][use] ?? [])
    return standard.map((cidr) => ({ use, cidr, path: undefined }))
  })
}

const RED_HAT: OperatorSource = {
  source: 'redhat-operators',
  sourceNamespace: 'openshift-marketplace',
  channel: 'stable',
  image: undefined,
}

const OPERATORS: Readonly<Record<OperatorName, OperatorSource>> = {
  nmstate: RED_HAT,
  metallb: RED_HAT,
  certManager: { ...RED_HAT, channel: 'stable-v1' },
  openstack: { ...RED_HAT, channel: 'stable-v1.0' },
}

function buildOperators(file: FileCluster['operators']): Cluster['operators'] {
  const sourceOf = (name: OperatorName): OperatorSource => {
    const written = file?.[name]
    const standard = written?.image === undefined ? OPERATORS[name] : customCatalog(name)
    return {
      source: written?.source ?? standard.source,
      sourceNamespace: written?.sourceNamespace ?? standard.sourceNamespace,
      channel: written?.channel ?? standard.channel,
      image: written?.image,
    }
  }
  return {
    nmstate: sourceOf('nmstate'),
    metallb: sourceOf('metallb'),
    certManager: sourceOf('certManager'),
    openstack: sourceOf('openstack'),
  }
}

/** A custom catalog image is a development build: upstream publishes those in the channel `alpha`. */
function customCatalog(name: OperatorName): OperatorSource {
  const channel = name === 'openstack' ? 'alpha' : OPERATORS[name].channel
  return { source: undefined, sourceNamespace: undefined, channel, image: undefined }
}

/** Offsets from a subnet's first address, as in install_yamls. */
const LAYOUT: Readonly<Record<AllocatorRole, readonly string[]>> = {
  nodes: ['5-29'],
  pods: ['30-70'],
  vips: ['80-90'],
  hosts: ['100-250'],
}

function buildAddressing(file: SiteFileSpec['addressing'], families: readonly Family[]): Addressing {
  const layoutOf = (role: AllocatorRole): readonly string[] => toList(file?.layout?.[role] ?? LAYOUT[role])
  return {
    isolation: file?.isolation ?? 'vlan-per-cloud',
    families,
    vlans: file?.vlans ?? { first: 20, last: 4094 },
    prefixLength: { 4: file?.prefixLength?.ipv4 ?? 24, 6: file?.prefixLength?.ipv6 ?? 64 },
    layout: { nodes: layoutOf('nodes'), pods: layoutOf('pods'), vips: layoutOf('vips'), hosts: layoutOf('hosts') },
  }
}

type FileNetworks = Readonly<Record<string, SiteFileNetwork | false>>

function buildCloud(file: SiteFileCloud, path: Path, templates: FileNetworks): Cloud {
  const pins: FileNetworks = file.networks ?? {}
  const names = networkNames(file, templates)
  const networks = names.map((name) => buildNetwork(name, templates[name], pins[name], path))
  return { name: file.name, namespace: file.namespace, networks, file, path }
}

/** The built-in networks in their order, then those that the file adds, in the order of the file. */
function networkNames(file: SiteFileCloud, templates: FileNetworks): readonly string[] {
  const pins: FileNetworks = file.networks ?? {}
  const isEnabled = (name: string): boolean => {
    const written = pins[name] ?? templates[name]
    if (written !== undefined) return written !== false
    return Boolean(networkTemplates[name]?.everywhere) || (name === 'octavia' && servesOctavia(file))
  }
  const all = new Set([...Object.keys(networkTemplates), ...Object.keys(templates), ...Object.keys(pins)])
  return [...all].filter(isEnabled)
}

function servesOctavia({ services }: SiteFileCloud): boolean {
  const octavia = services?.['octavia']
  return octavia === true || (typeof octavia === 'object' && octavia.enabled !== false)
}

function buildNetwork(
  name: string,
  template: SiteFileNetwork | false | undefined,
  pins: SiteFileNetwork | false | undefined,
  cloud: Path,
): CloudNetwork {
  const layers: SettingsLayer[] = []
  const builtIn = Object.hasOwn(networkTemplates, name) ? networkTemplates[name] : undefined
  if (builtIn) {
    const { everywhere: _, ...settings } = builtIn
    layers.push({ settings, path: undefined })
  }
  if (template) layers.push({ settings: template, path: ['spec', 'networks', name] })
  if (pins) layers.push({ settings: pins, path: [...cloud, 'networks', name] })
  const settings = Object.assign({}, ...layers.map((layer) => layer.settings)) as SiteFileNetwork
  return { name, settings, layers }
}

export function toList(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}
