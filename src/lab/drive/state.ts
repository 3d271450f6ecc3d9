/**
 * What a lab remembers between runs: which stages are done, and with which inputs. One small file, written by rename.
 *
 * Killed at any instruction, a run leaves either the old memory or the new one: a stage is done again or not, never
 * half remembered.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { STATE_FOLDER } from '../tree.ts'
import { writeFileAtomically } from '../tree-store.ts'

const FILE = `${STATE_FOLDER}/state.json`

export interface LabState {
  /** Fingerprint of what a stage was done with, by stage. */
  readonly stages: Readonly<Record<string, string>>
  /** How often a node's VM was made: what was done in an older one is gone. */
  readonly generations: Readonly<Record<string, number>>
  /** VM generations at the last deployment. */
  readonly deployed?: Readonly<Record<string, number>>
  /** A backup that must be restored after the next deployment. */
  readonly restore?: string
}

const emptyState: LabState = { stages: {}, generations: {} }

export interface StateStore {
  readonly get: () => LabState
  readonly update: (to: (old: LabState) => LabState) => Promise<void>
}

export async function openStateStore(folder: string): Promise<StateStore> {
  let state = await readState(folder)
  return {
    get: () => state,
    update: async (to) => {
      state = to(state)
      writeFileAtomically(folder, { path: FILE, text: `${JSON.stringify(state, null, 1)}\n` })
    },
  }
}

/** For a dry run: remembers nothing. */
export async function openReadOnlyState(folder: string): Promise<StateStore> {
  let state = await readState(folder)
  return { get: () => state, update: async (to) => void (state = to(state)) }
}

async function readState(folder: string): Promise<LabState> {
  try {
    return {
      ...emptyState,
      ...(JSON.parse(await readFile(path.join(folder, FILE), 'utf8')) as Partial<LabState>),
    }
  } catch {
    // Without memory every stage is done again: all of them are idempotent.
    return emptyState
  }
}

export function fingerprint(parts: readonly (string | undefined)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part?.length ?? -1}:${part ?? ''}\n`)
  return hash.digest('hex').slice(0, 24)
}
