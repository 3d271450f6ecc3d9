import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { useFolder } from '../../test/folder.ts'
import { tryLockFile } from './file-lock.ts'

const folder = useFolder()
const script = path.resolve(import.meta.dirname, '../../test/lock-process.ts')
const lines = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []

function startLocking(file: string, rounds: number) {
  const journal = `${file}.journal`
  const args = ['--import', 'tsx', script, file, journal, String(rounds)]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  return { child, journal, exited: once(child, 'exit') }
}

describe('a file lock', { timeout: 120_000 }, () => {
  it('is never held by two processes, however many ask', async () => {
    const file = path.join(folder, 'many')
    const rounds = count({ test: 15, soak: 200 })
    const processes = Array.from({ length: 6 }, () => startLocking(file, rounds))
    await Promise.all(processes.map(({ exited }) => exited))
    const entries = lines(`${file}.journal`)
    expect(entries.filter((entry) => entry === 'overlap')).toEqual([])
    expect(entries).toHaveLength(6 * rounds)
  })

  it('stays with a process that is paused, and is free when the process was killed', async () => {
    const file = path.join(folder, 'paused')
    const { child, journal, exited } = startLocking(file, 1_000_000)
    await expect.poll(() => lines(journal).length, { timeout: 30_000 }).toBeGreaterThan(1)
    // Paused until it is paused inside of the lock, after it wrote its own id.
    for (;;) {
      child.kill('SIGSTOP')
      await expect.poll(() => readFileSync(`/proc/${child.pid}/stat`, 'utf8')).toMatch(/\) T /)
      const attempt = tryLockFile(file)
      if (attempt.kind === 'held' && attempt.holder === String(child.pid)) break
      if (attempt.kind === 'locked') attempt.release()
      child.kill('SIGCONT')
    }
    child.kill('SIGKILL')
    await exited
    const freed = tryLockFile(file)
    expect(freed.kind).toBe('locked')
    if (freed.kind === 'locked') freed.release()
  })

  it('does not hold a file that was removed and created again', () => {
    const file = path.join(folder, 'replaced')
    const first = tryLockFile(file)
    rmSync(file)
    writeFileSync(file, '')
    const second = tryLockFile(file)
    expect([first.kind, second.kind]).toEqual(['locked', 'locked'])
    expect(tryLockFile(file).kind).toBe('held')
    for (const lock of [first, second]) if (lock.kind === 'locked') lock.release()
  })
})
