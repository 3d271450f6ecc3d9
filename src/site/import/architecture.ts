/**
 * Imports `network-values` files of the architecture repository, one cloud each, as one site file, with the values of
 * node sets that follow them.
 *
 * Pure. Such a file holds all four allocators of each network: nodes (`node_0.internalapi_ip`), pods
 * (`net-attach-def`), vips (`lb_addresses`) and hosts (`subnets[].allocationRanges`).
 */
import { asInteger, asList, asRecord, asString, asStrings, isRecord, type JsonRecord } from '../../api/json.ts'
import { findPlaceholders, isPlaceholder } from '../../api/placeholders.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding, hasErrors, type Where } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { readYamlStream, type YamlReading } from '../../yaml/read.ts'
import { networkTemplates } from '../network-templates.ts'
import type { Path } from '../site.ts'
import { isNodeSetValues, orderByCloud, separateNodeSets } from './architecture-node-sets.ts'
import { type Attachment, importAttachment, parseJson } from './attachment.ts'
import {
  badAttachment,
  filesLeftOut,
  nicUnknown,
  notNetworkValues,
  placeholdersLeft,
  valueLeftOut,
} from './findings/existing.ts'
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
  withoutSegment,
} from './network-facts.ts'
import { addNodeSets } from './node-sets.ts'
import { formatUnread, type TrackedInput, trackReads } from './read-tracker.ts'
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
  /** What no importer read. */
  readonly unread: TrackedInput['unread']
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
  const dns = dnsOf(first)
  const clouds = files.map((file) => {
    const cloud = cloudOf(file, nics, dns, findings)
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
        ...(dns.length > 0 && { dns: [...dns] }),
        ...storageClassOf(first.data),
        metallb: metallbOf(files),
        ...operatorsOf(first.data),
      },
      addressing: { isolation: detectIsolation(clouds), families: detectFamilies(clouds) },
      clouds,
    },
  }
  findings.push(...files.flatMap(reportUnread))
  const head = `Imported from ${files.map(({ file }) => file).join(', ')} (network-values).\nEvery value is a pin: what stands here does not move.`
  const comments = files.map(({ file }, index) => ({ path: ['spec', 'clouds', index], text: `from ${file}` }))
  return { text: formatSite(site, head, comments), findings }
}

function isNetworkValues(value: unknown): boolean {
  return isRecord(value) && asRecord(value['metadata'])['name'] === 'network-values'
}

/** The values files of a folder, by path; a folder of the architecture repository has many others. */
export function selectValuesFiles(folder: string, files: readonly ImportSource[]): SelectedFiles {
  const hasValues = ({ file, text }: ImportSource): boolean =>
    text.includes('network-values') &&
    readYamlStream(text, file).some(({ value }) => isNetworkValues(value) && asRecord(value)['kind'] === 'ConfigMap')
  const hasNodeSet = ({ file, text }: ImportSource): boolean =>
    text.includes('nodeset') && readYamlStream(text, file).some(isNodeSetValues)
  const networkValues = files.filter(hasValues)
  const sources = orderByCloud(
    networkValues,
    files.filter((source) => !hasValues(source) && hasNodeSet(source)),
  )
  const where = { file: folder, line: 1, column: 1 }
  if (networkValues.length === 0)
    return { sources, findings: [finding(notNetworkValues, { reason: 'no file in this folder is one' }, { where })] }
  const others = files.filter((file) => !sources.includes(file)).map(({ file }) => file)
  return { sources, findings: others.length > 0 ? [finding(filesLeftOut, { folder, files: others }, { where })] : [] }
}

export interface SelectedFiles {
  readonly sources: readonly ImportSource[]
  readonly findings: readonly Finding[]
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
  const reading = readings.find(({ value }) => isNetworkValues(value))
  const written = asRecord(reading?.value)['data']
  if (!reading || !isRecord(written)) {
    const reason = reading ? 'its data is no mapping' : 'there is no ConfigMap network-values in it'
    findings.push(finding(notNetworkValues, { reason }, { where: { file, line: 1, column: 1 } }))
    return undefined
  }
  const placeholders: Path[] = []
  const { value, unread } = trackReads(removePlaceholders(written, ['data'], placeholders))
  if (placeholders.length > 0) {
    const paths = placeholders.map((path) => path.join('.'))
    findings.push(finding(placeholdersLeft, { paths }, { where: reading.locate(placeholders[0] ?? []) }))
  }
  const data = asRecord(value)
  const nodes = Object.keys(data).flatMap((key) => {
    if (!/^node_\w+$/.test(key) || !isRecord(data[key])) return []
    return [{ name: nodeName(key, data[key]), data: data[key] }]
  })
  return { cloud, data, reading, nodes, file, unread }
}

