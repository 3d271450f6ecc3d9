/** Runs the script of the GitHub Action as the runner does, with the packed package, and checks the pre-commit hook. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { packNpm, stageNpmPackage } from '../../../tools/release-npm.ts'
import { findSarifMultitool } from '../../../tools/sarif-multitool.ts'
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

describe('actionlint', () => {
  let program: string | undefined
  beforeEach(async (ctx) => {
    program = await findTestProgram('actionlint')
    if (!program) ctx.skip('actionlint is not built; `make test SUITE=packages` builds it')
  })

  const lint = (cwd: string) => spawnSync(program ?? '', ['-no-color', '-shellcheck='], { cwd, encoding: 'utf8' })

  /** In a repository with the action at its root. */
  function lintUse(inputs: string): string {
    const repository = mkdtempSync(path.join(folder, 'repository-'))
    for (const name of ['.git', '.github/workflows']) mkdirSync(path.join(repository, name), { recursive: true })
    copyFileSync('action.yml', path.join(repository, 'action.yml'))
    const step = `{uses: ./, with: ${inputs}}`
    const workflow = `on: push\njobs: {plan: {runs-on: ubuntu-latest, steps: [${step}]}}\n`
    writeFileSync(path.join(repository, '.github/workflows/use.yml'), workflow)
    return lint(repository).stdout
  }

  it('passes the workflows', () => {
    const { status, stdout } = lint('.')
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  it('passes a workflow that uses the action, and refuses an input that the action does not have', () => {
    expect(lintUse('{file: site.yaml, package: stackloom@0.1.0, sarif: findings.sarif}')).toBe('')
    expect(lintUse('{files: site.yaml}')).toContain('input "files" is not defined')
  })
})

describe('SARIF', () => {
  const example = readFileSync('examples/two-clouds.yaml', 'utf8')

  it.for([
    ['of a site without errors', example],
    ['of a site with an error and owners', example.replace('vlan: 30', 'vlan: 20')],
    ['of a file that is no site', 'kind: [Site'],
    ['of a field that does not exist', example.replace('namespace: openstack2', 'namspace: openstack2')],
  ] as const)('%s passes the validation of its standard and the rules of GitHub', ([, text], ctx) => {
    const multitool = findSarifMultitool()
    if (multitool === undefined) ctx.skip('the SARIF Multitool is missing; `make test SUITE=packages` installs it')
    const cwd = mkdtempSync(path.join(folder, 'sarif-'))
    writeFileSync(path.join(cwd, 'site.yaml'), text)
    const program = path.join(folder, 'staged/bin/stackloom')
    const { stdout } = spawnSync(process.execPath, [program, 'plan', '--check', '-o', 'sarif'], {
      cwd,
      encoding: 'utf8',
    })
    writeFileSync(path.join(cwd, 'findings.sarif'), stdout)
    const args = ['validate', 'findings.sarif', '--rule-kind', 'Sarif;Ghas']
    // It needs no library for languages then.
    const env = { PATH: process.env['PATH'], HOME: cwd, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1' }
    const judged = spawnSync(multitool ?? '', args, { cwd, encoding: 'utf8', env })
    expect(judged.stdout.split('\n').filter((line) => / (error|warning) \w+:/.test(line))).toEqual([])
    expect({ status: judged.status, stdout: judged.stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('1 file'),
    })
  })
})
