/**
 * Imports what a cluster has as a site file, so that existing clouds are planned without moving.
 *
 * Pure, over a snapshot. A cloud is a namespace with a NetConfig or with attachments that give out addresses.
 */
import { asList, asRecord, asString } from '../../api/json.ts'
import { type KubeObject, objectIdentity } from '../../api/object.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { indexSnapshot, type Snapshot, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { formatValue, parseAddress } from '../../net/address.ts'
import { parseCidr } from '../../net/cidr.ts'
import { parseRange, rangeContains } from '../../net/range.ts'
import { networkTemplates } from '../network-templates.ts'
import type { Attachment } from './attachment.ts'
import {
  addressBelowBridge,
  ipSetWithoutHost,
  nicUnknown,
  noClouds,
  platformGuessed,
  valueLeftOut,
  vipsUnpinned,
} from './findings/existing.ts'
import {
  buildNode,
  DEFAULT_NIC,
  detectFamilies,
  detectIsolation,
  type FileNode,
  formatSite,
  type Imported,
  mainNic,
  type NicRoles,
  nicRoles,
  withMtu,
} from './imported-site.ts'
import { findKept } from './kept-objects.ts'
import { importMetalLb } from './metallb.ts'
import { buildNetwork, hasAddresses, type NetworkFacts, withoutSegment } from './network-facts.ts'
import { type Carrier, type NodeInterfaces, readInterfaces, resolveCarrier } from './node-interfaces.ts'
import { addNodeSets, nodeSetSources } from './node-sets.ts'
import { collectClouds, collectPools, type ObservedClouds, type ObservedNetwork } from './observed-clouds.ts'
import { formatUnread, trackReads, type UnreadValues } from './read-tracker.ts'
import { importServices } from './service-vips.ts'

/** The kinds that the snapshot needs. */
export const clusterKinds = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'BGPAdvertisement' },
  { apiVersion: 'metallb.io/v1beta2', kind: 'BGPPeer' },
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet' },
  { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' },
  { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneService' },
  { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' },
] as const

export interface ClusterOptions {
  readonly name: string
  /** Only these namespaces; by default all that look like a cloud. */
  readonly namespaces?: readonly string[]
}

export function importCluster(snapshot: Snapshot, options: ClusterOptions): Imported {
  // The result must not depend on the order in which a server or a folder lists objects.
  const sorted = [...snapshot.objects].sort((a, b) => (objectIdentity(a) < objectIdentity(b) ? -1 : 1))
  const { objects, reportUnread } = trackObjects(sorted)
  const index = indexSnapshot({ ...snapshot, objects })
  const findings: Finding[] = []
  const clouds = collectClouds(index, options.namespaces, findings)
  if (clouds.size === 0) {
    const looked = 'no namespace has a NetConfig or a network attachment with addresses'
    return { findings: [finding(noClouds, { looked })] }
  }
  const pools = collectPools(index, clouds, findings)
  const nodes = workersOf(index)
  const metallb = importMetalLb(index, pools, nodes, findings)
  const interfaces = readInterfaces(index.all('nmstate.io/NodeNetworkConfigurationPolicy'), nodes)
  const carriers = carriersOf(clouds, interfaces)
  const nics = nicRoles([...carriers.values()].map(({ nic }) => nic))
  const leftover = podsInUse(index)
  const context: CloudContext = { index, interfaces, carriers, nics, leftover, claimed: new Set(), findings }
  const files = [...clouds].map(([namespace, networks]) => cloudOf(namespace, networks, context))
  // The nodes also have the addresses of clouds that were not asked for.
  if (!options.namespaces) findings.push(...reportUnclaimed(context))
  findings.push(...reportUnread(), ...platformFindings(nodes))
  const site: SiteFile = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: options.name },
    spec: {
      cluster: { platform: platformOf(nodes), nodes: clusterNodes(nodes, files, context), ...(metallb && { metallb }) },
      addressing: { isolation: detectIsolation(files), families: detectFamilies(files) },
      clouds: files,
    },
  }
  const head = 'Imported from a cluster. Every value is a pin: what stands here does not move.'
  const comments = files.map(({ namespace }, index) => ({
    path: ['spec', 'clouds', index],
    text: `what the namespace ${namespace} has`,
  }))
  return { text: formatSite(site, head, comments), findings }
}

