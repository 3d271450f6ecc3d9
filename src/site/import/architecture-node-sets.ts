/**
 * Reads the values files of node sets of the architecture repository: ConfigMaps with `data.nodeset`.
 *
 * Pure. A file belongs to the cloud of the network-values file before it; a later file without nodes, such as
 * `edpm-nodeset-values-post-ceph`, changes the node set of the same name.
 */
import { asRecord, asString, isRecord, type JsonRecord } from '../../api/json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { readYamlStream, type YamlReading } from '../../yaml/read.ts'
import { valueLeftOut } from './findings/existing.ts'
import type { ImportSource } from './imported-site.ts'
import type { NodeSetSource } from './node-sets.ts'

export interface SeparatedSources {
  readonly networkValues: readonly ImportSource[]
  /** By the network-values file of their cloud. */
  readonly nodeSetsByFile: ReadonlyMap<string, readonly NodeSetSource[]>
}

export function separateNodeSets(sources: readonly ImportSource[], findings: Finding[]): SeparatedSources {
  const networkValues: ImportSource[] = []
  const nodeSetsByFile = new Map<string, NodeSetSource[]>()
  for (const source of sources) {
    const readings = readYamlStream(source.text, source.file).filter(isNodeSetValues)
    const [owner] = networkValues.slice(-1)
    if (readings.length === 0 || !owner) {
      networkValues.push(source)
      continue
    }
    const nodeSets = nodeSetsByFile.get(owner.file) ?? []
    for (const reading of readings) addNodeSet(nodeSets, reading, findings)
    nodeSetsByFile.set(owner.file, nodeSets)
  }
  return { networkValues, nodeSetsByFile }
}

export function isNodeSetValues({ value }: YamlReading): boolean {
  return isRecord(asRecord(asRecord(value)['data'])['nodeset'])
}

function addNodeSet(nodeSets: NodeSetSource[], reading: YamlReading, findings: Finding[]): void {
  const { metadata, data } = asRecord(reading.value)
  const base = (asString(asRecord(metadata)['name']) ?? 'nodeset').replace(/-values.*$/, '')
  const nodeSet = readNodeSet(base, asRecord(data), reading, findings)
  const earlier = nodeSets.findLastIndex(({ name }) => name === base || name.startsWith(`${base}-`))
  const known = nodeSets[earlier]
  if (known && nodeSet.spec['nodes'] === undefined) {
    nodeSets[earlier] = { ...known, spec: { ...known.spec, ...definedFields(nodeSet.spec, ['services']) } }
    return
  }
  const count = nodeSets.filter(({ name }) => name === base || /^-\d+$/.test(name.slice(base.length))).length
  nodeSets.push(count === 0 ? nodeSet : { ...nodeSet, name: `${base}-${count + 1}` })
}

function definedFields(fields: JsonRecord, keys: readonly string[]): JsonRecord {
  return Object.fromEntries(keys.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]]])))
}

function readNodeSet(name: string, data: JsonRecord, reading: YamlReading, findings: Finding[]): NodeSetSource {
  const { nodeset, preProvisioned, baremetalSetTemplate, nova, ...others } = data
  const { ansible, networks, services, nodes, ...moreFields } = asRecord(nodeset)
  const { service, ...moreNova } = asRecord(nova)
  const leaveOut = (fields: JsonRecord, path: readonly string[]): void => {
    for (const key of Object.keys(fields)) {
      const facts = { what: ['data', ...path, key].join('.'), why: 'a node set of a site file has no field for it' }
      findings.push(finding(valueLeftOut, facts, { where: reading.locate(['data', ...path, key]) }))
    }
  }
  leaveOut(others, [])
  leaveOut(moreFields, ['nodeset'])
  leaveOut(moreNova, ['nova'])
  const secret = asString(asRecord(service)['cellSecretRef']) ?? ''
  return {
    name: asString(others['nodeset_name']) ?? name,
    cell: /^nova-(.+)-compute-config$/.exec(secret)?.[1],
    spec: {
      preProvisioned: preProvisioned ?? true,
      ...definedFields({ baremetalSetTemplate, services, nodes }, ['baremetalSetTemplate', 'services', 'nodes']),
      networkAttachments: ['ctlplane'],
      nodeTemplate: definedFields({ ansible, networks }, ['ansible', 'networks']),
    },
    locate: ([first, ...rest]) =>
      reading.locate([
        'data',
        ...(first === 'baremetalSetTemplate'
          ? [first]
          : ['nodeset', ...(first === 'nodeTemplate' ? [] : [first ?? ''])]),
        ...rest,
      ]),
  }
}
