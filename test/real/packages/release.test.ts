/** Makes a release twice and compares; checks the archives with the programs that read them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { nodePath } from '../../../tools/node-versions.ts'
import { makeRelease } from '../../../tools/release.ts'
import { NODE } from '../../../tools/release-executable.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'
import { runDocCommands } from '../../doc-runner.ts'
import { sandboxCommands } from '../../doc-sandboxes.ts'
import { sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-release-test-'))
const first = path.join(folder, 'first')
const second = path.join(folder, 'second')
/** An executable takes a minute of a busy core to build and pack, so it is part of a named run only. */
const withExecutable = process.env['STACKLOOM_BUILD_ALL'] === '1' && existsSync(nodePath(NODE))
const platforms = withExecutable ? (['linux-x64'] as const) : []
const options = { version: '9.8.7', platforms, repository: 'https://example.org/owner/stackloom' }

beforeAll(() => makeRelease({ ...options, into: first }))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (name: string): string => readFileSync(path.join(first, name), 'utf8')

describe('a release', () => {
  it('has checksums of all its files', () => {
    const { status } = spawnSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: first })
    expect(status).toBe(0)
    const listed = read('SHA256SUMS')
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1])
    expect(
      readdirSync(first)
        .filter((name) => name !== 'SHA256SUMS')
        .toSorted(),
    ).toEqual(listed.filter((name) => name !== undefined).toSorted())
  })

  it('has the same bytes when it is made again', async () => {
    await makeRelease({ ...options, into: second })
    expect(readFileSync(path.join(second, 'SHA256SUMS'), 'utf8')).toBe(read('SHA256SUMS'))
  })

  it('lists the packages in the program, and no tool of the checkout', () => {
    const sbom = JSON.parse(read('sbom.cdx.json')) as { components: { name: string }[]; bomFormat: string }
    const names = sbom.components.map(({ name }) => name)
    expect(sbom.bomFormat).toBe('CycloneDX')
    expect(names).toEqual(expect.arrayContaining(['commander', 'yaml', 'undici', 'zod']))
    expect(names.filter((name) => /vitest|typescript|esbuild|oxlint/.test(name))).toEqual([])
  })

  it('names nothing of this machine', () => {
    for (const name of readdirSync(first).filter((file) => /\.(yaml|rb|json)$|SUMS$/.test(file))) {
      expect(read(name)).not.toContain(process.cwd())
      expect(read(name)).not.toContain(path.join(tmpdir(), 'stackloom-'))
    }
    const listing = execFileSync('tar', ['-tvzf', path.join(first, 'stackloom-operator-9.8.7.tgz')], {
      encoding: 'utf8',
    })
    expect(
      listing
        .trim()
        .split('\n')
        .filter((line) => !/ 0\/0 /.test(line)),
    ).toEqual([])
  })

  it('has an archive with program, man pages and completions', (ctx) => {
    if (!withExecutable) ctx.skip('built by `make test SUITE=packages` only')
    const archive = path.join(first, 'stackloom-9.8.7-linux-x64.tar.gz')
    const files = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' })
    for (const name of [
      'bin/stackloom',
      'share/man/man1/stackloom-plan.1',
      'share/completion/stackloom.zsh',
      'LICENSE',
    ]) {
      expect(files).toContain(`stackloom-9.8.7-linux-x64/${name}\n`)
    }
    expect(read('krew.yaml')).toContain('https://example.org/owner/stackloom/releases/download/v9.8.7/')
    const sum = createHash('sha256').update(readFileSync(archive)).digest('hex')
    expect(read('krew.yaml')).toMatch(new RegExp(`sha256: "?${sum}"?\\n`))
    expect(read('stackloom.rb')).toContain(`sha256 "${sum}"`)
    execFileSync('tar', ['-xzf', archive, '-C', folder])
    const program = path.join(folder, 'stackloom-9.8.7-linux-x64/bin/stackloom')
    expect(execFileSync(program, ['--version'], { encoding: 'utf8', env: { HOME: folder } })).toBe('9.8.7\n')
  })

  it('is unpacked and installed by krew as the guide says', async (ctx) => {
    if (!withExecutable) ctx.skip('built by `make test SUITE=packages` only')
    const krew = (await findTestProgram('krew')) ?? ctx.skip('krew is not built; `make test SUITE=packages` builds it')
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    const bin = path.join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(krew, path.join(bin, 'kubectl-krew'))
    symlinkSync(kubectl, path.join(bin, 'kubectl'))
    const cwd = path.join(folder, 'downloaded')
    cpSync(first, cwd, { recursive: true })
    const root = path.join(folder, 'guide-krew')
    const env = { KREW_ROOT: root, PATH: `${root}/bin:${bin}:${process.env['PATH']}` }
    expect(await runDocCommands(sandboxCommands('release'), { bin, cwd, env })).toEqual([])
  })

  it('is installed by krew as a plugin of kubectl, by the checksum in its manifest', async (ctx) => {
    if (!withExecutable) ctx.skip('built by `make test SUITE=packages` only')
    const krew = (await findTestProgram('krew')) ?? ctx.skip('krew is not built; `make test SUITE=packages` builds it')
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    const root = path.join(folder, 'krew')
    const env = { HOME: folder, KREW_ROOT: root, PATH: `${root}/bin:${process.env['PATH']}` }
    const archive = path.join(first, 'stackloom-9.8.7-linux-x64.tar.gz')
    execFileSync(krew, ['install', `--manifest=${path.join(first, 'krew.yaml')}`, `--archive=${archive}`], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(execFileSync(kubectl, ['stackloom', '--version'], { encoding: 'utf8', env })).toBe('9.8.7\n')
    // The manifest has the checksum of this archive, so krew takes no other.
    const other = path.join(first, 'stackloom-operator-9.8.7.tgz')
    const wrong = spawnSync(krew, ['install', `--manifest=${path.join(first, 'krew.yaml')}`, `--archive=${other}`], {
      env: { ...env, KREW_ROOT: path.join(folder, 'other-krew') },
      encoding: 'utf8',
    })
    expect(wrong.status).not.toBe(0)
    expect(wrong.stderr).toContain('checksum')
  })
})
