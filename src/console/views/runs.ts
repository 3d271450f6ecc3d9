/** Builds one run from its events: stages as a grid and a timeline, the critical path, and an estimate from earlier runs. Pure. */
import { aimCommand, aimCommands, type CommandTarget, readTarget } from '../../errors/command-target.ts'
import { formatShellCommand } from '../../errors/shell-words.ts'
import type { RunEvent } from '../../run/events.ts'
import { applyEvent, createRunView, groupStages, isFinished, type RunView, type StageView } from '../../run/run-view.ts'
import type { RunDocument, RunLine, StageLine } from '../documents/runs.ts'
import { findCommands } from './findings-list.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

/** Folds all events; a growing run is folded further by `applyEvent`. */
export function foldRun(events: readonly RunEvent[]): RunView {
  const view = createRunView()
  for (const event of events) applyEvent(view, event)
  return view
}

export interface KnownRun {
  readonly id: string
  readonly source: RunLine['source']
  readonly view: RunView
  /** How many events it has. */
  readonly events: number
  /** Its process lives, as far as can be known. */
  readonly isAlive: boolean
}

export function buildRunLine({ id, source, view, isAlive }: KnownRun): RunLine {
  const stages = [...view.stages.values()]
  return {
    id,
    what: view.what,
    state: view.outcome ?? (isAlive ? 'running' : 'interrupted'),
    startedAt: new Date(view.startedAt).toISOString(),
    ...(view.ms !== undefined && { ms: view.ms }),
    source,
    done: stages.filter(({ state }) => isFinished(state)).length,
    total: stages.length,
  }
}

/** `earlier`: runs of the same command, for the estimate. */
export function buildRun(run: KnownRun, earlier: readonly RunView[], now: number): Body<RunDocument> {
  const { view } = run
  const line = buildRunLine(run)
  const groups = groupStages(view)
  const stages = groups.flatMap((group) => group.stages)
  const estimates = estimateStages(earlier)
  const path = criticalPath(view, estimates, now)
  const onPath = new Set(path)
  const target = readTarget(view.command ?? [])
  const names = [...new Set(stages.map(({ name }) => name))]
  const estimate = estimateRun(view, estimates, earlier.length, now)
  const failed = stages.find(({ state }) => state === 'failed')
  const remedy = failed && findRemedy(view, failed)
  const next = failed ? nextCommand(view, remedy) : isStopped(line) ? runCommand(view) : undefined
  return {
    command: runCommand(view),
    run: line,
    stages: stages.map((stage) => buildStage(stage, onPath.has(stage.id), estimates.get(stage.name), target)),
    clouds: groups.flatMap(({ cloud }) => cloud ?? []),
    names,
    findings: view.findings.map((entry, index) => ({ id: String(index), ...entry })),
    criticalPath: path,
    ...(estimate && { estimate }),
    ...(next !== undefined && { next }),
    ...(remedy !== undefined && { remedy }),
    events: run.events,
  }
}

function buildStage(
  stage: StageView,
  critical: boolean,
  estimateMs: number | undefined,
  target: CommandTarget,
): StageLine {
  const { id, name, cloud, after, state, startedAt, ms, reason, object, progress, applied } = stage
  const command = object && aimCommand(describeObject(object), target)
  return {
    id,
    name,
    ...(cloud !== undefined && { cloud }),
    after,
    state,
    ...(startedAt !== undefined && { startedAt: new Date(startedAt).toISOString() }),
    ...(ms !== undefined && { ms }),
    ...(reason !== undefined && { reason }),
    ...(object && { object }),
    ...(command !== undefined && { command }),
    ...(progress && { progress }),
    applied: { ...applied },
    critical,
    ...(estimateMs !== undefined && { estimateMs }),
  }
}

function describeObject({ kind, namespace, name }: NonNullable<StageView['object']>): string {
  return ['kubectl', ...(namespace === undefined ? [] : ['-n', namespace]), 'describe', kind.toLowerCase(), name].join(
    ' ',
  )
}

/** By Ctrl-C, or because its process is gone: the same command continues it. */
function isStopped({ state }: RunLine): boolean {
  return state === 'stopped' || state === 'interrupted'
}

