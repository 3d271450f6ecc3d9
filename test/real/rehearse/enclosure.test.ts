/** The enclosure of a rehearsal with a process that is killed at any moment: nothing is left on this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { count } from '../../counts.ts'
import { requireRoot, requireTool } from '../../tools.ts'
import { MARK, markedProcesses } from './marked-processes.ts'

function start(mark: string): ChildProcess {
  const args = ['--import', 'tsx', 'test/real/rehearse/rehearsal-process.ts']
  const env = { ...process.env, [MARK]: mark }
  return spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function waitFor(child: ChildProcess, word: string): Promise<void> {
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  while (!text.includes(word)) await sleep(5)
}

describe('the enclosure of a rehearsal', { timeout: 120_000 }, () => {
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

  it('ends with its process, which is killed while it opens', async () => {
    for (let round = 0; round < count({ test: 6, soak: 60 }); round += 1) {
      const mark = randomUUID()
      const child = start(mark)
      // From before the first namespace until after the last one.
      await sleep(round * 120)
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
