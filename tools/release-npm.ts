/**
 * Packs the npm package: the built program with its data, and nothing that must be installed with it.
 *
 * The files are staged in a folder of their own, so that a pack neither waits for nor disturbs the checkout's build.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { commands } from '../src/cli/commands.ts'
import { buildInto } from './build.ts'
import { loadCommand } from './command-pages.ts'
import { manPages } from './release-files.ts'

export interface Release {
  readonly version: string
  /** Where the sources are; npm compares it with the provenance of the package. */
  readonly repository?: string
}

/** Files that every way of installing has. */
export const commonFiles = ['README.md', 'LICENSE']

/** What npm publishes, as a folder. */
export async function stageNpmPackage(folder: string, release: Release): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of ['bin', ...commonFiles]) cpSync(name, path.join(folder, name), { recursive: true })
  await buildInto(path.join(folder, 'dist'), release.version)
  const pages = manPages(await Promise.all(commands.filter(({ hidden }) => !hidden).map(loadCommand)), release.version)
  mkdirSync(path.join(folder, 'man'))
  for (const [name, text] of pages) writeFileSync(path.join(folder, 'man', name), text)
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly files: readonly string[] } & Record<
    string,
    unknown
  >
  // Both are for the checkout: the packages are in the bundle, and the program is built already.
  const { devDependencies: _bundled, overrides: _pinned, scripts: _prepack, ...published } = manifest
  const { version, repository } = release
  const manual = { files: [...manifest.files, 'man'], man: [...pages.keys()].map((name) => `./man/${name}`) }
  const source = repository ? { repository: { type: 'git', url: `git+${repository}.git` } } : {}
  writeFileSync(
    path.join(folder, 'package.json'),
    `${JSON.stringify({ ...published, ...manual, version, ...source }, null, 2)}\n`,
  )
}

/** Packs a staged folder and returns the path of the archive, which has the same bytes for the same files. */
export function packNpm(folder: string, into: string): string {
  mkdirSync(into, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', path.resolve(into)]
  const printed = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  // npm 11 prints a list, npm 12 an object by package name.
  const [packed] = Object.values(JSON.parse(printed) as Readonly<Record<string, { readonly filename: string }>>)
  if (!packed) throw new Error('npm pack names no archive')
  return path.join(into, packed.filename)
}
