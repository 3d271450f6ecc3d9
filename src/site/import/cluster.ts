/**
 * What a cluster really has, as a site file: existing clouds come under the ledger without moving.
 *
 * Pure, over a snapshot. A cloud is a namespace with a NetConfig or with attachments that give out addresses.
 */
import { identityOf, type KubeObject } from '../../api/object.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { indexSnapshot, type Snapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { badAttachment, nicUnknown, noClouds } from '../../errors/import-existing.ts'
import { formatValue } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { parseRange, rangeContains } from '../../net/range.ts'
import { networkTemplates } from '../templates.ts'
import { type Attachment, readAttachment } from './attachment.ts'
import { housePools } from './cluster-pools.ts'
import { importServices } from './cluster-services.ts'
import { formatSite, type Imported } from './imported.ts'
import { listOf, numberOf, recordOf, textOf, textsOf } from './loose.ts'
import { subnetFacts } from './netconfig-facts.ts'
import { hasAddresses, type NetworkFacts, networkFromFacts, type SubnetFacts } from './network-facts.ts'
import { type Carrier, carrierOf, type NodeInterfaces, readInterfaces } from './node-interfaces.ts'
import {
  type FileNode,
  familiesOf,
  isolationOf,
  mainNic,
  type NicRoles,
  nicRoles,
  nodeWith,
  USUAL_NIC,
  withMtu,
} from './site-parts.ts'

/** What has to be in the snapshot. */
export const clusterKinds = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' },
  { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' },
] as const

export interface ClusterOptions {
  readonly name: string
  /** Only these namespaces; all that look like a cloud otherwise. */
  readonly namespaces?: readonly string[]
}

/** One network of one namespace, while it is being put together. */
interface Seen {
  readonly subnets: SubnetFacts[]
  readonly vips: string[]
  attachment: Attachment | undefined
  mtu: number | undefined
  dnsDomain: string | undefined
  vlan: number | undefined
  announcedOn: string | undefined
}

type Clouds = ReadonlyMap<string, ReadonlyMap<string, Seen>>

export function importCluster(snapshot: Snapshot, options: ClusterOptions): Imported {
  // A server lists in its own order, a folder in that of its files: the import must not depend on either.
  const objects = [...snapshot.objects].sort((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1))
  const index = indexSnapshot({ ...snapshot, objects })
  const findings: Finding[] = []
  const clouds = cloudsOf(index, options, findings)
  if (clouds.size === 0) {
    const looked = 'no namespace has a NetConfig or a network attachment with addresses'
    return { findings: [finding(noClouds, { looked })] }
  }
  addPools(index, clouds, findings)
  const nodes = workersOf(index)
  const interfaces = readInterfaces(index.all('nmstate.io/NodeNetworkConfigurationPolicy'), nodes)
  const carriers = carriersOf(clouds, interfaces)
  const nics = nicRoles([...carriers.values()].map(({ nic }) => nic))
  const leftover = podsInUse(index)
  const files = [...clouds].map(([namespace, networks]) =>
    cloudOf(namespace, networks, { index, interfaces, carriers, nics, leftover, findings }),
  )
  const site: SiteFile = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: options.name },
    spec: {
      cluster: { platform: platformOf(nodes), nodes: withMtu(nodesOf(nodes, nics, findings), files) },
      addressing: { isolation: isolationOf(files), families: familiesOf(files) },
      clouds: files,
    },
  }
  const head = 'Imported from a cluster. Every value is a pin: what stands here does not move.'
  const comments = files.map(({ namespace }, at) => ({
    path: ['spec', 'clouds', at],
    text: `what the namespace ${namespace} has`,
  }))
  return { text: formatSite(site, head, comments), findings }
}

