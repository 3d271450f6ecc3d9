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

export function knownValues(cwd: string): ValueSource {
  return async (placeholder, words) => {
    if (placeholder === 'code') return codes()
    const pick = pickers[placeholder]
    if (!pick) return undefined
    const site = await readSite(path.resolve(cwd, fileIn(words) ?? 'site.yaml'))
    return site ? pick(site) : []
  }
}

async function codes(): Promise<readonly Suggestion[]> {
  const { catalogue } = await import('../../errors/catalogue.ts')
  return [...catalogue.values()].map(({ code, title }) => ({ value: code, description: title }))
}

const pickers: Readonly<Record<string, (site: Json) => readonly Suggestion[]>> = {
  cloud: (site) =>
    clouds(site).map((one) => ({ value: String(one['name']), description: String(one['namespace']) })),
  namespace: (site) => unique(clouds(site).map((one) => String(one['namespace']))),
  network: (site) => unique(clouds(site).flatMap((one) => Object.keys(asObject(one['networks'])))),
  node: (site) =>
    unique(listOf(asObject(asObject(site['spec'])['cluster'])['nodes']).map((one) => String(one['name']))),
  host: (site) =>
    unique(clouds(site).flatMap((one) => listOf(one['hosts']).map((host) => String(host['name'])))),
}

function fileIn(words: readonly string[]): string | undefined {
  const joined = words.find((word) => /^(-f|--file)=/.test(word))
  if (joined) return joined.slice(joined.indexOf('=') + 1)
  const at = words.findIndex((word) => word === '-f' || word === '--file')
  return at < 0 ? undefined : words[at + 1]
}

async function readSite(file: string): Promise<Json | undefined> {
  try {
    const { parse } = await import('yaml')
    return asObject(parse(await readFile(file, 'utf8'), { logLevel: 'silent' }))
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
