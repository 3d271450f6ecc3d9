/**
 * `make release VERSION=x`: makes everything that is published, into dist/release/.
 *
 * Two runs from the same commit have the same checksums: archives are sorted and dated by the commit, and nothing random
 * is in them. REPOSITORY is the address of the sources and of the downloads, IMAGE the default image of the operator.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { writeYaml } from '../src/yaml/write.ts'
import { renderChart } from './release-chart.ts'
import { buildExecutable, executablePlatforms, type Platform } from './release-executable.ts'
import { checksumFile, type Download, homebrewFormula, krewManifest } from './release-files.ts'
import { bundleFiles, plainManifests } from './release-manifests.ts'
import { grafanaDashboard, monitoringObjects } from './release-monitoring.ts'
import { commonFiles, packNpm, stageNpmPackage } from './release-npm.ts'
import { makeSbom } from './sbom.ts'

export interface ReleaseOptions {
  readonly version: string
  readonly into: string
  readonly platforms: readonly Platform[]
  readonly repository?: string
  readonly image?: string
}

export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { version, into, platforms, repository } = options
  const seconds = commitTime()
  const date = new Date(seconds * 1000).toISOString()
  const image = options.image ?? `registry.example.org/stackloom:${version}`
  const work = mkdtempSync(path.join(tmpdir(), 'stackloom-release-'))
  const archive = (folder: string, name: string): void => packFolder(work, folder, path.resolve(into, name), seconds)
  try {
    rmSync(into, { recursive: true, force: true })
    mkdirSync(into, { recursive: true })
    const staged = path.join(work, 'npm')
    await stageNpmPackage(staged, { version, ...(repository !== undefined && { repository }) })
    packNpm(staged, into)

    writeFiles(
      renderChart({ version, ...(options.image !== undefined && { image }) }),
      path.join(work, 'stackloom-operator'),
    )
    archive('stackloom-operator', `stackloom-operator-${version}.tgz`)
    const objects = plainManifests({ image }).map((object) => `---\n${writeYaml(object)}`)
    writeFileSync(path.join(into, 'operator.yaml'), objects.join(''))
    const monitoring = monitoringObjects().map((object) => `---\n${writeYaml(object)}`)
    writeFileSync(path.join(into, 'monitoring.yaml'), monitoring.join(''))
    writeFileSync(path.join(into, 'grafana-dashboard.json'), `${JSON.stringify(grafanaDashboard(), null, 2)}\n`)
    const bundle = `stackloom-operator-bundle-${version}`
    writeFiles(bundleFiles({ version, image, date }), path.join(work, bundle))
    archive(bundle, `${bundle}.tgz`)

    for (const platform of platforms) {
      const folder = `stackloom-${version}-${platform}`
      cpSync(path.join(staged, 'man'), path.join(work, folder, 'share/man/man1'), { recursive: true })
      cpSync('data/completion', path.join(work, folder, 'share/completion'), { recursive: true })
      for (const name of commonFiles) cpSync(name, path.join(work, folder, name))
      mkdirSync(path.join(work, folder, 'bin'))
      await buildExecutable(staged, platform, path.join(work, folder, 'bin/stackloom'))
      archive(folder, `${folder}.tar.gz`)
      rmSync(path.join(work, folder), { recursive: true })
    }
    writeFileSync(path.join(into, 'sbom.cdx.json'), `${JSON.stringify(await makeSbom(version, date), null, 2)}\n`)
    const sums = await hashFiles(into)
    const source = repository
      ? `${repository}/releases/download/v${version}`
      : `https://stackloom.dev/releases/v${version}`
    const downloads = platforms.map((platform): Download => {
      const name = `stackloom-${version}-${platform}.tar.gz`
      return { platform, url: `${source}/${name}`, sha256: sums.get(name) ?? '' }
    })
    writeFileSync(path.join(into, 'krew.yaml'), krewManifest(version, downloads))
    writeFileSync(path.join(into, 'stackloom.rb'), homebrewFormula(version, downloads))
    writeFileSync(path.join(into, 'SHA256SUMS'), checksumFile(await hashFiles(into)))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The same for every build of a commit. */
function commitTime(): number {
  const given = process.env['SOURCE_DATE_EPOCH']
  return Number(given ?? execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }))
}

function writeFiles(files: ReadonlyMap<string, string>, into: string): void {
  for (const [name, text] of files) {
    mkdirSync(path.dirname(path.join(into, name)), { recursive: true })
    writeFileSync(path.join(into, name), text)
  }
}

/** Sorted, dated, without the user of this machine. */
function packFolder(parent: string, folder: string, archive: string, seconds: number): void {
  const stable = [
    '--sort=name',
    `--mtime=@${seconds}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rw,go=rX',
  ]
  const args = [...stable, '--format=ustar', '--use-compress-program=gzip -n', '-cf', archive, '-C', parent, folder]
  execFileSync('tar', args)
}

async function hashFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const sums = new Map<string, string>()
  for (const name of readdirSync(folder).sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(path.join(folder, name)), hash)
    sums.set(name, hash.digest('hex'))
  }
  return sums
}

/** A pre-release has a word after a dash. */
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { VERSION: version = '', REPOSITORY: repository, IMAGE: image } = process.env
  if (!VERSION.test(version)) throw new Error('give the version: make release VERSION=1.2.3')
  const heading = `## [${version}]`
  if (!readFileSync('CHANGELOG.md', 'utf8').includes(heading)) throw new Error(`CHANGELOG.md has no part "${heading}"`)
  const more = { ...(repository && { repository }), ...(image && { image }) }
  await makeRelease({ version, into: 'dist/release', platforms: executablePlatforms, ...more })
  console.log(readFileSync('dist/release/SHA256SUMS', 'utf8'))
}
