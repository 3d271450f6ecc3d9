/**
 * Imports `network-values` files of the architecture repository, one cloud each, as one site file, with the values of
 * node sets that follow them.
 *
 * Pure. Such a file holds all four allocators of each network: nodes (`node_0.internalapi_ip`), pods
 * (`net-attach-def`), vips (`lb_addresses`) and hosts (`subnets[].allocationRanges`).
 */
import { asInteger, asList, asRecord, asString, asStrings, isRecord, type JsonRecord } from '../../api/json.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding, hasErrors, type Where } from '../../errors/finding.ts'
import { readYamlStream, type YamlReading } from '../../yaml/read.ts'
import { networkTemplates } from '../network-templates.ts'
import { separateNodeSets } from './architecture-node-sets.ts'
import { type Attachment, readAttachment } from './attachment.ts'
import { badAttachment, nicUnknown, notNetworkValues, valueLeftOut } from './findings/existing.ts'
import {
  buildNode,
  DEFAULT_NIC,
  detectFamilies,
  detectIsolation,
  type FileNode,
  formatSite,
  type Imported,
  type ImportSource,
  mainNic,
  type NicRoles,
  nicRoles,
  withMtu,
} from './imported-site.ts'
import {
  buildNetwork,
  hasAddresses,
  type NetworkFacts,
  readNetConfigSubnet,
  type SubnetFacts,
} from './network-facts.ts'
import { addNodeSets } from './node-sets.ts'
import { pinnedVips, withCells } from './service-vips.ts'

export interface ArchitectureOptions {
  readonly name: string
  /** Name and namespace of the cloud of each file; the files have neither. */
  readonly clouds?: readonly { readonly name: string; readonly namespace: string }[]
}

interface ValuesFile {
  readonly cloud: { readonly name: string; readonly namespace: string }
  readonly data: JsonRecord
  readonly reading: YamlReading
  readonly nodes: readonly { readonly name: string; readonly data: JsonRecord }[]
  readonly file: string
}

export function importArchitecture(sources: readonly ImportSource[], options: ArchitectureOptions): Imported {
  const findings: Finding[] = []
  const { networkValues, nodeSetsByFile } = separateNodeSets(sources, findings)
  const files = networkValues.flatMap((source, index) => {
    const standard = index === 0 ? 'openstack' : `openstack${index + 1}`
    const cloud = options.clouds?.[index] ?? { name: standard, namespace: standard }
    return readValues(source, cloud, findings) ?? []
  })
  const [first] = files
  if (!first || hasErrors(findings)) return { findings }
  const nics = nicsOf(files)
  const clouds = files.map((file) => {
    const cloud = cloudOf(file, nics, findings)
    const networks = Object.entries(cloud.networks ?? {}).flatMap(([name, network]) => (network ? [name] : []))
    return addNodeSets(cloud, nodeSetsByFile.get(file.file) ?? [], { networks, findings })
  })
  const site: SiteFile = {
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: options.name },
    spec: {
      cluster: {
        platform: 'openshift',
        nodes: withMtu(nodesOf(files, nics, findings), clouds),
        ...dnsOf(first),
        ...storageClassOf(first.data),
        metallb: metallbOf(files),
      },
      addressing: { isolation: detectIsolation(clouds), families: detectFamilies(clouds) },
      clouds,
    },
  }
  const head = `Imported from ${files.map(({ file }) => file).join(', ')} (network-values).\nEvery value is a pin: what stands here does not move.`
  const comments = files.map(({ file }, index) => ({ path: ['spec', 'clouds', index], text: `from ${file}` }))
  return { text: formatSite(site, head, comments), findings }
}

function readValues(
  { file, text }: ImportSource,
  cloud: ValuesFile['cloud'],
  findings: Finding[],
): ValuesFile | undefined {
  const readings = readYamlStream(text, file)
  const broken = readings.flatMap((reading) => reading.findings)
  findings.push(...broken)
  if (broken.length > 0) return undefined
  const reading = readings.find(
    ({ value }) => isRecord(value) && asRecord(value['metadata'])['name'] === 'network-values',
  )
  const data = asRecord(reading?.value)['data']
  if (!reading || !isRecord(data)) {
    const reason = reading ? 'its data is no mapping' : 'there is no ConfigMap network-values in it'
    findings.push(finding(notNetworkValues, { reason }, { where: { file, line: 1, column: 1 } }))
    return undefined
  }
  const nodes = Object.entries(data).flatMap(([key, value]) => {
    if (!/^node_\w+$/.test(key) || !isRecord(value)) return []
    return [{ name: asString(value['name']) ?? asString(value['node_name']) ?? key.replace('_', '-'), data: value }]
  })
  return { cloud, data, reading, nodes, file }
}

