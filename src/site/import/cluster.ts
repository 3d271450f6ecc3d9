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
import { nicUnknown, noClouds } from './findings/existing.ts'
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
import { buildNetwork, hasAddresses, type NetworkFacts } from './network-facts.ts'
import { type Carrier, type NodeInterfaces, readInterfaces, resolveCarrier } from './node-interfaces.ts'
import { addNodeSets, nodeSetSources } from './node-sets.ts'
import { collectClouds, collectPools, type ObservedClouds, type ObservedNetwork } from './observed-clouds.ts'
import { importServices } from './service-vips.ts'

/** The kinds that the snapshot needs. */
export const clusterKinds = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' },
  { apiVersion: 'network.openstack.org/v1beta1', kind: 'IPSet' },
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
  const objects = [...snapshot.objects].sort((a, b) => (objectIdentity(a) < objectIdentity(b) ? -1 : 1))
  const index = indexSnapshot({ ...snapshot, objects })
  const findings: Finding[] = []
  const clouds = collectClouds(index, options.namespaces, findings)
  if (clouds.size === 0) {
    const looked = 'no namespace has a NetConfig or a network attachment with addresses'
    return { findings: [finding(noClouds, { looked })] }
  }
  collectPools(index, clouds, findings)
  const nodes = workersOf(index)
  const interfaces = readInterfaces(index.all('nmstate.io/NodeNetworkConfigurationPolicy'), nodes)
  const carriers = carriersOf(clouds, interfaces)
  const nics = nicRoles([...carriers.values()].map(({ nic }) => nic))
  const leftover = podsInUse(index)
  const context: CloudContext = { index, interfaces, carriers, nics, leftover, claimed: new Set(), findings }
  const files = [...clouds].map(([namespace, networks]) => cloudOf(namespace, networks, context))
  const site: SiteFile = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: options.name },
    spec: {
      cluster: { platform: platformOf(nodes), nodes: withMtu(nodesOf(nodes, nics, findings), files) },
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
  }
  const inNamespace = (kind: string): readonly KubeObject[] =>
    index.all(kind).filter(({ metadata }) => metadata.namespace === namespace)
  const services = inNamespace('Service')
  const networkOf = (text: string): string | undefined =>
    [...networks].find(([, { vips }]) => vips.some((range) => holds(range, text)))?.[0]
  const cloud = { name: namespace, namespace, networks: pinned, ...importServices(services, findings, networkOf) }
  const nodeSets = nodeSetSources(
    inNamespace('dataplane.openstack.org/OpenStackDataPlaneNodeSet'),
    inNamespace('dataplane.openstack.org/OpenStackDataPlaneService'),
  )
  const ipSets = new Map(inNamespace('network.openstack.org/IPSet').map((ipSet) => [ipSet.metadata.name, ipSet]))
  const addresses = (host: string) => reservedAddresses(ipSets.get(host))
  return addNodeSets(cloud, nodeSets, { networks: [...networks.keys()], addresses, findings })
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
  const { interfaces, carriers, nics, leftover } = context
  const { attachment, subnets, vips, mtu, dnsDomain } = seen
  const carrier = carriers.get(`${namespace}/${name}`)
  const top = carrier && addressedInterface(carrier)
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
    nodes: nodeAddresses(top, seen, context),
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
 */
function nodeAddresses(
  top: string | undefined,
  { subnets, attachment }: ObservedNetwork,
  { interfaces, claimed }: CloudContext,
): NetworkFacts['nodes'] {
  const cidrs = [...subnets.map(({ cidr }) => cidr), ...(attachment?.pods ?? []).map(({ cidr }) => cidr)]
  const ranges = cidrs.flatMap((cidr) => parseRange(cidr) ?? [])
  const found = new Map<string, readonly string[]>()
  for (const [node, addresses] of (top === undefined ? undefined : interfaces.get(top)?.addresses) ?? []) {
    const here = addresses.filter((text) => {
      const address = parseAddress(text)
      return address && ranges.some((range) => rangeContains(range, address)) && !claimed.has(`${node} ${text}`)
    })
    for (const text of here) claimed.add(`${node} ${text}`)
    if (here.length > 0) found.set(node, here)
  }
  return found
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

function nodesOf(nodes: readonly KubeObject[], nics: NicRoles, findings: Finding[]): FileNode[] {
  const names = nodes.length > 0 ? nodes.map(({ metadata }) => metadata.name) : ['worker-0']
  if (mainNic(nics) === undefined)
    findings.push(finding(nicUnknown, { node: names[0] ?? '', nic: DEFAULT_NIC, withMtu }))
  return names.map((name) => buildNode(name, nics))
}

function platformOf(nodes: readonly KubeObject[]): 'openshift' | 'kubernetes' {
  const labels = nodes.flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}))
  return labels.some((label) => label.includes('openshift.io')) ? 'openshift' : 'kubernetes'
}
