/**
 * What all importers share: building a site file, commenting it, and adding clouds to one that exists.
 *
 * Pure. Knows no source format.
 */
import { isCollection, isMap, isNode, isPair, parseDocument } from 'yaml'
import { asList, asRecord, type JsonRecord } from '../../api/json.ts'
import { sameJson } from '../../api/same-json.ts'
import type { SiteFile, SiteFileCloud, SiteFileNetwork } from '../../api/site.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import { cloudExists } from '../../errors/new-file.ts'
import { editYaml } from '../../yaml/edit.ts'
import { readYaml } from '../../yaml/read.ts'
import { writeYaml } from '../../yaml/write.ts'
import { readSite } from '../read.ts'
import type { Path, Site } from '../site.ts'
import { nicNotInSite, valueLeftOut } from './findings/existing.ts'

export interface Imported {
  /** Absent when nothing could be read. */
  readonly text?: string
  readonly findings: readonly Finding[]
}

/** One text to import, with the name of its file. */
export interface ImportSource {
  readonly file: string
  readonly text: string
}

export interface Comment {
  readonly path: Path
  readonly text: string
}

/** A site file with a comment above each of the given fields. Comments for fields that are not there are left out. */
export function formatSite(site: SiteFile, head: string, comments: readonly Comment[]): string {
  const document = parseDocument(writeYaml(site))
  document.commentBefore = lines(head)
  for (const { path, text } of comments) {
    const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
    if (!isCollection(parent)) continue
    const step = path.at(-1)
    const target = isMap(parent)
      ? parent.items.find((pair) => isPair(pair) && String(pair.key) === step)?.key
      : parent.items[Number(step)]
    if (isNode(target)) target.commentBefore = lines(text)
  }
  return document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: false })
}

function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n')
}

export type FileNode = SiteFile['spec']['cluster']['nodes'][number]

/** The NIC that is written when the source names none. */
export const DEFAULT_NIC = 'enp6s0'

/** NICs by name with their roles: the first is the main one, others are known by their own names. */
export type NicRoles = ReadonlyMap<string, string>

export function nicRoles(names: Iterable<string>): NicRoles {
  return new Map([...new Set(names)].map((nic, index) => [nic, index === 0 ? 'main' : nic]))
}

export function mainNic(nics: NicRoles): string | undefined {
  return [...nics].find(([, role]) => role === 'main')?.[0]
}

/** The short form where there is one NIC only. */
export function buildNode(name: string, nics: NicRoles, main = mainNic(nics) ?? DEFAULT_NIC): FileNode {
  const others = [...nics].filter(([, role]) => role !== 'main').map(([nic, role]) => [role, nic])
  return others.length === 0 ? { name, nic: main } : { name, nics: { main, ...Object.fromEntries(others) } }
}

/** NICs get the largest mtu of the networks on them. */
export function withMtu(nodes: readonly FileNode[], clouds: readonly SiteFileCloud[]): FileNode[] {
  const networks = clouds.flatMap((cloud) => Object.values(cloud.networks ?? {}))
  const mtu = Math.max(0, ...networks.map((network) => (network === false ? 0 : (network.mtu ?? 0))))
  return nodes.map((node) => (mtu > 1500 ? { ...node, mtu } : node))
}

export function detectFamilies(clouds: readonly SiteFileCloud[]): (4 | 6)[] {
  const cidrs = clouds.flatMap(({ networks }) =>
    Object.values(networks ?? {}).flatMap((network) =>
      network === false ? [] : (network.subnets ?? []).map(({ cidr }) => cidr),
    ),
  )
  const found = ([4, 6] as const).filter((family) => cidrs.some((cidr) => cidr.includes(':') === (family === 6)))
  return found.length > 0 ? [...found] : [4]
}

/** `shared-vlan` where two clouds are on one segment, so that the file does not contradict its own pins. */
export function detectIsolation(clouds: readonly SiteFileCloud[]): 'shared-vlan' | 'vlan-per-cloud' {
  const segments = clouds.flatMap(({ networks }) => {
    const segmentIds = Object.values(networks ?? {}).flatMap((network) =>
      network === false || network.vlan === undefined ? [] : [`${network.nic ?? 'main'}/${network.vlan}`],
    )
    return [...new Set(segmentIds)]
  })
  return new Set(segments).size < segments.length ? 'shared-vlan' : 'vlan-per-cloud'
}

