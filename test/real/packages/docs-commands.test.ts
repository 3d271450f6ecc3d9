/** Runs the commands of README and docs that need no cluster, each page in a folder of its own. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findDocCommands, startsEmpty } from '../../../tools/doc-commands.ts'
import { buildForDocs, makeReaderFolder, readDocPages, runDocCommands } from '../../doc-runner.ts'

vi.setConfig({ testTimeout: 240_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-docs-'))
let bin = ''

beforeAll(async () => {
  bin = await buildForDocs(path.join(folder, 'program'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const withCommands = readDocPages()
  .map((page) => ({
    ...page,
    commands: findDocCommands(page.text)
      .filter(({ notRun, sandbox }) => notRun === undefined && sandbox === undefined)
      .map((command) => ({ ...command, page: page.name })),
  }))
  .filter(({ commands }) => commands.length > 0)

it('some pages have commands that need no cluster', () => {
  expect(withCommands.map(({ name }) => name)).toContain('README.md')
  expect(withCommands.length).toBeGreaterThanOrEqual(5)
})

it.each(withCommands)('the commands of $name print what it shows', async ({ name, text, commands }) => {
  const cwd = path.join(folder, name.replaceAll('/', '-'))
  makeReaderFolder(cwd)
  if (!startsEmpty(text)) copyFileSync('examples/two-clouds.yaml', path.join(cwd, 'site.yaml'))
  expect(await runDocCommands(commands, { bin, cwd })).toEqual([])
})
