/**
 * Keeps what a lab remembers between runs (which stages are done, with which inputs) and the lock of a run.
 *
 * The state is one file that is replaced by rename: a killed run leaves the old state or the new one, never half of it.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { labLocked } from '../findings/lab-run.ts'
import { STATE_FOLDER } from '../tree.ts'
import { writeTreeFile } from '../tree-store.ts'

const STATE_FILE = `${STATE_FOLDER}/state.json`

export interface LabState {
  /** Fingerprint of the inputs of the last successful run, by stage. */
  readonly stages: Readonly<Record<string, string>>
  /** How often the VM of a node was created. */
  readonly generations: Readonly<Record<string, number>>
  /** VM generations at the last deployment. */
  readonly deployed?: Readonly<Record<string, number>>
  /** A backup to restore after the next deployment. */
  readonly restore?: string
}

const emptyState: LabState = { stages: {}, generations: {} }

export interface StateStore {
  readonly get: () => LabState
  readonly update: (change: (old: LabState) => LabState) => Promise<void>
}

export async function openStateStore(folder: string): Promise<StateStore> {
  let state = await readState(folder)
  return {
    get: () => state,
    update: async (change) => {
      state = change(state)
      writeTreeFile(folder, { path: STATE_FILE, text: `${JSON.stringify(state, null, 1)}\n` })
    },
  }
}

/** Keeps updates in memory, for a dry run. */
export async function openReadOnlyState(folder: string): Promise<StateStore> {
  let state = await readState(folder)
  return { get: () => state, update: async (change) => void (state = change(state)) }
}

async function readState(folder: string): Promise<LabState> {
  try {
    const text = await readFile(path.join(folder, STATE_FILE), 'utf8')
    return { ...emptyState, ...(JSON.parse(text) as Partial<LabState>) }
  } catch {
    // Without a state every stage runs again, and all of them are idempotent.
    return emptyState
  }
}

export function fingerprint(parts: readonly (string | undefined)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part?.length ?? -1}:${part ?? ''}\n`)
  return hash.digest('hex').slice(0, 24)
}

/** Allows one run per lab. The lock is valid only while its process is alive, so a killed run blocks no later one. */
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