type Carriers = ReadonlyMap<string, Carrier>

/** By `namespace/network`: the interface of the attachment, or else the one that announces the pool. */
function carriersOf(clouds: ObservedClouds, interfaces: NodeInterfaces): Carriers {
  const carriers = new Map<string, Carrier>()
  for (const [namespace, networks] of clouds) {
    for (const [name, { attachment, announcedOn }] of networks) {
      const on = attachment?.master ?? announcedOn
      if (on !== undefined && name !== 'datacentre')
        carriers.set(`${namespace}/${name}`, resolveCarrier(on, interfaces))
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
  /** Node addresses that belong to an earlier cloud: `worker-0 192.168.122.10`. */
  readonly claimed: Set<string>
  readonly findings: Finding[]
}

function cloudOf(
  namespace: string,
  networks: ReadonlyMap<string, ObservedNetwork>,
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
    pinned[name] = buildNetwork(facts, { cloud: namespace, where, findings })
    if (!hasAddresses(facts) && !Object.hasOwn(networkTemplates, name)) pinned[name] = { ...pinned[name], roles: [] }
    else pinned[name] = withoutSegment(facts, pinned[name], { cloud: namespace, where, findings })
  }
  const inNamespace = (kind: string): readonly KubeObject[] =>
    index.all(kind).filter(({ metadata }) => metadata.namespace === namespace)
  const services = inNamespace('Service')
  const networkOf = (text: string): string | undefined =>
    [...networks].find(([, { vips }]) => vips.some((range) => holds(range, text)))?.[0]
  const imported = importServices(services, findings, networkOf)
  if (index.unread('Service') !== undefined) findings.push(finding(vipsUnpinned, { cloud: namespace }))
  const cloud = { name: namespace, namespace, ...findKept(namespace, index, findings), networks: pinned, ...imported }
  const nodeSets = nodeSetSources(
    inNamespace('dataplane.openstack.org/OpenStackDataPlaneNodeSet'),
    inNamespace('dataplane.openstack.org/OpenStackDataPlaneService'),
  )
  const ipSets = new Map(inNamespace('network.openstack.org/IPSet').map((ipSet) => [ipSet.metadata.name, ipSet]))
  const addresses = (host: string) => reservedAddresses(ipSets.get(host))
  const complete = addNodeSets(cloud, nodeSets, { networks: [...networks.keys()], addresses, findings })
  findings.push(...reportIpSets([...ipSets.values()], complete))
  return complete
}

/** IPSets of hosts that the file does not have. */
function reportIpSets(ipSets: readonly KubeObject[], { hosts = [] }: SiteFileCloud): readonly Finding[] {
  const known = new Set(hosts.flatMap(({ name, overrides }) => [name, asString(asRecord(overrides)['hostName'])]))
  return ipSets
    .filter(({ metadata }) => !known.has(metadata.name))
    .map((ipSet) => {
      const { apiVersion, kind, metadata } = ipSet
      const { namespace = '', name } = metadata
      const fixed = asList(asRecord(ipSet['spec'])['networks']).map((entry) => asString(asRecord(entry)['fixedIP']))
      const addresses = [...new Set([...Object.values(reservedAddresses(ipSet)).flat(), ...fixed])]
      const facts = { ipSet: `${namespace}/${name}`, addresses: addresses.filter((address) => address !== undefined) }
      return finding(ipSetWithoutHost, facts, { where: { apiVersion, kind, namespace, name } })
    })
}

/** The addresses that the host of an IPSet has, by network. */
function reservedAddresses(ipSet: KubeObject | undefined): Readonly<Record<string, readonly string[]>> {
  const byNetwork: Record<string, string[]> = {}
  for (const reservation of asList(asRecord(ipSet?.['status'])['reservations']).map(asRecord)) {
    const [network, address] = [asString(reservation['network'])?.toLowerCase(), asString(reservation['address'])]
    if (network !== undefined && address !== undefined) byNetwork[network] = [...(byNetwork[network] ?? []), address]
  }
  return byNetwork
}

function holds(range: string, text: string): boolean {
  const parsed = parseRange(range)
  const address = parseAddress(text)
  return parsed !== undefined && address !== undefined && rangeContains(parsed, address)
}

function factsOf(namespace: string, name: string, seen: ObservedNetwork, context: CloudContext): NetworkFacts {
  const { interfaces, carriers, nics, leftover, findings } = context
  const { attachment, subnets, vips, mtu, dnsDomain } = seen
  const carrier = carriers.get(`${namespace}/${name}`)
  const top = carrier && addressedInterface(carrier)
  const role = carrier && nics.get(carrier.nic)
  const rides = name === 'datacentre'
  const declared = top === undefined ? undefined : interfaces.get(top)?.mtu
  if (declared !== undefined && mtu !== undefined && declared !== mtu) {
    const what = `the MTU ${declared} of ${top} on the nodes, for ${namespace}/${name}`
    findings.push(finding(valueLeftOut, { what, why: `NetConfig has ${mtu}, and a network has one MTU` }))
  }
  return {
    name,
    vlan: carrier?.vlan ?? (rides ? undefined : seen.vlan),
    nic: role === 'main' ? undefined : role,
    interface: carrier?.interface,
    bridge: carrier?.bridge,
    attachment: attachment && withLeftover(attachment, leftover),
    mtu: mtu ?? declared,
    dnsDomain,
    subnets,
    vips,
    nodes: nodeAddresses(carrier, seen, context),
  }
}

/** A pod may still have an address from before the range was changed; it stays reserved. */
function withLeftover(attachment: Attachment, leftover: CloudContext['leftover']): Attachment {
  const pods = attachment.pods.map((pod) => {
    const held = leftover.find(({ cidr }) => cidr === pod.cidr)?.addresses
    return { ...pod, reserved: [...pod.reserved, ...outside(pod.span, held)] }
  })
  return { ...attachment, pods }
}

/** The interface that has the addresses: the bridge, or the VLAN's, or the NIC itself. */
function addressedInterface({ nic, vlan, bridge, interface: vlanInterface }: Carrier): string {
  return bridge ?? vlanInterface ?? (vlan === 'untagged' ? nic : `${nic}.${vlan}`)
}

/**
 * A shared interface carries the addresses of several clouds: only those in the subnets of this network belong to it.
 * Where two clouds are in one subnet, the nodes have one address for both, and it is pinned for the first cloud.
 * Below a bridge the NIC itself may have the address: it is kept, and the plan puts it on the bridge.
 */
function nodeAddresses(
  carrier: Carrier | undefined,
  { subnets, attachment }: ObservedNetwork,
  { interfaces, claimed, findings }: CloudContext,
): NetworkFacts['nodes'] {
  const cidrs = [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)]
  const ranges = cidrs.flatMap((cidr) => parseRange(cidr) ?? [])
  const found = new Map<string, readonly string[]>()
  const top = carrier && addressedInterface(carrier)
  const below = carrier && addressedInterface({ ...carrier, bridge: undefined })
  for (const name of new Set([top, below].filter((each) => each !== undefined))) {
    for (const [node, addresses] of interfaces.get(name)?.addresses ?? []) {
      const here = addresses.filter((text) => {
        const address = parseAddress(text)
        return address && ranges.some((range) => rangeContains(range, address)) && !claimed.has(`${node} ${text}`)
      })
      for (const text of here) claimed.add(`${node} ${text}`)
      if (here.length === 0) continue
      found.set(node, [...(found.get(node) ?? []), ...here])
      if (name !== top) {
        const facts = { node, addresses: here, interface: name, bridge: top ?? '' }
        findings.push(finding(addressBelowBridge, facts))
      }
    }
  }
  return found
}