function cloudsOf(index: SnapshotIndex, { namespaces }: ClusterOptions, findings: Finding[]): Clouds {
  const clouds = new Map<string, Map<string, Seen>>()
  const network = (namespace: string, name: string): Seen => {
    const networks = clouds.get(namespace) ?? new Map<string, Seen>()
    clouds.set(namespace, networks)
    const seen = networks.get(name) ?? {
      subnets: [],
      vips: [],
      attachment: undefined,
      mtu: undefined,
      dnsDomain: undefined,
      vlan: undefined,
      announcedOn: undefined,
    }
    networks.set(name, seen)
    return seen
  }
  for (const netConfig of index.all('network.openstack.org/NetConfig')) {
    const { namespace = '' } = netConfig.metadata
    for (const one of listOf(recordOf(netConfig['spec'])['networks']).map(recordOf)) {
      const name = textOf(one['name'])?.toLowerCase()
      if (name === undefined) continue
      const seen = network(namespace, name)
      const [vlan] = listOf(one['subnets']).flatMap((subnet) => numberOf(recordOf(subnet)['vlan']) ?? [])
      seen.vlan = vlan
      seen.mtu = numberOf(one['mtu'])
      seen.dnsDomain = textOf(one['dnsDomain'])
      seen.subnets.push(...listOf(one['subnets']).flatMap((subnet) => subnetFacts(subnet, vlan) ?? []))
    }
  }
  for (const nad of index.all('k8s.cni.cncf.io/NetworkAttachmentDefinition')) {
    const { namespace = '', name } = nad.metadata
    const read = readAttachment(recordOf(nad['spec'])['config'])
    // Attachments are everybody's; only those that give out addresses, or that stand beside a NetConfig, make a cloud.
    if (!clouds.has(namespace) && (typeof read === 'string' || read.pods.length === 0)) continue
    const reason = typeof read === 'string' ? read : read.problem
    if (reason) {
      const where = { apiVersion: nad.apiVersion, kind: nad.kind, namespace, name }
      findings.push(finding(badAttachment, { cloud: namespace, network: name, reason }, { where }))
    }
    if (typeof read !== 'string') network(namespace, name).attachment = read
  }
  const wanted = [...clouds].filter(([namespace]) => !namespaces || namespaces.includes(namespace))
  return new Map(wanted.sort(([a], [b]) => a.localeCompare(b)))
}

function addPools(index: SnapshotIndex, clouds: Clouds, findings: Finding[]): void {
  const homes = [...clouds].flatMap(([namespace, networks]) =>
    [...networks].map(([network, { subnets, attachment }]) => ({
      namespace,
      network,
      cidrs: [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)],
    })),
  )
  const interfacesOfPool = new Map(
    index.all('metallb.io/L2Advertisement').flatMap((one) => {
      const { ipAddressPools, interfaces } = recordOf(one['spec'])
      return textsOf(ipAddressPools).map((pool) => [pool, textsOf(interfaces)[0]] as const)
    }),
  )
  for (const { pool, namespace, network, addresses } of housePools(
    index.all('metallb.io/IPAddressPool'),
    homes,
    findings,
  )) {
    const seen = clouds.get(namespace)?.get(network)
    seen?.vips.push(...addresses)
    if (seen) seen.announcedOn = interfacesOfPool.get(pool)
  }
}

type Carriers = ReadonlyMap<string, Carrier>

/** By `namespace/network`: where pods are put, or else where the pool is announced. */
function carriersOf(clouds: Clouds, interfaces: NodeInterfaces): Carriers {
  const carriers = new Map<string, Carrier>()
  for (const [namespace, networks] of clouds) {
    for (const [name, { attachment, announcedOn }] of networks) {
      const on = attachment?.master ?? announcedOn
      if (on !== undefined && name !== 'datacentre')
        carriers.set(`${namespace}/${name}`, carrierOf(on, interfaces))
    }
  }
  return carriers
}

interface CloudContext {
  readonly index: SnapshotIndex
  readonly interfaces: NodeInterfaces
  readonly carriers: Carriers
  readonly nics: NicRoles
  readonly leftover: readonly { readonly cidr: string; readonly addresses: readonly string[] }[]
  readonly findings: Finding[]
}

function cloudOf(
  namespace: string,
  networks: ReadonlyMap<string, Seen>,
  context: CloudContext,
): SiteFileCloud {
  const { index, findings } = context
  const where = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
  const pinned: Record<string, SiteFileNetwork | false> = {}
  for (const [name, template] of Object.entries(networkTemplates)) {
    if (template.everywhere && !networks.has(name)) pinned[name] = false
    if (networks.has(name)) pinned[name] = {}
  }
  for (const [name, seen] of networks) {
    const facts = factsOf(namespace, name, seen, context)
    pinned[name] = networkFromFacts(facts, { cloud: namespace, where, findings })
    if (!hasAddresses(facts) && !Object.hasOwn(networkTemplates, name))
      pinned[name] = { ...pinned[name], roles: [] }
  }
  const services = index.all('Service').filter((one) => one.metadata.namespace === namespace)
  return { name: namespace, namespace, networks: pinned, ...importServices(services, findings) }
}