/** A template has words where values belong: they are left to the planner, and reported once. */
function removePlaceholders(value: unknown, path: Path, found: Path[]): unknown {
  if (typeof value === 'string') {
    const parsed = value.trimStart().startsWith('{') ? parseJson(value) : undefined
    if (isRecord(parsed) && findPlaceholders(parsed).length > 0) return removePlaceholders(parsed, path, found)
    if (!isPlaceholder(value) && !value.includes('CHANGEME')) return value
    found.push(path)
    return null
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => removePlaceholders(item, [...path, index], found))
    return items.filter((item) => item !== null)
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, removePlaceholders(item, [...path, key], found)]),
  )
}

/** `node_name` is the name in the cluster; `name` then only names the policy of upstream. */
function nodeName(key: string, { name, node_name: inCluster }: JsonRecord): string {
  return asString(inCluster) ?? asString(name) ?? key.replace('_', '-')
}

/** Everything in the file that no part of the import reads, with its path. */
function reportUnread({ reading, unread }: ValuesFile): readonly Finding[] {
  return unread().map((values) => {
    const parent = ['data', ...(values.parents[0] ?? [])]
    const parents = values.parents.map((path) => ['data', ...path])
    const where = reading.locate([...parent, values.names[0] ?? ''])
    return finding(valueLeftOut, { what: formatUnread({ ...values, parents }), why: NO_FIELD }, { where })
  })
}

const NO_FIELD = 'the site file has no field for it'

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
  return Object.keys(data)
    .filter((key) => isRecord(data[key]) && !SETTINGS.has(key) && !key.startsWith('node_'))
    .filter((key) => parts.some((part) => part in asRecord(data[key])))
}

