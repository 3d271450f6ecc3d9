/**
 * Reads the values files of node sets of the architecture repository: ConfigMaps with `data.nodeset`, or with one set of
 * Ansible variables per node set (`data.nodeset0`, `data.nodeset1`).
 *
 * Pure. A file belongs to the cloud of the network-values file before it, or of the first one. A later file for the same
 * node set, such as `edpm-nodeset-values-post-ceph`, changes it.
 */
import { asRecord, asString, isRecord, type JsonRecord } from '../../api/json.ts'
import { readComputeCell } from '../../api/node-secrets.ts'
import { isPlaceholder } from '../../api/placeholders.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { readYamlStream, type YamlReading } from '../../yaml/read.ts'
import { placeholdersLeft, valueLeftOut } from './findings/existing.ts'
import type { ImportSource } from './imported-site.ts'
import type { NodeSetSource } from './node-sets.ts'

export interface SeparatedSources {
  readonly networkValues: readonly ImportSource[]
  /** By the network-values file of their cloud. */
  readonly nodeSetsByFile: ReadonlyMap<string, readonly NodeSetSource[]>
}

export function separateNodeSets(sources: readonly ImportSource[], findings: Finding[]): SeparatedSources {
  const readings = new Map(
    sources.map((source) => [source, readYamlStream(source.text, source.file).filter(isNodeSetValues)]),
  )
  const networkValues = sources.filter((source) => readings.get(source)?.length === 0)
  const nodeSetsByFile = new Map<string, NodeSetSource[]>()
  let owner = networkValues[0]
  // Without network values every file is read as one, so that each is reported.
  if (!owner) return { networkValues: sources, nodeSetsByFile }
  for (const source of sources) {
    if (networkValues.includes(source)) owner = source
    const nodeSets = nodeSetsByFile.get(owner.file) ?? []
    for (const reading of readings.get(source) ?? []) addNodeSets(nodeSets, reading, findings)
    nodeSetsByFile.set(owner.file, nodeSets)
  }
  return { networkValues, nodeSetsByFile }
}

/** Files of a folder: after each network-values file those of its node sets, which are the nearest ones. */
export function orderByCloud(
  networkValues: readonly ImportSource[],
  nodeSets: readonly ImportSource[],
): readonly ImportSource[] {
  const ofCloud = new Map(networkValues.map((source) => [source, [source]]))
  for (const nodeSet of nodeSets) {
    const distances = networkValues.map((source) => ({ source, nearness: nearness(source.file, nodeSet.file) }))
    const [nearest] = distances.toSorted((a, b) => b.nearness - a.nearness)
    if (nearest) ofCloud.get(nearest.source)?.push(nodeSet)
  }
  return [...ofCloud.values()].flat()
}

/** How many folders two files share, and half a folder if the next ones end with the same number: `control-plane2`, `edpm2`. */
function nearness(file: string, other: string): number {
  const [folders, others] = [file.split(/[\\/]/), other.split(/[\\/]/)]
  const shared = folders.findIndex((folder, index) => folder !== others[index])
  const trailingNumber = (folder = ''): string => /\d*$/.exec(folder)?.[0] ?? ''
  return trailingNumber(folders[shared]) === trailingNumber(others[shared]) ? shared + 0.5 : shared
}

const NUMBERED = /^nodeset-?(\d+)$/

export function isNodeSetValues({ value }: YamlReading): boolean {
  const data = asRecord(asRecord(value)['data'])
  return Object.keys(data).some((key) => (key === 'nodeset' || NUMBERED.test(key)) && isRecord(data[key]))
}

function addNodeSets(nodeSets: NodeSetSource[], reading: YamlReading, findings: Finding[]): void {
  const { metadata, data: written } = asRecord(reading.value)
  const data = asRecord(written)
  const report: Report = { reading, findings }
  const numbered = Object.keys(data).filter((key) => NUMBERED.test(key) && isRecord(data[key]))
  for (const key of numbered) addNodeSet(nodeSets, readNumbered(key, asRecord(data[key]), report), report)
  if (!isRecord(data['nodeset'])) {
    const others = Object.entries(data).filter(([key, value]) => !numbered.includes(key) && !isRepeated(value, data))
    leaveOut(Object.fromEntries(others), [], report)
    return
  }
  const base = (asString(asRecord(metadata)['name']) ?? 'nodeset').replace(/-values.*$/, '')
  addNodeSet(nodeSets, readNodeSet(base, data, report), report)
}