function factsOf(namespace: string, name: string, seen: Seen, context: CloudContext): NetworkFacts {
  const { interfaces, carriers, nics, leftover } = context
  const { attachment, subnets, vips, mtu, dnsDomain } = seen
  const carrier = carriers.get(`${namespace}/${name}`)
  const top = carrier && topOf(carrier)
  const role = carrier && nics.get(carrier.nic)
  const rides = name === 'datacentre'
  return {
    name,
    vlan: carrier?.vlan ?? (rides ? undefined : seen.vlan),
    nic: role === 'main' ? undefined : role,
    interface: carrier?.interface,
    bridge: carrier?.bridge,
    attachment: attachment && withLeftover(attachment, leftover),
    mtu: mtu ?? (top === undefined ? undefined : interfaces.get(top)?.mtu),
    dnsDomain,
    subnets,
    vips,
    nodes: nodeAddresses(top, seen, interfaces),
  }
}

/** A pod may still hold an address from before the range was changed: nobody else may get it. */
function withLeftover(attachment: Attachment, leftover: CloudContext['leftover']): Attachment {
  const pods = attachment.pods.map((one) => {
    const held = leftover.find(({ cidr }) => cidr === one.cidr)?.addresses
    return { ...one, reserved: [...one.reserved, ...outside(one.span, held)] }
  })
  return { ...attachment, pods }
}

/** The interface that has the addresses: the bridge, or the VLAN's, or the NIC itself. */
function topOf({ nic, vlan, bridge, interface: own }: Carrier): string {
  return bridge ?? own ?? (vlan === 'untagged' ? nic : `${nic}.${vlan}`)
}

/** Shared interfaces carry the addresses of several clouds: only those in this network's subnets are its own. */
function nodeAddresses(
  top: string | undefined,
  seen: Seen,
  interfaces: NodeInterfaces,
): NetworkFacts['nodes'] {
  const all = top === undefined ? undefined : interfaces.get(top)?.addresses
  const cidrs = [
    ...seen.subnets.map(({ cidr }) => cidr),
    ...(seen.attachment?.pods ?? []).map(({ cidr }) => cidr),
  ]
  const ranges = cidrs.flatMap((cidr) => parseRange(cidr) ?? [])
  const own = [...(all ?? [])].map(([node, addresses]) => {
    const here = addresses.filter((text) => {
      const address = parseRange(text)
      return (
        address &&
        ranges.some((range) => rangeContains(range, { family: address.family, value: address.first }))
      )
    })
    return [node, here] as const
  })
  return new Map(own.filter(([, addresses]) => addresses.length > 0))
}

/** Addresses that whereabouts has given to pods, by prefix. */
function podsInUse(index: SnapshotIndex): CloudContext['leftover'] {
  return index.all('whereabouts.cni.cncf.io/IPPool').flatMap((pool) => {
    const { range, allocations } = recordOf(pool['spec'])
    const network = typeof range === 'string' ? parseCidr(range) : undefined
    if (!network || typeof range !== 'string') return []
    const offsets = Object.keys(recordOf(allocations)).filter((key) => /^\d{1,12}$/.test(key))
    return [
      {
        cidr: range,
        addresses: offsets.map((key) => formatValue(network.family, network.base + BigInt(key))),
      },
    ]
  })
}

function outside(span: string, addresses: readonly string[] = []): readonly string[] {
  const range = parseRange(span)
  return addresses.filter((text) => {
    const address = parseRange(text)
    return range && address && !rangeContains(range, { family: address.family, value: address.first })
  })
}

/** Workers, or every node where the cluster does not tell them apart. */
function workersOf(index: SnapshotIndex): readonly KubeObject[] {
  const nodes = index.all('Node')
  const workers = nodes.filter(
    ({ metadata }) => metadata.labels?.['node-role.kubernetes.io/worker'] !== undefined,
  )
  return workers.length > 0 ? workers : nodes
}

function nodesOf(nodes: readonly KubeObject[], nics: NicRoles, findings: Finding[]): FileNode[] {
  const names = nodes.length > 0 ? nodes.map(({ metadata }) => metadata.name) : ['worker-0']
  if (mainNic(nics) === undefined)
    findings.push(finding(nicUnknown, { node: names[0] ?? '', nic: USUAL_NIC, withMtu }))
  return names.map((name) => nodeWith(name, nics))
}

function platformOf(nodes: readonly KubeObject[]): 'openshift' | 'kubernetes' {
  const labels = nodes.flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}))
  return labels.some((label) => label.includes('openshift.io')) ? 'openshift' : 'kubernetes'
}
