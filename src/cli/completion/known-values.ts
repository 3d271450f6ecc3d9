/**
 * Finds values by their placeholder: codes in the catalogue, stages, names in the site or lab file.
 *
 * A file that cannot be read suggests nothing: an error message would disturb the line being typed.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { asList, asRecord, type JsonRecord } from '../../api/json.ts'
import type { Io } from '../io.ts'
import { SITE_FILE } from '../site-file.ts'
import type { Suggestion, ValueSource } from './complete.ts'

export function completionValues(cwd: string, env: Io['env'] = {}): ValueSource {
  return async (placeholder, words) => {
    if (placeholder === 'code') return findingCodes()
    const isLab = words.find((word) => !word.startsWith('-')) === 'lab'
    if (placeholder === 'stage') return isLab ? labStages() : deploymentStages()
    if (isLab) return placeholder === 'node' ? labNodes(path.resolve(cwd, fileOption(words) ?? 'lab.yaml')) : undefined
    const file = path.resolve(cwd, fileOption(words) ?? env['STACKLOOM_FILE'] ?? SITE_FILE)
    if (placeholder === 'leaving') return leavingClouds(file)
    const pick = pickers[placeholder]
    if (!pick) return undefined
    const site = await readFields(file)
    if (!site) return []
    const { networkTemplates } = await import('../../site/network-templates.ts')
    return pick(
      site,
      Object.keys(networkTemplates).filter((name) => networkTemplates[name]?.everywhere),
    )
  }
}

async function findingCodes(): Promise<readonly Suggestion[]> {
  const { catalogue } = await import('../explain/catalogue.ts')
  return [...catalogue.values()].map(({ code, title }) => ({ value: code, description: title }))
}

async function deploymentStages(): Promise<readonly Suggestion[]> {
  const { stageTable } = await import('../../deploy/stage-table.ts')
  return stageTable.map(({ name, what }) => ({ value: name, description: what }))
}

async function labStages(): Promise<readonly Suggestion[]> {
  const { stageNames } = await import('../../lab/drive/stage.ts')
  return unique(stageNames)
}

async function labNodes(file: string): Promise<readonly Suggestion[]> {
  const lab = await readFields(file)
  return unique(asRecords(asRecord(lab?.['spec'])['nodes']).map((node) => String(node['name'])))
}

/** Clouds that are in the lock and no longer in the site file. */
async function leavingClouds(file: string): Promise<readonly Suggestion[]> {
  const { dir, name, ext } = path.parse(file)
  const lock = await readFields(path.join(dir, `${name}.lock${ext}`))
  return Object.entries(asRecord(lock?.['clouds']))
    .map(([name, cloud]) => ({ name, ...asRecord(cloud) }) as JsonRecord)
    .filter((cloud) => cloud['leaving'] === true)
    .map(({ name: cloud, namespace }) => ({ value: String(cloud), description: String(namespace) }))
}

/** `builtIn` are the networks that every cloud has by default. */
type Picker = (site: JsonRecord, builtIn: readonly string[]) => readonly Suggestion[]

const pickers: Readonly<Record<string, Picker>> = {
  cloud: (site) =>
    clouds(site).map((cloud) => ({ value: String(cloud['name']), description: String(cloud['namespace']) })),
  namespace: (site) => unique(clouds(site).map((cloud) => String(cloud['namespace']))),
  network: (site, builtIn) => unique(clouds(site).flatMap((cloud) => networkNames(cloud, builtIn))),
  owner: (site, builtIn) =>
    unique(
      clouds(site).flatMap((cloud) => {
        const name = String(cloud['name'])
        return [name, ...networkNames(cloud, builtIn).map((network) => `${name}/${network}`)]
      }),
    ),
  'address-or-name': (site) => [...(pickers['host']?.(site, []) ?? []), ...(pickers['node']?.(site, []) ?? [])],
  node: (site) =>
    unique(asRecords(asRecord(asRecord(site['spec'])['cluster'])['nodes']).map((node) => String(node['name']))),
  host: (site) =>
    unique(clouds(site).flatMap((cloud) => asRecords(cloud['hosts']).map((host) => String(host['name'])))),
}

/** The networks that the cloud lists, and the built-in ones that are not disabled. */
function networkNames(cloud: JsonRecord, builtIn: readonly string[]): readonly string[] {
  const networks = asRecord(cloud['networks'])
  const names = new Set([...Object.keys(networks), ...builtIn])
  return [...names].filter((name) => networks[name] !== false)
}

function fileOption(words: readonly string[]): string | undefined {
  const joined = words.find((word) => /^(-f|--file)=/.test(word))
  if (joined) return joined.slice(joined.indexOf('=') + 1)
  const index = words.findIndex((word) => word === '-f' || word === '--file')
  return index < 0 ? undefined : words[index + 1]
}

async function readFields(file: string): Promise<JsonRecord | undefined> {
  try {
    const { readYaml } = await import('../../yaml/read.ts')
    const { value } = readYaml(await readFile(file), file)
    return value === undefined ? undefined : asRecord(value)
  } catch {
    return undefined
  }
}

function clouds(site: JsonRecord): readonly JsonRecord[] {
  return asRecords(asRecord(site['spec'])['clouds'])
}

function asRecords(value: unknown): readonly JsonRecord[] {
  return asList(value).map(asRecord)
}

function unique(names: readonly string[]): readonly Suggestion[] {
  return [...new Set(names)].map((value) => ({ value }))
}
