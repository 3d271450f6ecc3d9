/** What a stage of a lab is: data about it, and a function that says its steps for the world as it is. */
import type { Lab } from '../lab.ts'
import type { World } from './lima-state.ts'
import type { StageName } from './names.ts'
import type { LabState } from './state.ts'
import type { Step } from './step.ts'
import type { Tools } from './tools.ts'

export interface DriveContext {
  readonly lab: Lab
  /** The tree, absolute. */
  readonly folder: string
  readonly system: string
  readonly tools: Tools
  /** Reads a file of the tree. */
  readonly read: (path: string) => string | undefined
  readonly world: () => Promise<World>
  readonly state: () => LabState
  /** Nodes whose replacement the user has consented to. */
  readonly replace: readonly string[]
  /** How long a booting VM is waited for. */
  readonly retry: { readonly tries: number; readonly everyMs: number }
  /** Newest backup of the database, below the state folder. */
  readonly backup: string | undefined
}

export interface LabStage {
  readonly name: StageName
  readonly after: readonly { readonly stage: StageName; readonly why: string }[]
  /** Why it has nothing to do with this lab; nothing when it has. */
  readonly skipReason?: (lab: Lab) => string | undefined
  /** What it depends on: done once with these, it is not done again. Absent: the world decides each time. */
  readonly inputs?: (context: DriveContext) => readonly (string | undefined)[]
  readonly steps: (context: DriveContext) => Promise<readonly Step[]>
}

/** Files of the tree as inputs. */
export function readInputs({ read }: DriveContext, ...paths: readonly string[]): readonly (string | undefined)[] {
  return paths.map((path) => read(path))
}

/** What was done inside a VM is gone with it. */
export function vmGenerations({ state, lab }: DriveContext): string {
  return lab.nodes.map((node) => `${node.name}=${state().generations[node.name] ?? 0}`).join()
}