/** Values that node sets of the same file repeat, such as a YAML anchor for their common template. */
function isRepeated(value: unknown, data: JsonRecord): boolean {
  return Object.values(data).some((nodeSet) => isRecord(nodeSet) && Object.values(nodeSet).includes(value))
}

interface Report {
  readonly reading: YamlReading
  readonly findings: Finding[]
}

function addNodeSet(nodeSets: NodeSetSource[], read: NodeSetSource, { reading, findings }: Report): void {
  const nodeSet = withoutPlaceholders(read, findings)
  const hosts = Object.keys(asRecord(nodeSet.spec['nodes']))
  const sharesHost = ({ spec }: NodeSetSource): boolean => hosts.some((host) => host in asRecord(spec['nodes']))
  const earlier = nodeSets.findIndex((known) =>
    hosts.length > 0 ? sharesHost(known) : undashed(known.name) === undashed(nodeSet.name),
  )
  const known = nodeSets[earlier]
  if (known) {
    nodeSets[earlier] = changeNodeSet(known, nodeSet)
    return
  }
  if (nodeSet.spec['nodes'] === undefined) {
    const facts = {
      what: `the node set ${nodeSet.name}`,
      why: 'it has no hosts, and no file before it has this node set',
    }
    findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data']) }))
    return
  }
  const { name } = nodeSet
  const isSameBase = (other: string): boolean => other.startsWith(name) && /^(?:-\d+)?$/.test(other.slice(name.length))
  const count = nodeSets.filter((other) => isSameBase(other.name)).length
  nodeSets.push(count === 0 ? nodeSet : { ...nodeSet, name: `${name}-${count + 1}` })
}

/** A template has words where values belong. A text that merely contains such a word is kept: it may be a script. */
function withoutPlaceholders(nodeSet: NodeSetSource, findings: Finding[]): NodeSetSource {
  const found: (readonly (string | number)[])[] = []
  const clean = (value: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof value === 'string' && isPlaceholder(value)) {
      found.push(path)
      return undefined
    }
    if (Array.isArray(value)) return value.map((item, index) => clean(item, [...path, index])).filter(isFilled)
    if (!isRecord(value)) return value
    const fields = Object.entries(value).map(([key, item]) => [key, clean(item, [...path, key])] as const)
    const kept = fields.filter(([, item]) => item !== undefined)
    return kept.length === 0 && fields.length > 0 ? undefined : Object.fromEntries(kept)
  }
  const isFilled = (item: unknown): boolean => item !== undefined
  const spec = asRecord(clean(nodeSet.spec, []))
  if (found.length === 0) return nodeSet
  const paths = found.map((path) => `${nodeSet.name}: ${path.join('.')}`)
  findings.push(finding(placeholdersLeft, { paths }, { where: nodeSet.locate(found[0] ?? []) }))
  return { ...nodeSet, spec }
}

/** `edpm-nodeset2-values-post-ceph` belongs to the second file of `edpm-nodeset-values`. */
function undashed(name: string): string {
  return name.replaceAll('-', '')
}

/** Later values replace earlier ones; Ansible variables one by one. */
function changeNodeSet(known: NodeSetSource, later: NodeSetSource): NodeSetSource {
  const template = asRecord(known.spec['nodeTemplate'])
  const laterTemplate = asRecord(later.spec['nodeTemplate'])
  const ansible = asRecord(template['ansible'])
  const laterAnsible = asRecord(laterTemplate['ansible'])
  const ansibleVars = { ...asRecord(ansible['ansibleVars']), ...asRecord(laterAnsible['ansibleVars']) }
  const nodeTemplate = { ...template, ...laterTemplate, ansible: { ...ansible, ...laterAnsible, ansibleVars } }
  return {
    name: known.name,
    cell: later.cell ?? known.cell,
    spec: { ...known.spec, ...later.spec, nodeTemplate },
    locate: (path) => (hasField(later.spec, path) ? later : known).locate(path),
  }
}

