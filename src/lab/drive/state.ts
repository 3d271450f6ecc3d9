/**
 * Keeps what a lab remembers between runs (which stages are done, with which inputs) and the lock of a run.
 *
 * The state is one file that is replaced by rename: a killed run leaves the old state or the new one, never half of it.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { failure } from '../../errors/failure.ts'
import { tryLockFile } from '../../exec/file-lock.ts'
import { labLocked, toolMissing } from '../findings/lab-run.ts'
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

/** Allows one run per lab. A killed run blocks no later one, because the lock ends with its process. */
export async function withLabLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = path.join(folder, STATE_FOLDER, 'lock')
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const lock = tryLockFile(file)
  switch (lock.kind) {
    case 'held':
      throw failure(labLocked, { holder: lock.holder, folder }, { exitCode: 1 })
    case 'unable': {
      const how = 'install util-linux, which has flock: runs of one lab must not overlap'
      throw failure(toolMissing, { tool: lock.program, why: lock.why, how }, { exitCode: 1 })
    }
    case 'locked':
      try {
        return await work()
      } finally {
        lock.release()
      }
  }
}