/** A finding of the stage may name a command as its remedy; otherwise the same command continues the run. */
function nextCommand(view: RunView, remedy: string | undefined): string {
  const [command] = remedy === undefined ? [] : findCommands(remedy)
  return command ?? runCommand(view)
}

function findRemedy(view: RunView, failed: StageView): string | undefined {
  const cause = view.findings.find(({ stage, cloud }) => stage === failed.name && cloud === failed.cloud)
  return cause && aimCommands(cause.finding.remedy, readTarget(view.command ?? []))
}

/** Their `what` is the command line; a host may have a dot in its name. */
const withoutFile = new Set(['hosts', 'backup', 'restore'])

/** Earlier versions recorded the command and its file only: `up site.yaml`, `lab up lab.yaml`, `down`. */
function runCommand({ command, what }: RunView): string {
  if (command) return formatShellCommand(['stackloom', ...command])
  const words = (what || 'up').split(' ')
  const hasFile = words.length > 1 && /[./]/.test(words.at(-1) ?? '') && !withoutFile.has(words[0] ?? '')
  const file = hasFile ? words.pop() : undefined
  return formatShellCommand(['stackloom', ...words, ...(file === undefined ? [] : ['-f', file])])
}

/** The median duration of a stage in earlier runs, by its name: a new cloud has no runs of its own. */
function estimateStages(earlier: readonly RunView[]): ReadonlyMap<string, number> {
  const durations = new Map<string, number[]>()
  for (const { stages } of earlier) {
    for (const { name, state, ms } of stages.values()) {
      if (state !== 'done' || ms === undefined) continue
      const known = durations.get(name)
      if (known) known.push(ms)
      else durations.set(name, [ms])
    }
  }
  return new Map([...durations].map(([name, list]) => [name, median(list)]))
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

function duration(stage: StageView, estimates: ReadonlyMap<string, number>, now: number): number {
  const { ms, state, startedAt, name } = stage
  if (ms !== undefined) return ms
  if (state === 'skipped') return 0
  const estimate = estimates.get(name) ?? 0
  return state === 'running' && startedAt !== undefined ? Math.max(now - startedAt, estimate) : estimate
}

/** The chain of stages that takes longest, by what they took, or by the estimate for those that are not done. */
function criticalPath(view: RunView, estimates: ReadonlyMap<string, number>, now: number): readonly string[] {
  const best = new Map<string, { readonly total: number; readonly before: string | undefined }>()
  const measure = (id: string): number => {
    const known = best.get(id)
    if (known) return known.total
    const stage = view.stages.get(id)
    if (!stage) return 0
    // A cycle cannot be announced by the engine, but a file may have one.
    best.set(id, { total: 0, before: undefined })
    let before: string | undefined
    let longest = 0
    for (const other of stage.after) {
      const total = measure(other)
      if (before === undefined || total > longest) [before, longest] = [other, total]
    }
    const total = longest + duration(stage, estimates, now)
    best.set(id, { total, before })
    return total
  }
  let last: string | undefined
  for (const id of view.stages.keys()) if (last === undefined || measure(id) > measure(last)) last = id
  const path: string[] = []
  for (let id = last; id !== undefined && !path.includes(id); id = best.get(id)?.before) path.unshift(id)
  return path.filter((id) => view.stages.has(id))
}

/** Undefined without earlier runs, and for a run that has ended. */
function estimateRun(
  view: RunView,
  estimates: ReadonlyMap<string, number>,
  runs: number,
  now: number,
): RunDocument['estimate'] {
  if (view.outcome !== undefined || estimates.size === 0) return undefined
  const finish = new Map<string, number>()
  const measure = (id: string, open: ReadonlySet<string>): number => {
    const known = finish.get(id)
    if (known !== undefined) return known
    const stage = view.stages.get(id)
    if (!stage || open.has(id)) return 0
    const before = Math.max(0, ...stage.after.map((other) => measure(other, new Set([...open, id]))))
    const left = isFinished(stage.state)
      ? 0
      : duration(stage, estimates, now) - (stage.startedAt === undefined ? 0 : now - stage.startedAt)
    const total = before + Math.max(0, left)
    finish.set(id, total)
    return total
  }
  const leftMs = Math.max(0, ...[...view.stages.keys()].map((id) => measure(id, new Set())))
  return { leftMs, totalMs: now - view.startedAt + leftMs, runs }
}
