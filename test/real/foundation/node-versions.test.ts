/** The built program runs on the oldest, the default and the newest Node, and gives the same bytes on each. */
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, it, type TestContext } from 'vitest'
import { nodePath, nodeVersions } from '../../../tools/node-versions.ts'
import { requireSoak } from '../../counts.ts'
import { useFolder } from '../../folder.ts'

const pureFolders = ['src/net', 'src/ini', 'src/yaml', 'src/site', 'src/plan', 'src/render', 'src/errors']

function requireNode(version: string, ctx: TestContext): string {
  const node = nodePath(version)
  if (!existsSync(node)) ctx.skip(`Node ${version} is not installed; make setup installs it`)
  if (!existsSync('dist/entry.js')) ctx.skip('the program is not built; make build builds it')
  return node
}

/** Runs a short command with its own cache. */
function explain(node: string, cache: string) {
  const env = { ...process.env, XDG_CACHE_HOME: cache }
  const args = [path.resolve('bin/stackloom'), 'explain', 'SL2101']
  const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

function compiledFiles(cache: string): readonly string[] {
  const kept = path.join(cache, 'stackloom/compile-cache')
  return readdirSync(kept, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(kept, name))
    .filter((file) => statSync(file).isFile())
}

describe.each(nodeVersions)('Node %s', (version) => {
  const folder = useFolder()

  /** In a new folder each, because plan writes a lock. */
  function planAndRender(node: string): readonly unknown[] {
    const cwd = mkdtempSync(path.join(folder, 'run-'))
    return [['plan', '-o', 'json'], ['render']].map((words) => {
      const args = [
        path.resolve('bin/stackloom'),
        ...words,
        '-f',
        path.resolve('examples/two-cells.yaml'),
        '--lock',
        'a',
      ]
      const { status, stdout, stderr } = spawnSync(node, args, { encoding: 'utf8', cwd })
      return { status, stdout, stderr }
    })
  }

  it('plans and renders as this Node does, and prints nothing else', (ctx) => {
    const node = requireNode(version, ctx)
    const result = planAndRender(node)
    expect(result).toEqual(planAndRender(process.execPath))
    expect(result).toMatchObject([{ status: 0 }, { status: 0, stdout: expect.stringContaining('kind: ') }])
  }, 120_000)

  it('keeps compiled code in the cache of the user, and does without a folder for it', (ctx) => {
    const node = requireNode(version, ctx)
    const cache = mkdtempSync(path.join(folder, 'cache-'))
    const file = path.join(cache, 'file')
    writeFileSync(file, '')
    const first = explain(node, cache)
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('SL2101'), stderr: '' })
    expect(explain(node, cache)).toEqual(first)
    expect(explain(node, file)).toEqual(first)
    expect(existsSync(path.join(cache, 'stackloom/compile-cache'))).toBe(true)
  }, 120_000)

  it('runs no compiled code that is damaged, and none of another user', (ctx) => {
    const node = requireNode(version, ctx)
    const cache = mkdtempSync(path.join(folder, 'cache-'))
    const first = explain(node, cache)
    const damaged = compiledFiles(cache)
    expect(damaged.length).toBeGreaterThan(1)
    for (const file of damaged) {
      const bytes = readFileSync(file)
      // After the header: half of what V8 would run.
      writeFileSync(file, bytes.fill(0x55, bytes.length >> 1))
    }
    expect(explain(node, cache)).toEqual(first)
    if (process.getuid?.() !== 0) return
    const kept = path.join(cache, 'stackloom/compile-cache')
    rmSync(kept, { recursive: true })
    mkdirSync(kept)
    chownSync(kept, 65534, 65534)
    expect(explain(node, cache)).toEqual(first)
    expect(readdirSync(kept)).toEqual([])
  }, 120_000)

  it('passes the unit tests of the pure folders', (ctx) => {
    requireSoak(ctx)
    const node = requireNode(version, ctx)
    const { STACKLOOM_SOAK: _, ...env } = process.env
    const { status, stdout } = spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run', ...pureFolders], {
      encoding: 'utf8',
      env,
    })
    expect(status, stdout).toBe(0)
  }, 1_800_000)
})