/** Addresses that policies give to the nodes and that are in no network of a cloud. */
function reportUnclaimed({ interfaces, claimed }: CloudContext): readonly Finding[] {
  return [...interfaces.values()].flatMap(({ name, addresses }) => {
    const left = [...addresses].flatMap(([node, texts]) =>
      texts.filter((text) => !claimed.has(`${node} ${text}`)).map((text) => `${text} (${node})`),
    )
    if (left.length === 0) return []
    const facts = { what: `${left.join(', ')} on ${name}`, why: 'it is in no subnet of a network on this interface' }
    return [finding(valueLeftOut, facts)]
  })
}

/** The kinds of which every field is imported or reported. */
const TRACKED = new Set(['NodeNetworkConfigurationPolicy', 'NetConfig', 'IPAddressPool', 'L2Advertisement', 'BGPPeer'])

/** Fields that follow from others, or that are the same in every rendered object. */
const IMPLIED =
  /^(?:type|state|description|enabled|dhcp|autoconf|prefix-length|reorder-headers|protocol|autoAssign|maxUnavailable|options)$/

interface TrackedObjects {
  readonly objects: readonly KubeObject[]
  readonly reportUnread: () => readonly Finding[]
}

function trackObjects(objects: readonly KubeObject[]): TrackedObjects {
  const tracked = objects.map((object) => {
    const spec = TRACKED.has(object.kind) ? trackReads(object['spec']) : undefined
    return { object: spec ? { ...object, spec: spec.value } : object, unread: spec?.unread ?? (() => []) }
  })
  return {
    objects: tracked.map(({ object }) => object),
    reportUnread: () => tracked.flatMap(({ object, unread }) => reportUnreadFields(object, unread())),
  }
}

