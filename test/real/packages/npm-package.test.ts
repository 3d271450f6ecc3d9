/** Installs the npm package into an empty prefix without a network, and uses it as a new user would. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packageVersion } from '../../../tools/build.ts'
import { nodePath, nodeVersions } from '../../../tools/node-versions.ts'
import { packNpm, stageNpmPackage } from '../../../tools/release-npm.ts'
import { makeReaderFolder, runDocCommands } from '../../doc-runner.ts'
import { sandboxCommands } from '../../doc-sandboxes.ts'
import { servePackage } from '../../npm-registry.ts'
import { runInstalled, runQuickStart } from '../../quick-start.ts'

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-npm-'))
const prefix = path.join(folder, 'prefix')
const bin = path.join(prefix, 'bin')
let archive = ''

beforeAll(async () => {
  const staged = path.join(folder, 'staged')
  await stageNpmPackage(staged, { version: '9.8.7' })
  archive = packNpm(staged, folder)
  const cache = path.join(folder, 'empty-cache')
  execFileSync('npm', ['install', '--global', '--offline', '--cache', cache, '--prefix', prefix, archive], {
    stdio: 'ignore',
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Manifest {
  readonly [field: string]: unknown
  readonly scripts?: unknown
  readonly dependencies?: unknown
  readonly engines?: { readonly node: string }
}

describe('the npm package', () => {
  it('has the program and its data, nothing else, in less than 3 MB', () => {
    const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n')
    const other = files.filter(
      (file) => !/^package\/(bin\/|dist\/|man\/|package\.json$|README\.md$|LICENSE$)/.test(file),
    )
    expect(other).toEqual([])
    expect(files.filter((file) => /\.(map|ts)$/.test(file))).toEqual([])
    expect(statSync(archive).size).toBeLessThan(3_000_000)
  })

  it('has a man page of every command, where `man` finds it', () => {
    const page = (name: string): string => readFileSync(path.join(prefix, 'share/man/man1', name), 'utf8')
    expect(page('stackloom.1')).toContain('.B stackloom plan')
    expect(page('stackloom-hosts-remove.1')).toContain('stackloom 9.8.7')
  })

  it('needs no other package, no script and no newer Node than it says', () => {
    const manifest = JSON.parse(readFileSync(path.join(prefix, 'lib/node_modules/stackloom/package.json'), 'utf8'))
    const { scripts, dependencies, devDependencies, overrides, engines, version, publishConfig } = manifest as Manifest
    expect({ scripts, dependencies, devDependencies, overrides, version }).toEqual({ version: '9.8.7' })
    expect(engines).toEqual({ node: '>=20.19' })
    expect(publishConfig).toEqual({ access: 'public', provenance: true })
    expect(existsSync(path.join(prefix, 'lib/node_modules/stackloom/node_modules'))).toBe(false)
  })

  it('runs the quick start without a cluster', () => {
    const { init, plan, render, site } = runQuickStart(bin)
    expect([init.status, plan.status, render.status]).toEqual([0, 0, 0])
    expect(site).toContain('kind: Site')
    expect(plan.stdout).toMatch(/rhoso2.*internalapi.*172\.17\.1\.0\/24/)
    expect(render.stderr + render.stdout).toContain('tree')
  })

  it('is installed and run by the commands of README and guides, from a registry', async () => {
    const version = packageVersion()
    const cwd = path.join(folder, 'reader')
    await makeReaderFolder(cwd)
    cpSync('examples/two-clouds.yaml', path.join(cwd, 'site.yaml'))
    const staged = path.join(folder, 'published')
    await stageNpmPackage(staged, { version })
    const published = packNpm(staged, cwd)
    const manifest = JSON.parse(readFileSync(path.join(staged, 'package.json'), 'utf8')) as Parameters<
      typeof servePackage
    >[1]
    const registry = await servePackage(published, manifest)
    const env = {
      npm_config_registry: registry.url,
      npm_config_prefix: path.join(folder, 'other-prefix'),
      npm_config_cache: path.join(folder, 'other-cache'),
      npm_config_update_notifier: 'false',
    }
    try {
      const bin = path.join(folder, 'other-prefix/bin')
      expect(await runDocCommands(sandboxCommands('npm'), { bin, cwd, env })).toEqual([])
      expect(runInstalled('stackloom', ['--version'], bin, folder).stdout).toBe(`${version}\n`)
    } finally {
      registry.close()
    }
  })

  it('prints its version, and is a plugin of kubectl with completion', () => {
    expect(runInstalled('stackloom', ['--version'], bin, folder).stdout).toBe('9.8.7\n')
    expect(runInstalled('kubectl-stackloom', ['--version'], bin, folder).stdout).toBe('9.8.7\n')
    expect(runInstalled('kubectl_complete-stackloom', ['pla'], bin, folder).stdout).toContain('plan')
  })

  it('has the pins of the sandbox and the playbooks of the operator', () => {
    const status = runInstalled('stackloom', ['sandbox', 'status'], bin, folder)
    expect(status.stderr).not.toContain('SL1000')
    const inPackage = (name: string): boolean => existsSync(path.join(prefix, 'lib/node_modules/stackloom/dist', name))
    expect(
      ['playbooks/run-os.yaml', 'playbooks/callback/stackloom_events.py'].filter((name) => !inPackage(name)),
    ).toEqual([])
    expect(['sandbox/crds.json', 'sandbox/kubernetes/go.sum', 'sandbox/lima'].filter(inPackage)).toEqual([
      'sandbox/crds.json',
      'sandbox/kubernetes/go.sum',
    ])
  })

  it.for([nodeVersions[0], nodeVersions.at(-1) ?? ''])('runs the quick start on Node %s', (version, ctx) => {
    const node = nodePath(version)
    if (!existsSync(node)) ctx.skip(`Node ${version} is not installed; \`make setup\` installs it`)
    const { plan, render } = runQuickStart(`${path.dirname(node)}:${bin}`)
    expect([plan.status, render.status]).toEqual([0, 0])
  })
})
