/**
 * The driver: the lab's stages as a run of the same engine, events and printers as a site's deployment.
 *
 * A stage that was done with the same inputs is not done again; one that looks at the world does what is missing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Exec } from '../../exec/process.ts'
import type { Stage, StageCheck } from '../../run/stage.ts'
import { readYaml } from '../../yaml/read.ts'
import type { Lab } from '../lab.ts'
import { STATE_FOLDER } from '../tree.ts'
import { type Performer, perform } from './perform.ts'
import type { DriveContext, LabStage } from './stage.ts'
import { labStages } from './stages.ts'
import { fingerprint, type Memory } from './state.ts'
import { type Step, shellLine } from './step.ts'
import { toolsFor } from './tools.ts'
import { emptyWorld, observe, type World } from './world.ts'

export interface DriveSettings {
  readonly lab: Lab
  readonly folder: string
  readonly system: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly exec: Exec
  readonly memory: Memory
  readonly replace?: readonly string[]
  /** Stages that are done again, whatever was done before. */
  readonly again?: readonly string[]
  readonly patience?: DriveContext['patience']
}

const PATIENCE = { tries: 60, everyMs: 5000 }

export function driveContext(settings: DriveSettings): DriveContext {
  const { lab, folder, system, memory, replace = [], patience = PATIENCE } = settings
  const tools = toolsFor(settings)
  return {
    lab,
    folder,
    system,
    tools,
    // Always fresh: stages write into the tree.
    read: (file) => readOrNothing(path.resolve(folder, file)),
    world: () => worldOf(system, tools),
    state: memory.get,
    replace,
    patience,
    backup: newestBackup(folder),
  }
}

async function worldOf(system: string, tools: DriveContext['tools']): Promise<World> {
  return system === 'darwin' ? observe(tools) : emptyWorld
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function newestBackup(folder: string): string | undefined {
  const below = `${STATE_FOLDER}/backups`
  try {
    const newest = readdirSync(path.join(folder, below))
      .filter((name) => name.endsWith('.tar'))
      .toSorted()
      .at(-1)
    return newest === undefined ? undefined : `${below}/${newest}`
  } catch {
    return undefined
  }
}

export function stagesOf(settings: DriveSettings): readonly Stage[] {
  const context = driveContext(settings)
  const performer: Performer = {
    folder: settings.folder,
    exec: settings.exec,
    env: { ...settings.env, ...context.tools.env },
    secrets: secretsIn(context),
    memory: settings.memory,
  }
  return labStages.map((stage) => ({
    id: stage.name,
    name: stage.name,
    after: stage.after.map(({ stage: id, why }) => ({ id, why })),
    locks: [],
    check: () => checkStage(stage, context, settings.again),
    work: async (run) => {
      await perform(stage.name, await stage.steps(context), performer, run)
      await remember(stage, context, settings.memory)
    },
  }))
}

async function checkStage(
  stage: LabStage,
  context: DriveContext,
  again: readonly string[] = [],
): Promise<StageCheck> {
  const foreign = stage.notFor?.(context.lab)
  if (foreign !== undefined) return { kind: 'satisfied', reason: foreign }
  if (!stage.inputs) {
    const steps = await stage.steps(context)
    return steps.length === 0 ? { kind: 'satisfied', reason: 'all of it is there' } : { kind: 'needed' }
  }
  const done = context.state().stages[stage.name]
  if (done === undefined || again.includes(stage.name)) return { kind: 'needed' }
  if (done === fingerprint(stage.inputs(context)))
    return { kind: 'satisfied', reason: 'done before, with the same inputs' }
  return { kind: 'needed', reason: 'its inputs have changed' }
}

async function remember(stage: LabStage, context: DriveContext, memory: Memory): Promise<void> {
  if (!stage.inputs) return
  const done = fingerprint(stage.inputs(context))
  await memory.change((old) => ({ ...old, stages: { ...old.stages, [stage.name]: done } }))
}

/** Every value of passwords.yml: tools print them when they fail. */
function secretsIn({ read }: DriveContext): readonly string[] {
  const { value } = readYaml(read('kolla/passwords.yml') ?? '', 'passwords.yml')
  return Object.values((value as Record<string, unknown> | null) ?? {}).flatMap((one) => {
    if (typeof one === 'string') return [one]
    const key = (one as { private_key?: unknown } | null)?.private_key
    return typeof key === 'string' ? [key] : []
  })
}

export interface PlannedStage {
  readonly stage: string
  /** Why nothing happens, when nothing does. */
  readonly skipped?: string
  /** What would be said instead of doing it. */
  readonly refused?: string
  readonly commands: readonly string[]
}

/** What a run would do now, command by command. Later stages are told as if the earlier ones had been done. */
export async function planStages(
  settings: DriveSettings,
  names: ReadonlySet<string>,
): Promise<readonly PlannedStage[]> {
  const context = driveContext(settings)
  const planned: PlannedStage[] = []
  for (const stage of labStages.filter((one) => names.has(one.name))) {
    const check = await checkStage(stage, context, settings.again).catch(() => ({ kind: 'needed' }) as const)
    if (check.kind === 'satisfied') {
      planned.push({ stage: stage.name, skipped: check.reason, commands: [] })
      continue
    }
    try {
      const steps = await stage.steps(context)
      for (const step of steps) if (step.kind === 'note') await settings.memory.change(step.change)
      planned.push({ stage: stage.name, commands: steps.flatMap(commandOf) })
    } catch (thrown) {
      planned.push({
        stage: stage.name,
        refused: thrown instanceof Error ? thrown.message : String(thrown),
        commands: [],
      })
    }
  }
  return planned
}

function commandOf(step: Step): readonly string[] {
  if (step.kind === 'note') return []
  if (step.kind === 'write') return [`# writes ${path.join(step.folder, step.file.path)}`]
  const input = step.inputFile === undefined ? '' : ` < ${step.inputFile}`
  return [`${shellLine(step.words)}${input}`]
}
