/** The enclosure of a rehearsal with a process that is killed at any moment: nothing is left on this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { endKept, findKept } from '../../../src/rehearse/kept.ts'
import { resolveSandboxPaths } from '../../../src/sandbox/sandbox-context.ts'
import { count } from '../../counts.ts'
import { requireRoot, requireTool } from '../../tools.ts'
import { MARK, markedProcesses } from './marked-processes.ts'

function start(mark: string, program = 'rehearsal-process.ts', extra: NodeJS.ProcessEnv = {}): ChildProcess {
  const args = ['--import', 'tsx', `test/real/rehearse/${program}`]
  const env = { ...process.env, ...extra, [MARK]: mark }
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function waitFor(child: ChildProcess, word: string): Promise<void> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  while (!text.includes(word)) await sleep(5)
}

describe('the enclosure of a rehearsal', { timeout: 300_000 }, () => {
  beforeEach((context) => {
    requireRoot(context)
    for (const tool of ['unshare', 'nsenter', 'ip', 'mount']) requireTool(context, tool)
  })

  it('keeps interfaces, files and processes inside and removes them when it is closed', async () => {
    const enclosure = await openEnclosure()
    await enclosure.exec({ file: 'ip', args: ['tuntap', 'add', 'dev', 'n0p0', 'mode', 'tap'] })
    const inside = await enclosure.exec({ file: 'ip', args: ['-br', 'link'] })
    expect(inside.stdout).toContain('n0p0')
    expect(readFileSync('/proc/net/dev', 'utf8')).not.toContain('n0p0')
    const script = `touch ${enclosure.inside('started')} && exec sleep 600`
    const sleeper = enclosure.start({ file: 'sh', args: ['-c', script] })
    await expect.poll(() => existsSync(enclosure.outside('started')), { timeout: 30_000 }).toBe(true)
    await enclosure.close()
    expect(await sleeper.exit).toEqual({ kind: 'killed', signal: 'SIGKILL' })
  })

  it('outlives its process when it is kept, until it is ended by its record', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-kept-'))
    const env = { XDG_STATE_HOME: folder }
    const paths = resolveSandboxPaths(env)
    const mark = randomUUID()
    try {
      const child = start(mark, 'keeping-process.ts', env)
      expect(await once(child, 'exit')).toEqual([0, null])
      const kept = await findKept(paths)
      expect(kept).toMatchObject({ site: 'lab', nodes: ['worker-0'] })
      expect(markedProcesses(mark).length).toBeGreaterThan(2)
      expect(await endKept(paths)).toEqual(kept)
      await expect.poll(() => markedProcesses(mark), { timeout: 30_000 }).toEqual([])
    } finally {
      await endKept(paths)
      rmSync(folder, { recursive: true })
    }
  })

  it('ends with its process, which is killed while it opens', async () => {
    const startedAt = performance.now()
    const first = start(randomUUID())
    await waitFor(first, 'opened')
    const openingMs = performance.now() - startedAt
    first.kill('SIGKILL')
    const rounds = count({ test: 6, soak: 60 })
    for (let round = 1; round <= rounds; round += 1) {
      const mark = randomUUID()
      const child = start(mark)
      // From before the first namespace until after the last one.
      await sleep((openingMs * 1.2 * round) / rounds)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await expect.poll(() => markedProcesses(mark), { timeout: 30_000 }).toEqual([])
    }
  })

  it('ends with its process, which is killed while programs run', async () => {
    for (let round = 0; round < count({ test: 3, soak: 30 }); round += 1) {
      const mark = randomUUID()
      const child = start(mark)
      await waitFor(child, 'filled')
      await sleep(round * 7)
      expect(markedProcesses(mark).length).toBeGreaterThan(2)
      child.kill('SIGKILL')
      await once(child, 'exit')
      await expect.poll(() => markedProcesses(mark), { timeout: 30_000 }).toEqual([])
    }
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain('/run/rehearsal')
  })
})