const SETTINGS = new Set([
  'dns-resolver',
  'routes',
  'rabbitmq',
  'bgp',
  'loopback',
  'servers',
  'openstack-operator-image',
])

/** The keys of networks: values with subnets, an attachment, a pool or an interface. */
function networkKeys(data: JsonRecord): readonly string[] {
  const parts = ['subnets', 'net-attach-def', 'lb_addresses', 'iface', 'base_iface']
  return Object.entries(data)
    .filter(([key, value]) => isRecord(value) && !SETTINGS.has(key) && !key.startsWith('node_'))
    .filter(([, value]) => parts.some((part) => part in (value as JsonRecord)))
    .map(([key]) => key)
}

function cloudOf(file: ValuesFile, nics: NicRoles, findings: Finding[]): SiteFileCloud {
  const networks: Record<string, SiteFileNetwork | false> = {}
  const keys = networkKeys(file.data)
  for (const name of Object.keys(networkTemplates)) {
    if (networkTemplates[name]?.everywhere && !keys.includes(name)) networks[name] = false
  }
  for (const name of keys) {
    const where = file.reading.locate(['data', name])
    const facts = factsOf(file, name, nics, findings)
    networks[name] = buildNetwork(facts, { cloud: file.cloud.name, where, findings })
    if (!hasAddresses(facts) && !Object.hasOwn(networkTemplates, name))
      networks[name] = { ...networks[name], roles: [] }
  }
  const { vips, others } = pinnedVips(annotatedVips(file.data))
  for (const key of others) {
    const facts = { what: `the VIP of ${key}`, why: 'no slot of the control plane is known for it' }
    findings.push(finding(valueLeftOut, facts, { where: file.reading.locate(['data', key]) }))
  }
  return {
    ...file.cloud,
    ...storageClassOf(file.data),
    networks: inOrder(networks),
    ...withCells(vips),
    ...(Object.keys(vips).length > 0 && { vips }),
  }
}

/** Built-in networks in their usual order, then the others. */
function inOrder(networks: Record<string, SiteFileNetwork | false>): Record<string, SiteFileNetwork | false> {
  const known = Object.keys(networkTemplates)
  const rank = (name: string): number => (known.includes(name) ? known.indexOf(name) : known.length)
  return Object.fromEntries(Object.entries(networks).sort(([a], [b]) => rank(a) - rank(b)))
}

function factsOf(file: ValuesFile, name: string, nics: NicRoles, findings: Finding[]): NetworkFacts {
  const network = asRecord(file.data[name])
  const where = file.reading.locate(['data', name])
  const attachment = attachmentOf(file, name, network, where, findings)
  const base = asString(network['base_iface'])
  const iface = asString(network['iface'])
  const written = asInteger(network['vlan'])
  const tagged = base !== undefined || iface === undefined
  const vlan = tagged ? written : 'untagged'
  if (!tagged && written !== undefined) {
    const facts = {
      what: `the VLAN ${written} of ${name}`,
      why: `its interface is ${iface} itself, not a VLAN on it`,
    }
    findings.push(finding(valueLeftOut, facts, { where: file.reading.locate(['data', name, 'vlan']) }))
  }
  const nic = nics.get(base ?? iface ?? '')
  const bridge = bridgeOf(file.data, name, attachment)
  return {
    name,
    vlan,
    nic: nic === 'main' ? undefined : nic,
    interface: base !== undefined && iface !== undefined && iface.length <= 15 ? iface : undefined,
    bridge,
    attachment,
    mtu: asInteger(network['mtu']),
    dnsDomain: asString(network['dnsDomain']),
    subnets: subnetsOf(network, typeof vlan === 'number' ? vlan : undefined),
    vips: asStrings(network['lb_addresses']),
    nodes: nodeAddresses(file, name),
  }
}

function attachmentOf(
  file: ValuesFile,
  name: string,
  network: JsonRecord,
  where: Where,
  findings: Finding[],
): Attachment | undefined {
  const config = network['net-attach-def']
  if (config === undefined || config === null) return undefined
  const read = readAttachment(config)
  const reason = typeof read === 'string' ? read : read.problem
  if (reason) findings.push(finding(badAttachment, { cloud: file.cloud.name, network: name, reason }, { where }))
  return typeof read === 'string' ? undefined : read
}

