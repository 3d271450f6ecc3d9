/**
 * Writes what Stackloom knows of releases to `data/releases.json`, and reports how each given release differs from the
 * one before it.
 *
 *     node --import tsx tools/generate-releases.ts [--pinned] FOLDER...
 *
 * A folder has the CRDs of one release and its name; releases that are not given stay. `--pinned` reads `2023` and
 * `0.6.0` from the pinned modules, which needs Go.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { load } from 'js-yaml'
import { compareReleases } from '../src/plan/release/compare.ts'
import { type KnownRelease, parseReleases, type ReleaseData, readRelease } from '../src/plan/release/releases.ts'
import { graphBuilder } from '../src/plan/release/schema-graph.ts'
import { ensureCrds } from '../src/sandbox/crds/crd-sets.ts'
import { sandboxContext } from '../test/sandbox-context.ts'

const FILE = 'data/releases.json'

/** The pinned modules are one release each; the newest is of March 2025. */
const pinned = ['2023', '0.6.0'] as const

export async function readPinnedReleases(): Promise<readonly KnownRelease[]> {
  const releases: KnownRelease[] = []
  for (const name of pinned) {
    const { crds } = await ensureCrds(name, async () => ({ ours: [], standIns: [] }), sandboxContext())
    releases.push({ name, ...readRelease(crds) })
  }
  return releases
}

/** The date is that of the operator's commit, where an `index.json` beside the folder has it. */
export function readReleaseFolder(folder: string): KnownRelease {
  const name = path.basename(folder)
  const files = readdirSync(folder).filter((file) => /\.(?:json|ya?ml)$/.test(file))
  const crds = files.sort().map((file) => load(readFileSync(path.join(folder, file), 'utf8')))
  const release = readRelease(crds)
  if (!release.kinds['OpenStackControlPlane'])
    throw new Error(`${folder} has no CRD of OpenStackControlPlane: copy config/crd/bases of openstack-operator to it`)
  const date = findDate(path.join(path.dirname(folder), 'index.json'), name)
  return { name, ...(date !== undefined && { date }), ...release }
}

function findDate(file: string, name: string): string | undefined {
  if (!existsSync(file)) return undefined
  const entries = JSON.parse(readFileSync(file, 'utf8')) as readonly {
    release: string
    repository: string
    date: string
  }[]
  return entries.find(({ release, repository }) => release === name && repository.endsWith('/openstack-operator'))?.date
}

/** The oldest first; branches that still change are last. */
function rank(name: string): readonly number[] {
  const feature = /^(\d+)\.(\d+)-(?:fr(\d+))?/.exec(name)
  // A name such as 19.0-dev is after the feature releases of its version.
  if (feature) return [1, ...[1, 2, 3].map((group) => Number(feature[group] ?? 'Infinity'))]
  if (/^\d+-stable$/.test(name)) return [2, Number.parseInt(name, 10)]
  if (name === 'main') return [3]
  // Of all releases 18.0-fr2 differs least from these modules.
  return name === '0.6.0' ? [1, 18, 0, 1.5] : [0]
}

function byAge(a: KnownRelease, b: KnownRelease): number {
  const [left, right] = [rank(a.name), rank(b.name)]
  const step = left.findIndex((value, index) => value !== right[index])
  return step === -1 ? 0 : (left[step] ?? 0) - (right[step] ?? 0)
}

/** The releases of the file, with those that are given in their place. */
export function mergeReleases(known: readonly KnownRelease[], given: readonly KnownRelease[]): readonly KnownRelease[] {
  const names = new Set(given.map(({ name }) => name))
  return [...known.filter(({ name }) => !names.has(name)), ...given].sort(byAge)
}

/** One node per line, so that a difference shows what changed. */
export function formatReleaseData(releases: readonly KnownRelease[]): string {
  const builder = graphBuilder()
  const entries = releases.map(({ name, date, kinds }) => ({
    name,
    ...(date !== undefined && { date }),
    kinds: Object.fromEntries(
      Object.entries(kinds)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([kind, { apiVersion, crd, spec }]) => [kind, { apiVersion, crd, spec: builder.addGraph(spec) }]),
    ),
  }))
  return `{"releases":${lines(entries)},"nodes":${lines(builder.nodes)}}\n`
}

function lines(items: readonly unknown[]): string {
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`
}

function report(releases: readonly KnownRelease[], given: readonly KnownRelease[]): void {
  for (const { name } of given) {
    const index = releases.findIndex((release) => release.name === name)
    const [before, now] = [releases[index - 1], releases[index]]
    if (!before || !now) continue
    console.log(`${before.name} -> ${name}`)
    for (const { kind, change, ...fields } of compareReleases(before, now)) {
      console.log(`  ${kind}: ${change}`)
      for (const [what, paths] of Object.entries(fields))
        for (const field of paths) console.log(`    ${what} spec.${field}`)
    }
  }
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
  const given = [
    ...(process.argv.includes('--pinned') ? await readPinnedReleases() : []),
    ...folders.map((folder) => readReleaseFolder(path.resolve(folder))),
  ]
  const known = existsSync(FILE) ? parseReleases(JSON.parse(readFileSync(FILE, 'utf8')) as ReleaseData) : []
  const releases = mergeReleases(known, given)
  writeFileSync(FILE, formatReleaseData(releases))
  report(releases, given)
}
