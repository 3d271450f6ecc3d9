/** One run at a time per lab. The lock counts only while its process lives, so a killed run stops nobody. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { labLocked } from '../findings/lab-run.ts'
import { STATE_FOLDER } from '../tree.ts'

export async function withLabLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = path.join(folder, STATE_FOLDER, 'lock')
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  await acquire(file, folder)
  try {
    return await work()
  } finally {
    await rm(file, { force: true })
  }
}

async function acquire(file: string, folder: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await writeFile(file, `${process.pid}\n`, { flag: 'wx' })
      return
    } catch {
      const pid = Number.parseInt(await readFile(file, 'utf8').catch(() => ''), 10)
      if (attempt > 2 || (pid > 0 && isAlive(pid))) throw failure(labLocked, { pid, folder }, { exitCode: 1 })
      await rm(file, { force: true })
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
