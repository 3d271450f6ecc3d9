/** Runs the script of the GitHub Action as the runner does, with the packed package, and checks the pre-commit hook. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { packNpm, stageNpmPackage } from '../../../tools/release-npm.ts'
import { findTestProgram } from '../../../tools/test-programs.ts'

vi.setConfig({ testTimeout: 120_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-ci-'))
let archive = ''

beforeAll(async () => {
  await stageNpmPackage(path.join(folder, 'staged'), { version: '9.8.7' })
  archive = packNpm(path.join(folder, 'staged'), folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>
  readonly runs: { readonly steps: readonly { readonly run: string; readonly env: Readonly<Record<string, string>> }[] }
}

const action = parse(readFileSync('action.yml', 'utf8')) as Action

/** Fills the inputs into the environment, and runs the script with the options of the runner's `shell: bash`. */
function runAction(inputs: Readonly<Record<string, string>>, cwd: string) {
  const [step] = action.runs.steps
  const values = {
    ...Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default])),
    ...inputs,
  }
  const env = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, expression]) => {
      const input = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(expression)?.[1] ?? ''
      return [name, values[input] ?? '']
    }),
  )
  const shell = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? '']
  const npm = { npm_config_offline: 'true', npm_config_cache: path.join(folder, 'npm-cache') }
  return spawnSync('bash', shell, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder, ...npm, ...env },
  })
}

describe('the GitHub Action', () => {
  const cwd = path.join(folder, 'checkout')

  it('fails with an annotation for a site without a lock, and writes SARIF', () => {
    mkdirSync(path.join(cwd, 'my site'), { recursive: true })
    copyFileSync('examples/two-clouds.yaml', path.join(cwd, 'my site/site.yaml'))
    const inputs = { package: archive, file: 'my site/site.yaml', sarif: 'findings.sarif' }
    const { status, stdout } = runAction(inputs, cwd)
    expect(status).not.toBe(0)
    expect(stdout).toMatch(/^::(error|warning) /m)
    const sarif = JSON.parse(readFileSync(path.join(cwd, 'findings.sarif'), 'utf8')) as { readonly version: string }
    expect(sarif.version).toBe('2.1.0')
  })

  it('passes for a site whose lock is up to date, and runs no part of an input', () => {
    const planned = spawnSync(
      process.execPath,
      [path.join(folder, 'staged/bin/stackloom'), 'plan', '-f', 'my site/site.yaml'],
      {
        cwd,
      },
    )
    expect(planned.status).toBe(0)
    expect(runAction({ package: archive, file: 'my site/site.yaml' }, cwd).status).toBe(0)
    expect(runAction({ package: archive, file: '$(touch hacked)"; touch hacked; "' }, cwd).status).not.toBe(0)
    expect(existsSync(path.join(cwd, 'hacked'))).toBe(false)
  })
})

it('the pre-commit hook runs a program that the package has', () => {
  const [hook] = parse(readFileSync('.pre-commit-hooks.yaml', 'utf8')) as readonly Readonly<Record<string, string>>[]
  const { bin, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >
  expect(Object.keys(bin ?? {})).toContain(hook?.['entry']?.split(' ')[0])
  // pre-commit packs the repository, so the package must be built then.
  expect(scripts?.['prepack']).toContain('tools/build.ts')
  expect(
    'site.yaml site.lock.yaml a/site.yaml'.split(' ').every((name) => new RegExp(hook?.['files'] ?? '').test(name)),
  ).toBe(true)
  expect(new RegExp(hook?.['files'] ?? '').test('mysite.yaml')).toBe(false)
})

it('the workflows pass actionlint', async (ctx) => {
  const program = await findTestProgram('actionlint')
  if (!program) ctx.skip('actionlint is not built; `make test SUITE=packages` builds it')
  const { status, stdout } = spawnSync(program ?? '', ['-no-color', '-shellcheck='], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})
