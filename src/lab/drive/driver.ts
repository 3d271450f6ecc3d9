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
import { emptyWorld, readLimaState, type World } from './lima-state.ts'
import { runSteps, type StepRunner } from './run-steps.ts'
import type { DriveContext, LabStage } from './stage.ts'
import { labStages } from './stages.ts'
import { fingerprint, type StateStore } from './state.ts'
import { formatShellCommand, type Step } from './step.ts'
import { createTools } from './tools.ts'

export interface DriveSettings {
  readonly lab: Lab
  readonly folder: string
  readonly system: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly exec: Exec
  readonly store: StateStore
  readonly replace?: readonly string[]
  /** Stages that are done again, whatever was done before. */
  readonly rerun?: readonly string[]
  readonly retry?: DriveContext['retry']
}

const PATIENCE = { tries: 60, everyMs: 5000 }

export function createDriveContext(settings: DriveSettings): DriveContext {
  const { lab, folder, system, store, replace = [], retry = PATIENCE } = settings
  const tools = createTools(settings)
  return {
    lab,
    folder,
    system,
    tools,
    // Always fresh: stages write into the tree.
    read: (file) => readIfExists(path.resolve(folder, file)),
    world: () => worldOf(system, tools),
    state: store.get,
    replace,
    retry,
    backup: newestBackup(folder),
  }
}

async function worldOf(system: string, tools: DriveContext['tools']): Promise<World> {
  return system === 'darwin' ? readLimaState(tools) : emptyWorld
}

function readIfExists(file: string): string | undefined {
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

export function createStages(settings: DriveSettings): readonly Stage[] {
  const context = createDriveContext(settings)
  const performer: StepRunner = {
    folder: settings.folder,
    exec: settings.exec,
    env: { ...settings.env, ...context.tools.env },
    secrets: readPasswords(context),
    store: settings.store,
  }
  return labStages.map((stage) => ({
    id: stage.name,
    name: stage.name,
    after: stage.after.map(({ stage: id, why }) => ({ id, why })),
    locks: [],
    check: () => checkStage(stage, context, settings.rerun),
    work: async (run) => {
      await runSteps(stage.name, await stage.steps(context), performer, run)
      await recordDone(stage, context, settings.store)
    },
  }))
}

async function checkStage(stage: LabStage, context: DriveContext, again: readonly string[] = []): Promise<StageCheck> {
  const foreign = stage.skipReason?.(context.lab)
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

async function recordDone(stage: LabStage, context: DriveContext, memory: StateStore): Promise<void> {
  if (!stage.inputs) return
  const done = fingerprint(stage.inputs(context))
  await memory.update((old) => ({ ...old, stages: { ...old.stages, [stage.name]: done } }))
}

/** Every value of passwords.yml: tools print them when they fail. */
function readPasswords({ read }: DriveContext): readonly string[] {
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
  const context = createDriveContext(settings)
  const planned: PlannedStage[] = []
  for (const stage of labStages.filter((labStage) => names.has(labStage.name))) {
    const check = await checkStage(stage, context, settings.rerun).catch(() => ({ kind: 'needed' }) as const)
    if (check.kind === 'satisfied') {
      planned.push({ stage: stage.name, skipped: check.reason, commands: [] })
      continue
    }
    try {
      const steps = await stage.steps(context)
      for (const step of steps) if (step.kind === 'note') await settings.store.update(step.update)
      planned.push({ stage: stage.name, commands: steps.flatMap(formatStep) })
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

function formatStep(step: Step): readonly string[] {
  if (step.kind === 'note') return []
  if (step.kind === 'write') return [`# writes ${path.join(step.folder, step.file.path)}`]
  const input = step.inputFile === undefined ? '' : ` < ${step.inputFile}`
  return [`${formatShellCommand(step.command)}${input}`]
}
