/** Provides the CRD sets of `--crd`, converted once from the YAML of the modules to JSON and cached. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import type { KubeObject } from '../../api/object.ts'
import { ensureFolder, publishFolder, toWriteFailure } from '../build/cache-folder.ts'
import type { BuildContext } from '../build/ensure-programs.ts'
import type { CrdSource } from '../settings.ts'
import { type CrdFile, type CrdPins, fetchCrdFiles, readPins } from './crd-modules.ts'
import {
  keepClientFields,
  newestRelease,
  PINNED_RELEASE,
  readReleaseFolder,
  replaceOperatorCrds,
} from './release-folders.ts'

/** A set of CRDs, and a key that changes with its content. */
export interface CrdCollection {
  /** For messages and names of folders. */
  readonly set: string
  readonly key: string
  readonly crds: readonly KubeObject[]
}

/** The sets with CRDs of Stackloom, and the upstream set that each extends. */
const upstreamSets = { own: 'today', 'own-2023': '2023' } as const
export type OwnSet = keyof typeof upstreamSets

export interface OwnDefinitions {
  /** Replace upstream CRDs of the same names. */
  readonly ours: readonly KubeObject[]
  /** Added only if the upstream set has no CRD of the name. */
  readonly standIns: readonly KubeObject[]
}

/** Loaded on demand: most sandboxes do not need them. */
export type OwnCrds = (set: OwnSet) => Promise<OwnDefinitions>

/** Increase when the output of the conversion changes. */
const CONVERSION_VERSION = 1

/** The sets as the pins name them; `today` is the pinned release there. */
const pinnedSets: Readonly<Record<string, string>> = { '2023': '2023', none: 'none', [PINNED_RELEASE]: 'today' }

/**
 * `today` is the newest release that this machine has. `own` is `today` with the CRDs of Stackloom; `own-2023` is the same
 * over `2023`, where the Role/Node kinds do not conflict with NodeSet kinds.
 */
export async function ensureCrds(
  source: CrdSource,
  loadOwnCrds: OwnCrds,
  context: BuildContext,
  pins?: CrdPins,
): Promise<CrdCollection> {
  if (!isOwnSet(source)) return ensureUpstreamCrds(source, context, pins)
  const { key, crds } = await ensureUpstreamCrds(upstreamSets[source], context, pins)
  const { ours: replacing, standIns } = await loadOwnCrds(source)
  const there = new Set(crds.map((crd) => crd.metadata.name))
  const ours = [...replacing, ...standIns.filter((crd) => !there.has(crd.metadata.name))]
  const names = new Set(ours.map((crd) => crd.metadata.name))
  const merged = [...crds.filter((crd) => !names.has(crd.metadata.name)), ...ours]
  return { set: source, key: hashJson({ key, ours }), crds: merged }
}

/** Without the CRDs of Stackloom. */
export async function ensureUpstreamCrds(
  source: CrdSource,
  context: BuildContext,
  pins?: CrdPins,
): Promise<CrdCollection> {
  const set = source === 'today' ? await newestRelease(context.paths) : source
  const pinned = pinnedSets[set]
  // Read first: a release that is missing is reported before anything is fetched.
  const release = pinned === undefined ? await readReleaseFolder(set, context.paths) : undefined
  const used = pins ?? (await readPins(context.paths.pins))
  const key = hashJson({ used, CONVERSION: CONVERSION_VERSION })
  const folder = await ensureConverted(key, used, context)
  const crds = JSON.parse(
    await readFile(path.join(folder, `${pinned ?? 'today'}.json`), 'utf8'),
  ) as readonly KubeObject[]
  if (!release) return { set, key, crds }
  return { set: path.basename(set), key: hashJson({ key, release }), crds: replaceOperatorCrds(crds, release) }
}

function isOwnSet(source: CrdSource): source is OwnSet {
  return source in upstreamSets
}

async function ensureConverted(key: string, pins: CrdPins, context: BuildContext): Promise<string> {
  const { paths, exec, notify, signal } = context
  const cacheFolder = path.join(paths.cache, 'crds')
  const folder = path.join(cacheFolder, key)
  const waiting = 'waiting for another process that fetches the CRDs'
  return ensureFolder(folder, { what: 'the CRD sets', waiting, notify, signal }, async () => {
    await mkdir(cacheFolder, { recursive: true }).catch((error: unknown) => {
      throw toWriteFailure(error, cacheFolder, 'fetching CRDs')
    })
    notify({ kind: 'progress', text: `fetching ${pins.modules.length} modules with CRDs` })
    const files = await fetchCrdFiles(pins, cacheFolder, exec, signal)
    notify({ kind: 'progress', text: 'converting CRDs' })
    const converted = convert(files)
    await publishFolder(folder, async (temporary) => {
      for (const [set, crds] of converted) await writeFile(path.join(temporary, `${set}.json`), JSON.stringify(crds))
    })
  })
}

function convert(files: readonly CrdFile[]): ReadonlyMap<string, readonly KubeObject[]> {
  const sets = new Map<string, Map<string, KubeObject>>()
  for (const { from, text } of files) {
    for (const document of loadAll(text) as readonly (KubeObject | null)[]) {
      if (document?.kind !== 'CustomResourceDefinition') continue
      const crd = keepClientFields(document)
      for (const set of from.sets) {
        const crds = sets.get(set) ?? new Map<string, KubeObject>()
        sets.set(set, crds.set(crd.metadata.name, crd))
      }
    }
  }
  return new Map([...sets].map(([set, crds]) => [set, [...crds.values()]]))
}

function hashJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
