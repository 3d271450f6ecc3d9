/** A step of a stage, as data: it can be printed before it is done, and it is done exactly as printed. */
import type { Failure } from '../../errors/failure.ts'
import type { ProcessResult } from '../../exec/process.ts'
import type { TreeFile } from '../tree.ts'
import type { LabState } from './state.ts'

export interface RunStep {
  readonly kind: 'run'
  readonly command: readonly string[]
  /** For people: `node1 starts`. */
  readonly description: string
  /** A file of the tree that goes to its standard input. */
  readonly inputFile?: string
  /** What its output means; nothing when all is well. */
  readonly checkOutput?: (finished: ProcessResult) => Failure | undefined
  /** Its failure is no failure of the stage. */
  readonly mayFail?: boolean
  /** Tried again until it works: a VM that boots does not answer at once. */
  readonly retry?: { readonly tries: number; readonly everyMs: number }
}

export interface WriteStep {
  readonly kind: 'write'
  readonly description: string
  /** Absolute folder, and the file below it. */
  readonly folder: string
  readonly file: TreeFile
}

/** Remembers something before or after a step that cannot be repeated blindly. */
export interface NoteStep {
  readonly kind: 'note'
  readonly update: (old: LabState) => LabState
}

export type Step = RunStep | WriteStep | NoteStep

export function run(words: readonly string[], say: string, more: Partial<Omit<RunStep, 'kind'>> = {}): RunStep {
  return { kind: 'run', command: words, description: say, ...more }
}

/** As a person would type it. */
export function formatShellCommand(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
}
