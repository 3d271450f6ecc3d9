/** Reads files with the ConfigMap `network-values` of the architecture repository. Pure. */
import { asRecord, asString, isRecord, type JsonRecord } from '../../api/json.ts'
import { findPlaceholders, isPlaceholder } from '../../api/placeholders.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { readYamlStream, type YamlReading } from '../../yaml/read.ts'
import type { Path } from '../site.ts'
import { isNodeSetValues, orderByCloud } from './architecture-node-sets.ts'
import { parseJson } from './attachment.ts'
import { filesLeftOut, notNetworkValues, placeholdersLeft, valueLeftOut } from './findings/existing.ts'
import type { ImportSource } from './imported-site.ts'
import { formatUnread, type TrackedInput, trackReads } from './read-tracker.ts'

export interface ValuesFile {
  readonly cloud: { readonly name: string; readonly namespace: string }
  readonly data: JsonRecord
  readonly reading: YamlReading
  readonly nodes: readonly { readonly name: string; readonly data: JsonRecord }[]
  readonly file: string
  /** What no importer read. */
  readonly unread: TrackedInput['unread']
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

export function readValues(
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
export function reportUnread({ reading, unread }: ValuesFile): readonly Finding[] {
  return unread().map((values) => {
    const parent = ['data', ...(values.parents[0] ?? [])]
    const parents = values.parents.map((path) => ['data', ...path])
    const where = reading.locate([...parent, values.names[0] ?? ''])
    return finding(valueLeftOut, { what: formatUnread({ ...values, parents }), why: NO_FIELD }, { where })
  })
}

export const NO_FIELD = 'the site file has no field for it'
