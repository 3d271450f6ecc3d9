/** Runs the commands of README and docs as a reader would, and compares what they print with what the page shows. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { buildInto } from '../../../tools/build.ts'
import {
  type DocCommand,
  docPages,
  findDocCommands,
  findOutputDifference,
  startsEmpty,
} from '../../../tools/doc-commands.ts'
import { filesBelow } from '../../../tools/files.ts'

vi.setConfig({ testTimeout: 240_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-docs-'))
const program = path.join(folder, 'program')

beforeAll(async () => {
  cpSync('bin', path.join(program, 'bin'), { recursive: true })
  copyFileSync('package.json', path.join(program, 'package.json'))
  await buildInto(path.join(program, 'dist'), 'test')
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pages = docPages(filesBelow('.', 'docs')).map((name) => ({ name, text: readFileSync(name, 'utf8') }))
const withCommands = pages.filter(({ text }) => findDocCommands(text).some(({ notRun }) => notRun === undefined))

it('some pages have commands that need no cluster', () => {
  expect(withCommands.map(({ name }) => name)).toContain('README.md')
  expect(withCommands.length).toBeGreaterThanOrEqual(5)
})

it.each(withCommands)('the commands of $name print what it shows', ({ name, text }) => {
  const cwd = path.join(folder, name.replaceAll('/', '-'))
  mkdirSync(cwd)
  if (!startsEmpty(text)) copyFileSync('examples/two-clouds.yaml', path.join(cwd, 'site.yaml'))
  cpSync('examples/install-yamls', cwd, { recursive: true })
  cpSync('examples', path.join(cwd, 'examples'), { recursive: true })
  const wrong = findDocCommands(text)
    .filter(({ notRun }) => notRun === undefined)
    .flatMap((command) => runDocCommand(command, cwd).map((problem) => `${name}:${command.line}: ${problem}`))
  expect(wrong).toEqual([])
})

function runDocCommand({ command, before = 'true', output }: DocCommand, cwd: string): readonly string[] {
  const bin = path.join(program, 'bin')
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: cwd, NO_COLOR: '1', COLUMNS: '80' }
  const run = (line: string) => spawnSync('bash', ['-c', `exec 2>&1; ${line}`], { cwd, env, encoding: 'utf8' })
  const prepared = run(before)
  if (prepared.status !== 0) return [`${before} ends with ${prepared.status}: ${prepared.stdout}`]
  const { status, stdout } = run(command)
  const expected = output?.some((line) => line.includes('error SL')) ? [1, 2] : [0]
  if (!expected.includes(status ?? -1)) return [`${command} ends with ${status}: ${stdout}`]
  const difference = output && findOutputDifference(output, stdout.trimEnd().split('\n'))
  return difference === undefined ? [] : [`${command} does not print: ${difference}\n${stdout}`]
}