/** The attachment that uses a bridge names it; the bridge of ctlplane may also be named for the whole file. */
function bridgeOf(data: JsonRecord, name: string, attachment: Attachment | undefined): string | undefined {
  const networkBridge = asString(asRecord(data[name])['bridgeName'])
  if (networkBridge) return networkBridge
  const siteBridge = asString(data['bridgeName'])
  if (name === 'ctlplane') {
    const master = attachment?.master
    return attachment?.attach === 'bridge' || (siteBridge && master === siteBridge) ? master : siteBridge
  }
  if (name === 'datacentre') return undefined
  return attachment?.attach === 'bridge' ? attachment.master : undefined
}

function subnetsOf(network: JsonRecord, vlan: number | undefined): readonly SubnetFacts[] {
  return asList(network['subnets']).flatMap((subnet) => readNetConfigSubnet(subnet, vlan) ?? [])
}

function nodeAddresses({ nodes }: ValuesFile, network: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    nodes.flatMap(({ name, data }) => {
      const addresses = asStrings(data[`${network}_ip`])
      return addresses.length > 0 ? [[name, addresses] as const] : []
    }),
  )
}

/** The VIPs that annotations request: of APIs by network, of each RabbitMQ by its name. */
function annotatedVips(data: JsonRecord): ReadonlyMap<string, readonly string[]> {
  const vips = new Map<string, readonly string[]>()
  for (const [key, value] of Object.entries(data)) {
    const annotations = asRecord(asRecord(value)['endpoint_annotations'])
    const requested = asString(
      annotations['metallb.io/loadBalancerIPs'] ?? annotations['metallb.universe.tf/loadBalancerIPs'],
    )
    if (requested)
      vips.set(
        key,
        requested.split(',').map((address) => address.trim()),
      )
  }
  return vips
}

/** The NIC of the first network of the first file is the main one. */
function nicsOf(files: readonly ValuesFile[]): NicRoles {
  return nicRoles(
    files.flatMap(({ data }) =>
      networkKeys(data).flatMap((key) => {
        const { base_iface: base, iface } = asRecord(data[key])
        return asString(base) ?? asString(iface) ?? []
      }),
    ),
  )
}

function nodesOf(files: readonly ValuesFile[], nics: NicRoles, findings: Finding[]): FileNode[] {
  const names = [...new Set(files.flatMap(({ nodes }) => nodes.map(({ name }) => name)))]
  if (names.length === 0) names.push('worker-0')
  if (mainNic(nics) === undefined) {
    const where = { file: files[0]?.file ?? '', line: 1, column: 1 }
    findings.push(finding(nicUnknown, { node: names[0] ?? '', nic: DEFAULT_NIC, withMtu }, { where }))
  }
  return names.map((name) => buildNode(name, nics))
}

function dnsOf({ data }: ValuesFile): { readonly dns?: string[] } {
  const servers = asStrings(asRecord(asRecord(data['dns-resolver'])['config'])['server'])
  return servers.length > 0 ? { dns: [...servers] } : {}
}

function storageClassOf(data: JsonRecord): { readonly storageClass?: string } {
  const storageClass = asString(data['storageClass'])
  return storageClass === undefined ? {} : { storageClass }
}

/** Files with BGP name their AS numbers once and the peers of each node. */
function metallbOf(files: readonly ValuesFile[]): NonNullable<SiteFile['spec']['cluster']['metallb']> {
  const bgp = files
    .map(({ data }) => asRecord(data['bgp']))
    .find((candidate) => asInteger(candidate['asn']) !== undefined)
  const nodesOfPeer = new Map<string, string[]>()
  for (const { name, data } of files.flatMap(({ nodes }) => nodes)) {
    for (const peer of asStrings(data['bgp_peers'])) nodesOfPeer.set(peer, [...(nodesOfPeer.get(peer) ?? []), name])
  }
  const asn = asInteger(bgp?.['asn'])
  if (asn === undefined || nodesOfPeer.size === 0) return { mode: 'layer2' }
  const peerAsn = asInteger(bgp?.['peer_asn']) ?? asn
  const peers = [...nodesOfPeer].map(([address, nodes]) => ({ address, asn: peerAsn, nodes }))
  return { mode: 'bgp', asn, peers }
}
