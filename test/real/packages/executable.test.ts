/** Builds the single executables, and uses the one that this machine can run as a new user would. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { resolveSandboxPaths } from '../../../src/sandbox/sandbox-context.ts'
import { nodePath } from '../../../tools/node-versions.ts'
import { buildExecutable, executablePlatforms, NODE, type Platform } from '../../../tools/release-executable.ts'
import { stageNpmPackage } from '../../../tools/release-npm.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'
import { runQuickStart } from '../../quick-start.ts'

vi.setConfig({ testTimeout: 180_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-executable-'))
const staged = path.join(folder, 'staged')
const bin = path.join(folder, 'bin')
const executable = path.join(bin, 'stackloom')
const canRun = process.platform === 'linux' && process.arch === 'x64' && existsSync(nodePath(NODE))

beforeAll(async () => {
  mkdirSync(bin)
  await stageNpmPackage(staged, { version: '9.8.7' })
  if (canRun) await buildExecutable(staged, 'linux-x64', executable)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  spawnSync(executable, args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin', ...env } })

function requireNode(ctx: TestContext): void {
  if (!canRun) ctx.skip(`needs linux x64 and Node ${NODE}; \`make setup\` installs it`)
}

describe('the executable', () => {
  beforeEach(requireNode)

  it('runs the quick start on a machine without Node', () => {
    const { plan, render } = runQuickStart(bin, '/usr/bin:/bin')
    expect([plan.status, render.status]).toEqual([0, 0])
    expect(plan.stdout).toMatch(/rhoso2.*internalapi.*172\.17\.1\.0\/24/)
  })

  it('unpacks itself once, also when several start at the same time', () => {
    const home = path.join(folder, 'home')
    const start = `"${executable}" --version`
    const { stdout } = spawnSync('sh', ['-c', `${start} & ${start} & ${start} & wait`], {
      encoding: 'utf8',
      env: { HOME: home, PATH: '/usr/bin:/bin' },
    })
    expect(stdout).toBe('9.8.7\n9.8.7\n9.8.7\n')
    const unpacked = readdirSync(path.join(home, '.cache/stackloom'))
    expect(unpacked).toEqual([expect.stringMatching(/^executable-[0-9a-f]{16}$/)])
  })

  it('starts where the home is no folder, and leaves nothing behind', () => {
    const temporary = path.join(folder, 'tmp')
    mkdirSync(temporary)
    const { stdout, stderr } = run(['--version'], { HOME: '/dev/null', TMPDIR: temporary })
    expect({ stdout, stderr }).toEqual({ stdout: '9.8.7\n', stderr: '' })
    expect(readdirSync(temporary)).toEqual([])
  })

  it('starts itself as the supervisor of a sandbox', (ctx) => {
    const { cache } = resolveSandboxPaths(process.env)
    if (!existsSync(path.join(cache, 'prepared'))) ctx.skip('the programs of the sandbox are not built; `make setup`')
    const own = path.join(folder, 'cache/stackloom')
    mkdirSync(own, { recursive: true })
    for (const name of ['programs', 'crds', 'prepared']) symlinkSync(path.join(cache, name), path.join(own, name))
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      XDG_CACHE_HOME: path.join(folder, 'cache'),
      XDG_STATE_HOME: path.join(folder, 'state'),
    }
    try {
      const { status, stderr } = run(['sandbox', 'start', '--name', 'exe', '--crd', 'none', '--no-netns'], env)
      expect({ status, stderr }).toMatchObject({ status: 0 })
      expect(run(['sandbox', 'status', '--name', 'exe'], env).stdout).toContain('exe')
    } finally {
      run(['sandbox', 'reset', '--name', 'exe'], env)
    }
  })
})

/** The first bytes and the machine field: what the kernel of each platform reads first. */
const headers: Readonly<Record<Platform, string>> = {
  'linux-x64': '7f454c46 3e00',
  'linux-arm64': '7f454c46 b700',
  'darwin-x64': 'cffaedfe 07000001',
  'darwin-arm64': 'cffaedfe 0c000001',
}

function readHeader(file: string): string {
  const bytes = Buffer.alloc(20)
  readSync(openSync(file, 'r'), bytes, 0, 20, 0)
  const magic = bytes.toString('hex', 0, 4)
  return `${magic} ${magic === '7f454c46' ? bytes.toString('hex', 18, 20) : bytes.toString('hex', 4, 8)}`
}

describe('an executable for another platform', () => {
  beforeEach(requireNode)

  it.for(executablePlatforms.filter((platform) => platform !== 'linux-x64'))(
    '%s has its header, the program, and a signature where one is needed',
    { timeout: 300_000 },
    async (platform, ctx) => {
      // Each takes a minute of a busy core, and is built by the same lines as the one above.
      if (process.env['STACKLOOM_BUILD_ALL'] !== '1') ctx.skip('built by `make test SUITE=packages` only')
      const isMac = platform.startsWith('darwin')
      if (isMac && !(await findTestProgram('quill')))
        ctx.skip('quill is not built; `make test SUITE=packages` builds it')
      const output = path.join(folder, `stackloom-${platform}`)
      await buildExecutable(staged, platform, output)
      chmodSync(output, 0o755)
      expect(readHeader(output)).toBe(headers[platform])
      // The list of files in the executable.
      expect(execFileSync('grep', ['-c', '-a', '"dist/entry.js"', output], { encoding: 'utf8' })).toBe('1\n')
      if (isMac) expect(spawnSync('grep', ['-q', '-a', 'stackloom-ad-hoc', output]).status).toBe(0)
      rmSync(output)
    },
  )
})