/** The clouds of a site file as written; none if it cannot be read, which `addClouds` reports. */
export function listClouds({ file, text }: ImportSource): readonly SiteFileCloud[] {
  return readSite(text, file).site?.clouds.map((cloud) => cloud.file) ?? []
}

/** Adds imported clouds to a site file; everything else in it stays. A cloud that it has already is never changed. */
export function addClouds({ file, text }: ImportSource, imported: Imported): Imported {
  const { site, findings, locate } = readSite(text, file)
  if (!site) return { findings: [...imported.findings, ...findings] }
  const found = asRecord(asRecord(readYaml(imported.text ?? '', file).value)['spec'])['clouds']
  const importedCluster = asRecord(asRecord(readYaml(imported.text ?? '', file).value)['spec'])['cluster']
  const { clouds, unmatched } = matchNics(asList(found) as readonly SiteFileCloud[], asRecord(importedCluster), site)
  const other = reportOtherCluster(asRecord(importedCluster), asRecord(readYaml(text, file).value), file)
  const twice = clouds.flatMap((cloud) => {
    const there = site.clouds.find(({ name, namespace }) => name === cloud.name || namespace === cloud.namespace)
    return there ? [finding(cloudExists, { cloud: there.name, file }, { where: locate(there.path) })] : []
  })
  if (twice.length > 0) return { findings: [...imported.findings, ...twice] }
  const first = site.clouds.length
  const edits = clouds.map((value, index) => ({ path: ['spec', 'clouds', first + index], value }))
  const added = editYaml(text, edits)
  // The cluster of the file may lack a NIC that the clouds need: reading it again reports that.
  const after = readSite(added, file).findings
  const allFindings = [...imported.findings, ...other, ...unmatched, ...after]
  return { ...(!hasErrors(after) && { text: added }), findings: allFindings }
}

/** An import names NICs by roles of its own: each network gets the role that its device has in the site file. */
function matchNics(
  clouds: readonly SiteFileCloud[],
  cluster: JsonRecord,
  site: Site,
): { readonly clouds: readonly SiteFileCloud[]; readonly unmatched: readonly Finding[] } {
  const { nic, nics } = asRecord(asList(cluster['nodes'])[0])
  const devices: JsonRecord = { main: nic, ...asRecord(nics) }
  const roles = Object.entries(site.cluster.nodes[0]?.nics ?? {})
  const unmatched = new Map<string, Finding>()
  const match = (network: SiteFileNetwork | false): SiteFileNetwork | false => {
    if (network === false || network.nic === false) return network
    const { nic: imported = 'main', ...rest } = network
    const device = devices[imported]
    const role = roles.find(([, known]) => known === device)?.[0]
    if (role === 'main') return rest
    if (role !== undefined) return { ...rest, nic: role }
    // A device that the import assumed says nothing about the site.
    if (typeof device !== 'string' || device === DEFAULT_NIC) return network
    unmatched.set(device, finding(nicNotInSite, { device, site: site.name }))
    return { ...rest, nic: device }
  }
  const matched = clouds.map((cloud) => ({
    ...cloud,
    ...(cloud.networks && {
      networks: Object.fromEntries(Object.entries(cloud.networks).map(([name, network]) => [name, match(network)])),
    }),
  }))
  return { clouds: matched, unmatched: [...unmatched.values()] }
}

/** What the import says of the cluster is not added: the file decides it. */
function reportOtherCluster(imported: JsonRecord, existing: JsonRecord, file: string): readonly Finding[] {
  const cluster = asRecord(asRecord(existing['spec'])['cluster'])
  return ['dns', 'storageClass', 'metallb', 'operators'].flatMap((key) => {
    const value = imported[key]
    const isStandard = key === 'metallb' && asRecord(value)['mode'] === 'layer2'
    if (value === undefined || isStandard || sameJson(value, cluster[key])) return []
    const what = `spec.cluster.${key} ${JSON.stringify(value)}`
    return [finding(valueLeftOut, { what, why: `${file} decides it for all its clouds` })]
  })
}