function hasField(value: unknown, path: readonly (string | number)[]): boolean {
  const [step, ...rest] = path
  if (step === undefined) return value !== undefined
  return typeof value === 'object' && value !== null && hasField((value as JsonRecord)[step], rest)
}

function definedFields(fields: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const NO_FIELD = 'a node set of a site file has no field for it'
const NETWORK_DATA = "it belongs into the Secret that the host's networkData names; create that Secret in the namespace"

function leaveOut(fields: JsonRecord, path: readonly string[], { reading, findings }: Report): void {
  for (const key of Object.keys(fields)) {
    const why = key === 'baremetalHostsNetworkData' ? NETWORK_DATA : NO_FIELD
    const facts = { what: ['data', ...path, key].join('.'), why }
    findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data', ...path, key]) }))
  }
}

function readNodeSet(name: string, data: JsonRecord, report: Report): NodeSetSource {
  const { nodeset, nodeset_name: givenName, preProvisioned, baremetalSetTemplate, nova, ...others } = data
  const { ansible, networks, services, nodes, ...moreFields } = asRecord(nodeset)
  const { service, ...moreNova } = asRecord(nova)
  leaveOut(others, [], report)
  leaveOut(moreFields, ['nodeset'], report)
  leaveOut(moreNova, ['nova'], report)
  const secret = asString(asRecord(service)['cellSecretRef']) ?? ''
  const isComplete = nodes !== undefined
  return {
    name: asString(givenName) ?? name,
    cell: readComputeCell(secret),
    spec: definedFields({
      // A file that only changes a node set says nothing of what it leaves out.
      preProvisioned: preProvisioned ?? (isComplete ? true : undefined),
      baremetalSetTemplate,
      services,
      nodes,
      networkAttachments: isComplete ? ['ctlplane'] : undefined,
      nodeTemplate: definedFields({ ansible, networks }),
    }),
    locate: ([first = '', ...rest]) => {
      const isTop = first === 'baremetalSetTemplate' || first === 'preProvisioned'
      const path = isTop ? [first] : ['nodeset', ...(first === 'nodeTemplate' ? [] : [first])]
      return report.reading.locate(['data', ...path, ...rest])
    },
  }
}

/**
 * A bare metal node set whose other fields are in the deployment's own kustomization: the values have its hosts, the
 * interface to provision by, and Ansible variables.
 */
function readNumbered(key: string, fields: JsonRecord, report: Report): NodeSetSource {
  const { ctlplaneInterface, baremetalSetTemplate, preProvisioned, nodes, networks, services, ...others } = fields
  const isVariable = ([name]: readonly [string, unknown]): boolean => /^[a-z][a-z0-9_]*$/.test(name)
  const entries = Object.entries(others)
  leaveOut(Object.fromEntries(entries.filter((entry) => !isVariable(entry))), [key], report)
  const template = definedFields({ ctlplaneInterface, ...asRecord(baremetalSetTemplate) })
  const isBareMetal = Object.keys(template).length > 0
  return {
    name: key.replace(NUMBERED, 'nodeset-$1'),
    spec: definedFields({
      preProvisioned: preProvisioned ?? !isBareMetal,
      baremetalSetTemplate: isBareMetal ? template : undefined,
      services,
      nodes,
      networkAttachments: ['ctlplane'],
      nodeTemplate: definedFields({
        ansible: { ansibleVars: Object.fromEntries(entries.filter(isVariable)) },
        networks,
      }),
    }),
    locate: ([first = '', ...rest]) => {
      const isVars = first === 'nodeTemplate' && rest[0] === 'ansible'
      const path = isVars ? rest.slice(2) : first === 'nodeTemplate' ? rest : [first, ...rest]
      return report.reading.locate(['data', key, ...path])
    },
  }
}
