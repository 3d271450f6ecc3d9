/**
 * Values that completion knows by their placeholder: codes from the catalogue, and names from the site file at hand
 * (`-f FILE` of the line being typed, or `site.yaml` here).
 *
 * A person in mid-word wants no error message: whatever cannot be read suggests nothing.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Suggestion, ValueSource } from './complete.ts'

type Json = Readonly<Record<string, unknown>>

export function completionValues(cwd: string): ValueSource {
  return async (placeholder, words) => {
    if (placeholder === 'code') return codes()
    const file = path.resolve(cwd, fileIn(words) ?? 'site.yaml')
    if (placeholder === 'leaving') return leaving(file)
    const pick = pickers[placeholder]
    if (!pick) return undefined
    const site = await readSite(file)
    if (!site) return []
    const { networkTemplates } = await import('../../site/network-templates.ts')
    return pick(
      site,
      Object.keys(networkTemplates).filter((name) => networkTemplates[name]?.everywhere),
    )
  }
}

async function codes(): Promise<readonly Suggestion[]> {
  const { catalogue } = await import('../explain/catalogue.ts')
  return [...catalogue.values()].map(({ code, title }) => ({ value: code, description: title }))
}

/** Clouds that the lock still holds something for and the file no longer names. */
async function leaving(file: string): Promise<readonly Suggestion[]> {
  const { dir, name, ext } = path.parse(file)
  const lock = await readSite(path.join(dir, `${name}.lock${ext}`))
  const held = Object.entries(asObject(lock?.['clouds'])).filter(([, one]) => asObject(one)['leaving'] === true)
  return held.map(([cloud, one]) => ({ value: cloud, description: String(asObject(one)['namespace']) }))
}

/** From the file, and the names of the networks that every cloud has without saying so. */
type Picker = (site: Json, builtIn: readonly string[]) => readonly Suggestion[]

const pickers: Readonly<Record<string, Picker>> = {
  cloud: (site) =>
    clouds(site).map((cloud) => ({ value: String(cloud['name']), description: String(cloud['namespace']) })),
  namespace: (site) => unique(clouds(site).map((cloud) => String(cloud['namespace']))),
  network: (site, builtIn) => unique(clouds(site).flatMap((cloud) => networksOf(cloud, builtIn))),
  owner: (site, builtIn) =>
    unique(
      clouds(site).flatMap((cloud) => {
        const name = String(cloud['name'])
        return [name, ...networksOf(cloud, builtIn).map((network) => `${name}/${network}`)]
      }),
    ),
  'address-or-name': (site) => [...(pickers['host']?.(site, []) ?? []), ...(pickers['node']?.(site, []) ?? [])],
  node: (site) =>
    unique(listOf(asObject(asObject(site['spec'])['cluster'])['nodes']).map((one) => String(one['name']))),
  host: (site) => unique(clouds(site).flatMap((cloud) => listOf(cloud['hosts']).map((host) => String(host['name'])))),
}

/** What the cloud writes itself, and what is built in and not switched off. */
function networksOf(cloud: Json, builtIn: readonly string[]): readonly string[] {
  const own = asObject(cloud['networks'])
  const all = new Set([...Object.keys(own), ...builtIn])
  return [...all].filter((name) => own[name] !== false)
}

function fileIn(words: readonly string[]): string | undefined {
  const joined = words.find((word) => /^(-f|--file)=/.test(word))
  if (joined) return joined.slice(joined.indexOf('=') + 1)
  const at = words.findIndex((word) => word === '-f' || word === '--file')
  return at < 0 ? undefined : words[at + 1]
}

async function readSite(file: string): Promise<Json | undefined> {
  try {
    const { readYaml } = await import('../../yaml/read.ts')
    const { value } = readYaml(await readFile(file), file)
    return value === undefined ? undefined : asObject(value)
  } catch {
    return undefined
  }
}

function clouds(site: Json): readonly Json[] {
  return listOf(asObject(site['spec'])['clouds'])
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

function asObject(value: unknown): Json {
  return value !== null && typeof value === 'object' ? (value as Json) : {}
}

function unique(names: readonly string[]): readonly Suggestion[] {
  return [...new Set(names)].map((value) => ({ value }))
}
