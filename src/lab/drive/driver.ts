/**
 * Runs the stages of a lab on the same engine, with the same events, as the deployment of a site.
 *
 * A stage is skipped while its inputs are unchanged. A stage without inputs does what Lima's state lacks.
 */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../../clock/clock.ts'
import { Failure } from '../../errors/failure.ts'
import { finding } from '../../errors/finding.ts'
import { formatShellCommand } from '../../errors/shell-words.ts'
import type { Exec } from '../../exec/process.ts'
import { type RunReport, runStages } from '../../run/engine.ts'
import type { EventSink } from '../../run/events.ts'
import { type Selection, selectStages } from '../../run/selection.ts'
import type { Stage, StageCheck } from '../../run/stage.ts'
import { readYaml } from '../../yaml/read.ts'
import { unknownNode } from '../findings/lab-run.ts'
import type { GenerateSshKey } from '../kolla/passwords.ts'
import type { Lab } from '../lab.ts'
import { type RenderResult, renderLab } from '../render-lab.ts'
import { STATE_FOLDER } from '../tree.ts'
import { readIfExists } from '../tree-store.ts'
import { emptyLimaState, readLimaState } from './lima-state.ts'
import { runSteps, type StepRunner } from './run-steps.ts'
import type { DriveContext, LabStage, RetryPolicy, Step } from './stage.ts'
import { labStages } from './stages.ts'
import { fingerprint, openReadOnlyState, openStateStore, type StateStore, withLabLock } from './state.ts'
import { createTools } from './tools.ts'

export interface DriveSettings {
  readonly lab: Lab
  readonly folder: string
  readonly system: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly exec: Exec
  readonly store: StateStore
  readonly replace?: readonly string[]
  /** Stages that run even when their inputs are unchanged. */
  readonly rerun?: readonly string[]
  readonly retry?: RetryPolicy
}

const BOOT_RETRY: RetryPolicy = { tries: 60, everyMs: 5000 }

export function createDriveContext(settings: DriveSettings): DriveContext {
  const { lab, folder, system, store, replace = [], retry = BOOT_RETRY } = settings
  const tools = createTools(settings)
  return {
    lab,
    folder,
    system,
    tools,
    // Not cached: stages write into the tree.
    read: (file) => readIfExists(path.resolve(folder, file)),
    exists: (file) => existsSync(path.resolve(folder, file)),
    readLima: async () => (system === 'darwin' ? readLimaState(tools) : emptyLimaState),
    state: store.get,
    replace,
    retry,
    backup: newestBackup(folder),
  }
}

function newestBackup(folder: string): string | undefined {
  const backups = `${STATE_FOLDER}/backups`
  try {
    const files = readdirSync(path.join(folder, backups)).filter((name) => name.endsWith('.tar'))
    const newest = files.toSorted().at(-1)
    return newest === undefined ? undefined : `${backups}/${newest}`
  } catch {
    return undefined
  }
}

export interface UpSettings extends Omit<DriveSettings, 'store'> {
  readonly selection: Selection
  readonly run: string
  readonly what: string
  readonly sink: EventSink
  readonly clock: Clock
  readonly stop: AbortSignal
  readonly overwrite?: boolean
  readonly makeSshKey?: GenerateSshKey
  readonly onRendered?: (rendering: RenderResult) => void
}

/** Renders the lab, then runs the selected stages under the lab's lock. The same call resumes a failed run. */
export async function runLabUp(settings: UpSettings): Promise<RunReport> {
  const { lab, folder, selection, clock, overwrite = false, makeSshKey } = settings
  // Checked first, so that a misspelt name is refused before keys are generated and files are written.
  selectLabStages({ ...settings, store: await openReadOnlyState(folder) }, selection)
  return withLabLock(folder, async () => {
    const options = { now: clock.now(), overwrite, ...(makeSshKey && { makeSshKey }) }
    const rendering = await renderLab(lab, folder, options)
    settings.onRendered?.(rendering)
    const stages = selectLabStages({ ...settings, store: await openStateStore(folder) }, selection)
    const { run, what, sink, stop } = settings
    return runStages({ run, what, stages, sink, clock, stop })
  })
}

/** Throws for a stage or a node that the lab does not have. */
export function selectLabStages(settings: DriveSettings, selection: Selection): readonly Stage[] {
  const { stages, findings } = selectStages(createStages(settings), selection)
  const known = settings.lab.nodes.map((node) => node.name)
  const unknown = (settings.replace ?? []).filter((node) => !known.includes(node))
  const problems = [...findings, ...unknown.map((node) => finding(unknownNode, { node, known }))]
  if (problems.length > 0) throw new Failure(problems, 2)
  return stages
}

function createStages(settings: DriveSettings): readonly Stage[] {
  const { folder, exec, env, store, rerun } = settings
  const context = createDriveContext(settings)
  const secrets = readPasswords(context)
  const runner: StepRunner = { folder, exec, env: { ...env, ...context.tools.env }, secrets, store }
  return labStages.map((stage) => ({
    id: stage.name,
    name: stage.name,
    after: stage.after.map(({ stage: id, why }) => ({ id, why })),
    locks: [],
    check: () => checkStage(stage, context, rerun),
    work: async (stageContext) => {
      await runSteps(stage.name, await stage.steps(context), runner, stageContext)
      if (!stage.inputs) return
      const done = fingerprint(stage.inputs(context))
      await store.update((old) => ({ ...old, stages: { ...old.stages, [stage.name]: done } }))
    },
  }))
}

async function checkStage(stage: LabStage, context: DriveContext, rerun: readonly string[] = []): Promise<StageCheck> {
  const skipReason = stage.skipReason?.(context.lab)
  if (skipReason !== undefined) return { kind: 'satisfied', reason: skipReason }
  if (!stage.inputs) {
    const steps = await stage.steps(context)
    return steps.length === 0 ? { kind: 'satisfied', reason: 'everything exists already' } : { kind: 'needed' }
  }
  const done = context.state().stages[stage.name]
  if (done === undefined || rerun.includes(stage.name)) return { kind: 'needed' }
  if (done === fingerprint(stage.inputs(context)))
    return { kind: 'satisfied', reason: 'done before, with the same inputs' }
  return { kind: 'needed', reason: 'its inputs have changed' }
}

/** All values of passwords.yml, to mask them: tools print them when they fail. */
function readPasswords({ read }: DriveContext): readonly string[] {
  const { value } = readYaml(read('kolla/passwords.yml') ?? '', 'passwords.yml')
  return Object.values((value as Record<string, unknown> | null) ?? {}).flatMap((password) => {
    if (typeof password === 'string') return [password]
    const key = (password as { private_key?: unknown } | null)?.private_key
    return typeof key === 'string' ? [key] : []
  })
}

export interface PlannedStage {
  readonly stage: string
  /** Why the stage would be skipped. */
  readonly skipped?: string
  /** The error that the stage would end with. */
  readonly refused?: string
  readonly commands: readonly string[]
}

/** Lists the commands of a run without running them, as if every earlier stage had succeeded. */
export async function planStages(
  settings: DriveSettings,
  names: ReadonlySet<string>,
): Promise<readonly PlannedStage[]> {
  const context = createDriveContext(settings)
  const planned: PlannedStage[] = []
  for (const stage of labStages.filter(({ name }) => names.has(name))) {
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
      const refused = thrown instanceof Error ? thrown.message : String(thrown)
      planned.push({ stage: stage.name, refused, commands: [] })
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
