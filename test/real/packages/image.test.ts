/** Builds the operator's image from the Containerfile with buildah, on a base image that is made here, and runs it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ProcessResult, runProcess, succeeded } from '../../../src/exec/process.ts'
import { ensureImage, ensureImages } from '../../../src/sandbox/images/ensure-images.ts'
import type { ImageDefinition } from '../../../src/sandbox/images/image-definition.ts'
import { buildInto, packageVersion } from '../../../tools/build.ts'
import { nodePath } from '../../../tools/node-versions.ts'
import { serveLockedPackages } from '../../npm-registry.ts'
import { sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-image-'))
const IMAGE = 'localhost/stackloom:built'
let obstacle: string | undefined

afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(({ skip }) => {
  if (obstacle !== undefined) skip(obstacle)
})

/** What the official image of Node has, as far as the Containerfile uses it. */
function baseImage(registry: string): ImageDefinition {
  const npm = path.join(execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(), 'npm')
  return {
    reference: 'localhost/node:24-slim',
    packages: ['libstdc++6', 'dash', 'coreutils'],
    entries: [
      { kind: 'text', path: '/etc/passwd', text: 'root:x:0:0:root:/root:/bin/sh\n' },
      { kind: 'folder', path: '/root', mode: 0o700 },
      { kind: 'folder', path: '/tmp', mode: 0o1777 },
      {
        kind: 'copy',
        path: '/usr/local/bin/node',
        from: existsSync(nodePath('24.21.0')) ? nodePath('24.21.0') : process.execPath,
      },
      { kind: 'copy', path: '/usr/local/lib/node_modules/npm', from: npm },
      { kind: 'link', path: '/usr/local/bin/npm', target: '../lib/node_modules/npm/bin/npm-cli.js' },
      { kind: 'text', path: '/usr/local/etc/npmrc', text: `registry=${registry}\naudit=false\nfund=false\n` },
    ],
    config: { env: { NODE_VERSION: '24' }, command: ['node'] },
  }
}

/** In its own mount namespace: what buildah mounts ends with it. */
function buildah(...args: readonly string[]): Promise<ProcessResult> {
  const storage = ['--root', path.join(folder, 'storage'), '--runroot', path.join(folder, 'run')]
  const line = ['--mount', '--propagation', 'private', 'buildah', ...storage, '--storage-driver', 'overlay', ...args]
  // Not spawnSync: the registry of the build is in this process.
  return runProcess({ file: 'unshare', args: line, env: { HOME: folder } })
}

async function succeed(...args: readonly string[]): Promise<string> {
  const { exit, stdout, stderr } = await buildah(...args)
  if (!succeeded(exit)) throw new Error(`buildah ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

beforeAll(async () => {
  if (process.getuid?.() !== 0) return void (obstacle = 'buildah needs root here')
  if (spawnSync('buildah', ['--version']).status !== 0) return void (obstacle = 'buildah is not installed')
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
  const registry = await serveLockedPackages('package-lock.json', cache)
  if ('missing' in registry) return void (obstacle = `npm's cache does not have ${registry.missing}`)
  try {
    const context = sandboxContext()
    const paths = { ...context.paths, cache: path.join(folder, 'cache') }
    const base = await ensureImage('node', baseImage(registry.url), { ...context, paths })
    await succeed('pull', `oci-archive:${base.archive}`)
    const nodeImage = `localhost/node@${base.digest}`
    const args = { NODE_IMAGE: nodeImage, VERSION: '1.2.3', REVISION: 'abc', SOURCE: 'https://example.org/stackloom' }
    await succeed(
      'build',
      '--isolation=chroot',
      '--network=host',
      '--pull=never',
      ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
      '--tag',
      IMAGE,
      '.',
    )
  } finally {
    registry.close()
  }
})

interface Inspected {
  readonly OCIv1: {
    readonly config: {
      readonly User?: string
      readonly Entrypoint?: readonly string[]
      readonly WorkingDir?: string
      readonly Labels?: Readonly<Record<string, string>>
    }
  }
}

const inspect = async (image: string): Promise<Inspected['OCIv1']['config']> =>
  (JSON.parse(await succeed('inspect', '--type', 'image', image)) as Inspected).OCIv1.config

describe('the image of the Containerfile', () => {
  it('runs as a user without rights and has labels', async () => {
    expect(await inspect(IMAGE)).toMatchObject({
      User: '65532:65532',
      WorkingDir: '/opt/stackloom',
      Labels: {
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': 'abc',
        'org.opencontainers.image.base.name': expect.stringContaining('@sha256:'),
      },
    })
  })

  it('runs the program, with its playbooks and data, and has a list of the packages in it', async () => {
    const container = await succeed('from', '--pull=never', IMAGE)
    const run = (...command: readonly string[]): Promise<string> =>
      succeed('run', '--isolation=chroot', container, '--', ...command)
    const [node = '', program = ''] = (await inspect(IMAGE)).Entrypoint ?? []
    expect(await run(node, program, '--version')).toContain(packageVersion())
    expect(await run(node, program, 'explain', 'SL1244')).toContain('SL1244')
    expect(await run('cat', '/opt/stackloom/dist/playbooks/run-os.yaml')).toContain('hosts:')
    const sbom = JSON.parse(await run('cat', '/opt/stackloom/sbom.cdx.json')) as { components: { name: string }[] }
    const names = sbom.components.map(({ name }) => name)
    expect(names).toContain('yaml')
    expect(names).not.toContain('vitest')
    // Neither sources nor the packages of the build.
    expect((await run('ls', '/opt/stackloom')).split('\n')).toEqual(['bin', 'dist', 'package.json', 'sbom.cdx.json'])
    await succeed('rm', container)
  })

  it('has the layout of the image that the sandbox builds', async () => {
    const programFolder = path.join(folder, 'program')
    mkdirSync(programFolder)
    for (const name of ['package.json', 'bin']) cpSync(name, path.join(programFolder, name), { recursive: true })
    await buildInto(path.join(programFolder, 'dist'), packageVersion())
    const [own] = await ensureImages(['operator'], { ...sandboxContext(), programFolder })
    await succeed('pull', `oci-archive:${own?.archive}`)
    const { User, Entrypoint, WorkingDir } = await inspect(IMAGE)
    expect(await inspect(own?.reference ?? '')).toMatchObject({ User, Entrypoint, WorkingDir })
    const container = await succeed('from', '--pull=never', IMAGE)
    const files = await succeed('run', '--isolation=chroot', container, '--', 'ls', '-R', '/opt/stackloom/dist')
    // The names of chunks have a hash.
    const names = readdirSync(path.join(programFolder, 'dist')).filter((name) => !/-[A-Z0-9]{8}\.js/.test(name))
    expect(names).toEqual(expect.arrayContaining(['data', 'entry.js', 'playbooks', 'sandbox']))
    expect(files.split('\n')).toEqual(expect.arrayContaining(names))
    await succeed('rm', container)
  })

  it('is not built on a base image without a digest', async () => {
    const { exit, stderr } = await buildah(
      'build',
      '--isolation=chroot',
      '--pull=never',
      '--build-arg',
      'NODE_IMAGE=localhost/node:24-slim',
      '.',
    )
    expect(succeeded(exit)).toBe(false)
    expect(stderr).toContain('NODE_IMAGE needs a digest')
  })
})
