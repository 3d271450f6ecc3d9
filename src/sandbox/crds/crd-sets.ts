/** Provides the CRD sets of `--crd`, converted once from the YAML of the modules to JSON and cached. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import type { KubeObject } from '../../api/object.ts'
import { ensureFolder, publishFolder, toDiskFullFailure } from '../build/cache-folder.ts'
import type { BuildContext } from '../build/ensure-programs.ts'
import type { CrdSet } from '../settings.ts'
import { type CrdFile, type CrdPins, fetchCrdFiles, readPins } from './crd-modules.ts'

/** A set of CRDs, and a key that changes with its content. */
export interface CrdCollection {
  readonly set: CrdSet
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

/** `own` is `today` with the CRDs of Stackloom; `own-2023` is the same over `2023`, where the Role/Node kinds do not conflict with NodeSet kinds. */
export async function ensureCrds(
  set: CrdSet,
  loadOwnCrds: OwnCrds,
  context: BuildContext,
  pins?: CrdPins,
): Promise<CrdCollection> {
  const used = pins ?? (await readPins(context.paths.pins))
  const key = hashJson({ used, CONVERSION: CONVERSION_VERSION })
  const folder = await ensureConverted(key, used, context)
  const upstream = isOwnSet(set) ? upstreamSets[set] : set
  const crds = JSON.parse(await readFile(path.join(folder, `${upstream}.json`), 'utf8')) as readonly KubeObject[]
  if (!isOwnSet(set)) return { set, key, crds }
  const { ours: replacing, standIns } = await loadOwnCrds(set)
  const there = new Set(crds.map((crd) => crd.metadata.name))
  const ours = [...replacing, ...standIns.filter((crd) => !there.has(crd.metadata.name))]
  const names = new Set(ours.map((crd) => crd.metadata.name))
  const merged = [...crds.filter((crd) => !names.has(crd.metadata.name)), ...ours]
  return { set, key: hashJson({ key, ours }), crds: merged }
}

function isOwnSet(set: CrdSet): set is OwnSet {
  return set in upstreamSets
}

async function ensureConverted(key: string, pins: CrdPins, context: BuildContext): Promise<string> {
  const { paths, exec, notify, signal } = context
  const cacheFolder = path.join(paths.cache, 'crds')
  const folder = path.join(cacheFolder, key)
  const waiting = 'waiting for another process that fetches the CRDs'
  return ensureFolder(folder, { what: 'the CRD sets', waiting, notify, signal }, async () => {
    await mkdir(cacheFolder, { recursive: true }).catch((error: unknown) => {
      throw toDiskFullFailure(error, cacheFolder, 'fetching CRDs')
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

/** Keeps only the fields of a CRD that a client may set. */
function convert(files: readonly CrdFile[]): ReadonlyMap<string, readonly KubeObject[]> {
  const sets = new Map<string, Map<string, KubeObject>>()
  for (const { from, text } of files) {
    for (const document of loadAll(text) as readonly (KubeObject | null)[]) {
      if (document?.kind !== 'CustomResourceDefinition') continue
      const { status: _, metadata, ...rest } = document
      const { name, labels, annotations } = metadata
      const crd = { ...rest, metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) } }
      for (const set of from.sets) {
        const crds = sets.get(set) ?? new Map<string, KubeObject>()
        sets.set(set, crds.set(name, crd as KubeObject))
      }
    }
  }
  return new Map([...sets].map(([set, crds]) => [set, [...crds.values()]]))
}

function hashJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
