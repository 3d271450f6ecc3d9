/**
 * Defines the stages of a lab and their steps as data, so that a dry run prints exactly what a run does.
 *
 * It must not run anything: commands load this file only to print the stage names.
 */
import type { Failure } from '../../errors/failure.ts'
import type { ProcessResult } from '../../exec/process.ts'
import type { Lab } from '../lab.ts'
import type { TreeFile } from '../tree.ts'
import type { LimaState } from './lima-state.ts'
import type { LabState } from './state.ts'
import type { Tools } from './tools.ts'

/** In deployment order. */
export const stageNames = [
  'host',
  'deployer',
  'images',
  'disks',
  'vms',
  'dns',
  'certificates',
  'bootstrap',
  'prechecks',
  'pull',
  'deploy',
  'post-deploy',
  'resources',
  'ceph',
] as const

export type StageName = (typeof stageNames)[number]

export interface DriveContext {
  readonly lab: Lab
  /** Absolute folder of the rendered tree. */
  readonly folder: string
  readonly system: string
  readonly tools: Tools
  /** Reads a file of the tree. */
  readonly read: (path: string) => string | undefined
  /** Whether a file of the tree exists, for files that are too large to read. */
  readonly exists: (path: string) => boolean
  readonly readLima: () => Promise<LimaState>
  readonly state: () => LabState
  /** Nodes that the user allows to be replaced. */
  readonly replace: readonly string[]
  /** How long to wait for a booting VM. */
  readonly retry: RetryPolicy
  /** Newest database backup, below the state folder. */
  readonly backup: string | undefined
}

export interface RetryPolicy {
  readonly tries: number
  readonly everyMs: number
}

export interface LabStage {
  readonly name: StageName
  readonly after: readonly { readonly stage: StageName; readonly why: string }[]
  /** Why this lab does not need the stage; undefined when it does. */
  readonly skipReason?: (lab: Lab) => string | undefined
  /** The stage is skipped while these are unchanged. Without inputs, its steps are computed from Lima's state. */
  readonly inputs?: (context: DriveContext) => readonly (string | undefined)[]
  readonly steps: (context: DriveContext) => Promise<readonly Step[]>
}

export type Step = RunStep | WriteStep | NoteStep

export interface RunStep {
  readonly kind: 'run'
  readonly command: readonly string[]
  /** Progress message: `node1 starts`. */
  readonly description: string
  /** A file of the tree that is passed as standard input. */
  readonly inputFile?: string
  /** Returns a failure when the output shows one. */
  readonly checkOutput?: (result: ProcessResult) => Failure | undefined
  /** The stage continues when the command fails. */
  readonly mayFail?: boolean
  /** A booting VM does not answer at once. */
  readonly retry?: RetryPolicy
}

export interface WriteStep {
  readonly kind: 'write'
  readonly description: string
  /** Absolute folder; the file's path is relative to it. */
  readonly folder: string
  readonly file: TreeFile
}

/** Updates the lab's state before or after a step that must not be repeated blindly. */
export interface NoteStep {
  readonly kind: 'note'
  readonly update: (old: LabState) => LabState
}

export function run(
  command: readonly string[],
  description: string,
  options: Partial<Omit<RunStep, 'kind'>> = {},
): RunStep {
  return { kind: 'run', command, description, ...options }
}

export function readInputs({ read }: DriveContext, ...paths: readonly string[]): readonly (string | undefined)[] {
  return paths.map((path) => read(path))
}

/** An input of stages that work inside VMs: a VM that was created again lost what they did. */
export function vmGenerations({ state, lab }: DriveContext): string {
  return lab.nodes.map((node) => `${node.name}=${state().generations[node.name] ?? 0}`).join()
}
