/**
 * Imports `network-values` files of the architecture repository, one cloud each, as one site file, with the values of
 * node sets that follow them.
 *
 * Pure. Such a file holds all four allocators of each network: nodes (`node_0.internalapi_ip`), pods
 * (`net-attach-def`), vips (`lb_addresses`) and hosts (`subnets[].allocationRanges`).
 */
import { asInteger, asList, asRecord, asString, asStrings, type JsonRecord } from '../../api/json.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import { networkTemplates } from '../network-templates.ts'
import { networkKeys, readNetworkFacts } from './architecture-networks.ts'
import { separateNodeSets } from './architecture-node-sets.ts'
import { readValues, reportUnread, type ValuesFile } from './architecture-values.ts'
import { nicUnknown, valueLeftOut } from './findings/existing.ts'
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
import { buildNetwork, hasAddresses, withoutSegment } from './network-facts.ts'
import { addNodeSets } from './node-sets.ts'
import { pinnedVips, withCells } from './service-vips.ts'

export interface ArchitectureOptions {
  readonly name: string
  /** Name and namespace of the cloud of each file; the files have neither. */
  readonly clouds?: readonly { readonly name: string; readonly namespace: string }[]
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
  const nics = readNics(files)
  const dns = readDns(first)
  const clouds = files.map((file) => {
    const cloud = readCloud(file, nics, dns, findings)
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
        nodes: withMtu(readNodes(files, nics, findings), clouds),
        ...(dns.length > 0 && { dns: [...dns] }),
        ...readStorageClass(first.data),
        metallb: readMetallb(files),
        ...readOperators(first.data),
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

function readCloud(file: ValuesFile, nics: NicRoles, siteDns: readonly string[], findings: Finding[]): SiteFileCloud {
  const networks: Record<string, SiteFileNetwork | false> = {}
  const keys = networkKeys(file.data)
  for (const name of Object.keys(networkTemplates)) {
    if (networkTemplates[name]?.everywhere && !keys.includes(name)) networks[name] = false
  }
  for (const name of keys) {
    const where = file.reading.locate(['data', name])
    const facts = readNetworkFacts(file, name, nics, findings)
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
    ...readStorageClass(file.data),
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
function readNics(files: readonly ValuesFile[]): NicRoles {
  return nicRoles(
    files.flatMap(({ data }) =>
      networkKeys(data).flatMap((key) => {
        const { base_iface: base, iface } = asRecord(data[key])
        return asString(base) ?? asString(iface) ?? []
      }),
    ),
  )
}

function readNodes(files: readonly ValuesFile[], nics: NicRoles, findings: Finding[]): FileNode[] {
  const names = [...new Set(files.flatMap(({ nodes }) => nodes.map(({ name }) => name)))]
  if (names.length === 0) names.push('worker-0')
  if (mainNic(nics) === undefined) {
    const where = { file: files[0]?.file ?? '', line: 1, column: 1 }
    findings.push(finding(nicUnknown, { node: names[0] ?? '', nic: DEFAULT_NIC, withMtu }, { where }))
  }
  return names.map((name) => buildNode(name, nics))
}

function readDns({ data }: ValuesFile): readonly string[] {
  return asStrings(asRecord(asRecord(data['dns-resolver'])['config'])['server'])
}

/** The servers of a cloud where they differ from those of the site, and options that say more than the servers. */
function cloudDns(file: ValuesFile, siteDns: readonly string[]): Pick<SiteFileCloud, 'dns'> {
  const servers = readDns(file)
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

function readOperators(data: JsonRecord): Pick<SiteFile['spec']['cluster'], 'operators'> {
  const image = asString(data['openstack-operator-image'])
  return image === undefined ? {} : { operators: { openstack: { image } } }
}

function readStorageClass(data: JsonRecord): { readonly storageClass?: string } {
  const storageClass = asString(data['storageClass'])
  return storageClass === undefined ? {} : { storageClass }
}

/** Files with BGP name their AS numbers once and the peers of each node; a node may have routers of another AS. */
function readMetallb(files: readonly ValuesFile[]): NonNullable<SiteFile['spec']['cluster']['metallb']> {
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
