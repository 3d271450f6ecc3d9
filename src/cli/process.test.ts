import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const root = path.join(import.meta.dirname, '../..')
let folder: string
let entry: string
beforeAll(async () => {
  // Below the repository, because the program looks for data/ above itself.
  folder = mkdtempSync(path.join(root, 'node_modules/.stackloom-process-'))
  entry = path.join(folder, 'entry.mjs')
  const banner =
    "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);"
  await build({
    entryPoints: [path.join(root, 'src/cli/entry.ts')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: entry,
    banner: { js: banner },
    logLevel: 'silent',
  })
})
afterAll(() => rmSync(folder, { recursive: true }))

const shell = (command: string) =>
  spawnSync('bash', ['-c', command], {
    encoding: 'utf8',
    env: { ...process.env, NODE: process.execPath, ENTRY: entry },
  })

describe('the process', () => {
  it('fails when its output goes to a full device', () => {
    const { status, stderr } = shell('"$NODE" "$ENTRY" explain > /dev/full')
    expect(stderr).toContain('SL1006')
    expect(stderr).toContain('no space left')
    expect(status).toBe(2)
  })

  it('fails when a file takes only a part of its output', () => {
    const file = path.join(folder, 'part')
    const { status, stderr } = shell(`trap '' XFSZ; ulimit -f 1; "$NODE" "$ENTRY" explain > ${file}`)
    expect(stderr).toContain('SL1006')
    expect(status).toBe(2)
    expect(statSync(file).size).toBe(1024)
  })

  it('writes all of its output to a file', () => {
    const file = path.join(folder, 'all')
    expect(shell(`"$NODE" "$ENTRY" explain > ${file}`).status).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(execFileSync(process.execPath, [entry, 'explain'], { encoding: 'utf8' }))
  })

  it('keeps its exit code when readers close stdout and stderr early', () => {
    const wrong = shell('"$NODE" "$ENTRY" explain SL9 > >(true) 2> >(true); echo "code $?"')
    expect(wrong.stdout).toContain('code 2')
    const fine = shell('set -o pipefail; "$NODE" "$ENTRY" explain | head -n 1')
    expect([fine.status, fine.stderr]).toEqual([0, ''])
  })

  it('ends at the first signal while it waits for input', async () => {
    const child = spawn(process.execPath, [entry, 'plan', '-f', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
    // More than a pipe holds: the write ends when the program reads.
    await new Promise((resolve) => child.stdin.write('#\n'.repeat(500_000), resolve))
    const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    child.kill('SIGTERM')
    expect(await ended).toBe('SIGTERM')
  })

  it('refuses input without an end', () => {
    const { status, stderr } = shell('"$NODE" "$ENTRY" plan -f /dev/zero')
    expect(stderr).toContain('SL1007')
    expect(status).toBe(2)
    expect(shell('"$NODE" "$ENTRY" plan -f - < /dev/zero').stderr).toContain('SL1007')
  })

  it('reads a file as it is', () => {
    const file = path.join(tmpdir(), `stackloom-process-${process.pid}.yaml`)
    writeFileSync(file, 'kind: Nothing\n')
    const { status, stderr } = shell(`"$NODE" "$ENTRY" plan -f ${file}`)
    rmSync(file)
    expect(stderr).toContain('SL1021')
    expect(status).toBe(2)
  })
})