function cloudOf(file: ValuesFile, nics: NicRoles, siteDns: readonly string[], findings: Finding[]): SiteFileCloud {
  const networks: Record<string, SiteFileNetwork | false> = {}
  const keys = networkKeys(file.data)
  for (const name of Object.keys(networkTemplates)) {
    if (networkTemplates[name]?.everywhere && !keys.includes(name)) networks[name] = false
  }
  for (const name of keys) {
    const where = file.reading.locate(['data', name])
    const facts = factsOf(file, name, nics, findings)
    const network = buildNetwork(facts, { cloud: file.cloud.name, where, findings })
    if (!hasAddresses(facts) && !Object.hasOwn(networkTemplates, name)) networks[name] = { ...network, roles: [] }
    else networks[name] = withoutSegment(facts, network, { cloud: file.cloud.name, where, findings })
  }
  const { vips, others } = pinnedVips(annotatedVips(file.data))
  for (const key of others) {
    const facts = { what: `the VIP of ${key}`, why: 'no slot of the control plane is known for it' }
    findings.push(finding(valueLeftOut, facts, { where: file.reading.locate(['data', key]) }))
  }
  findings.push(...checkImplied(file))
  return {
    ...file.cloud,
    ...storageClassOf(file.data),
    networks: inOrder(networks),
    ...cloudDns(file, siteDns),
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
  // A base interface without a VLAN is a port of the network's bridge.
  const vlan = tagged ? (written ?? (base === undefined ? undefined : 'untagged')) : 'untagged'
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
    interface: vlanInterface(file, name, bridge, findings),
    bridge,
    attachment,
    mtu: asInteger(network['mtu']),
    dnsDomain: asString(network['dnsDomain']),
    subnets: subnetsOf(file, name, typeof vlan === 'number' ? vlan : undefined, findings),
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
  const { read, unread } = importAttachment(config)
  if (unread.length > 0) {
    const what = `data.${name}.net-attach-def: ${unread.join(', ')}`
    const position = file.reading.locate(['data', name, 'net-attach-def'])
    findings.push(finding(valueLeftOut, { what, why: NO_FIELD }, { where: position }))
  }
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

/** A VLAN's interface on the nodes. The bridge on it may have the name of the network, and then the VLAN cannot. */
function vlanInterface(
  { data, reading }: ValuesFile,
  name: string,
  bridge: string | undefined,
  findings: Finding[],
): string | undefined {
  const network = asRecord(data[name])
  const iface = asString(network['iface'])
  if (asString(network['base_iface']) === undefined || iface === undefined || iface === bridge) return undefined
  if (iface.length <= MAX_INTERFACE_NAME) return iface
  const facts = { what: `the interface ${iface} of ${name}`, why: 'its name is longer than 15 characters' }
  findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data', name, 'iface']) }))
  return undefined
}

const MAX_INTERFACE_NAME = 15

/** The gateway and the prefix length of the network belong to one of its subnets. */
function subnetsOf(
  { data, reading }: ValuesFile,
  name: string,
  vlan: number | undefined,
  findings: Finding[],
): readonly SubnetFacts[] {
  const network = asRecord(data[name])
  const subnets = asList(network['subnets']).flatMap((subnet) => readNetConfigSubnet(subnet, vlan) ?? [])
  const leaveOut = (key: string, why: string): void => {
    const where = reading.locate(['data', name, key])
    findings.push(finding(valueLeftOut, { what: `data.${name}.${key}`, why }, { where }))
  }
  const prefix = asInteger(network['prefix-length'])
  const prefixes = subnets.flatMap(({ cidr }) => parseCidr(cidr)?.prefix ?? [])
  if (prefix !== undefined && prefixes.length > 0 && !prefixes.includes(prefix))
    leaveOut('prefix-length', `its subnets have /${prefixes.join(', /')}`)
  const cidr = asString(network['cidr'])
  if (cidr !== undefined && !subnets.some((subnet) => subnet.cidr === cidr))
    leaveOut('cidr', 'it is not in its subnets')
  const gateway = asString(network['gateway'])
  if (gateway === undefined || subnets.some((subnet) => subnet.gateway === gateway)) return subnets
  const address = parseAddress(gateway)
  const home = subnets.find((subnet) => {
    const parsed = parseCidr(subnet.cidr)
    return subnet.gateway === undefined && address && parsed && cidrContains(parsed, address)
  })
  if (!home) leaveOut('gateway', 'no subnet of the network without a gateway has this address')
  return subnets.map((subnet) => (subnet === home ? { ...subnet, gateway } : subnet))
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
  for (const key of Object.keys(data)) {
    const annotations = asRecord(asRecord(data[key])['endpoint_annotations'])
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

function dnsOf({ data }: ValuesFile): readonly string[] {
  return asStrings(asRecord(asRecord(data['dns-resolver'])['config'])['server'])
}

/** The servers of a cloud where they differ from those of the site, and options that say more than the servers. */
function cloudDns(file: ValuesFile, siteDns: readonly string[]): Pick<SiteFileCloud, 'dns'> {
  const servers = dnsOf(file)
  const options = asList(asRecord(file.data['dns-resolver'])['options'])
    .map(asRecord)
    .map(({ key, values }) => ({ key, values: [...asStrings(values)] }))
    .filter(({ key, values }) => key !== 'server' || values.some((server) => !servers.includes(server)))
  const differs = servers.length > 0 && servers.join() !== siteDns.join()
  if (!differs && options.length === 0) return {}
  return { dns: { ...(differs && { servers: [...servers] }), ...(options.length > 0 && { options }) } }
}

/** Names that are always ours, and a type that is always this one: reported where the file has something else. */
function checkImplied({ data, reading }: ValuesFile): readonly Finding[] {
  const findings: Finding[] = []
  const serviceType = data['lbServiceType']
  if (serviceType !== undefined && serviceType !== 'LoadBalancer') {
    const facts = {
      what: `data.lbServiceType ${JSON.stringify(serviceType)}`,
      why: 'only LoadBalancer Services have VIPs',
    }
    findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data', 'lbServiceType']) }))
  }
  const keys = Object.keys(data)
  const names = keys.flatMap((key) => {
    const annotations = asRecord(asRecord(data[key])['endpoint_annotations'])
    const given = Object.keys(annotations).filter((name) => /\/(?:address-pool|allow-shared-ip)$/.test(name))
    return given.flatMap((name) => asStrings(annotations[name])).filter((name) => !keys.includes(name))
  })
  if (names.length > 0) {
    const what = `data.*.endpoint_annotations: the pools and sharing keys ${[...new Set(names)].join(', ')}`
    const facts = { what, why: 'they are named after the namespace and the network' }
    findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data']) }))
  }
  return findings
}

function operatorsOf(data: JsonRecord): Pick<SiteFile['spec']['cluster'], 'operators'> {
  const image = asString(data['openstack-operator-image'])
  return image === undefined ? {} : { operators: { openstack: { image } } }
}

function storageClassOf(data: JsonRecord): { readonly storageClass?: string } {
  const storageClass = asString(data['storageClass'])
  return storageClass === undefined ? {} : { storageClass }
}

/** Files with BGP name their AS numbers once and the peers of each node; a node may have routers of another AS. */
function metallbOf(files: readonly ValuesFile[]): NonNullable<SiteFile['spec']['cluster']['metallb']> {
  const bgp = files
    .map(({ data }) => asRecord(data['bgp']))
    .find((candidate) => asInteger(candidate['asn']) !== undefined)
  const asn = asInteger(bgp?.['asn'])
  if (asn === undefined) return { mode: 'layer2' }
  const usualAsn = asInteger(bgp?.['peer_asn']) ?? asn
  const peers = new Map<string, { readonly address: string; readonly asn: number; readonly nodes: string[] }>()
  for (const { name, data } of files.flatMap(({ nodes }) => nodes)) {
    const peerAsn = asInteger(data['peer_asn']) ?? usualAsn
    for (const address of asStrings(data['bgp_peers'])) {
      const key = `${address} ${peerAsn}`
      const peer = peers.get(key) ?? { address, asn: peerAsn, nodes: [] }
      if (!peer.nodes.includes(name)) peer.nodes.push(name)
      peers.set(key, peer)
    }
  }
  return peers.size === 0 ? { mode: 'layer2' } : { mode: 'bgp', asn, peers: [...peers.values()] }
}