function reportUnreadFields(
  { apiVersion, kind, metadata }: KubeObject,
  unread: readonly UnreadValues[],
): readonly Finding[] {
  const { name, namespace } = metadata
  return unread.flatMap((values) => {
    const names = values.names.filter((field) => !IMPLIED.test(field))
    if (names.length === 0) return []
    const parents = values.parents.map((path) => ['spec', ...path])
    const what = `${kind} ${name}: ${formatUnread({ parents, names })}`
    const where = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
    return [finding(valueLeftOut, { what, why: 'the site file has no field for it' }, { where })]
  })
}

/** Addresses that whereabouts has given to pods, by prefix. */
function podsInUse(index: SnapshotIndex): CloudContext['leftover'] {
  return index.all('whereabouts.cni.cncf.io/IPPool').flatMap((pool) => {
    const { range, allocations } = asRecord(pool['spec'])
    const network = typeof range === 'string' ? parseCidr(range) : undefined
    if (!network || typeof range !== 'string') return []
    const offsets = Object.keys(asRecord(allocations)).filter((key) => /^\d{1,12}$/.test(key))
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
    const address = parseAddress(text)
    return range && address && !rangeContains(range, address)
  })
}

/** The workers; every node where no node has the role. */
function workersOf(index: SnapshotIndex): readonly KubeObject[] {
  const nodes = index.all('Node')
  const workers = nodes.filter(({ metadata }) => metadata.labels?.['node-role.kubernetes.io/worker'] !== undefined)
  return workers.length > 0 ? workers : nodes
}

/** NICs have the MTU that their policy says, unless a network on them is larger. */
function clusterNodes(
  nodes: readonly KubeObject[],
  clouds: readonly SiteFileCloud[],
  { nics, interfaces, findings }: CloudContext,
): FileNode[] {
  const names = nodes.length > 0 ? nodes.map(({ metadata }) => metadata.name) : configuredNodes(interfaces)
  const main = mainNic(nics)
  if (main === undefined) findings.push(finding(nicUnknown, { node: names[0] ?? '', nic: DEFAULT_NIC, withMtu }))
  const built = withMtu(
    names.map((name) => buildNode(name, nics)),
    clouds,
  )
  const declared = main === undefined ? undefined : interfaces.get(main)?.mtu
  const largest = Math.max(1500, ...built.map(({ mtu = 0 }) => mtu))
  if (declared === undefined || declared === largest) return built
  if (declared > largest) return built.map((node) => ({ ...node, mtu: declared }))
  const why = `a network of the clouds has ${largest}, and its NIC must carry it`
  findings.push(finding(valueLeftOut, { what: `the MTU ${declared} of ${main}`, why }))
  return built
}

/** A dump without Nodes still has their policies. */
function configuredNodes(interfaces: NodeInterfaces): readonly string[] {
  const names = new Set([...interfaces.values()].flatMap(({ addresses }) => [...addresses.keys()]))
  return names.size > 0 ? [...names].sort() : ['worker-0']
}

function platformFindings(nodes: readonly KubeObject[]): readonly Finding[] {
  if (platformOf(nodes) === 'openshift') return []
  const why = nodes.length === 0 ? 'no Nodes were read' : "no Node has OpenShift's labels"
  return [finding(platformGuessed, { why })]
}

function platformOf(nodes: readonly KubeObject[]): 'openshift' | 'kubernetes' {
  const labels = nodes.flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}))
  return labels.some((label) => label.includes('openshift.io')) ? 'openshift' : 'kubernetes'
}
