/**
 * Folds the events of a run into groups of stages with their state, for printers and summaries.
 *
 * Keeps no history: its size depends on the number of stages, not on the duration of a run.
 */
import type { Finding } from '../errors/finding.ts'
import type { AppliedChange, EventObject, RunEvent, RunOutcome, StageOutcome } from './events.ts'

export type StageState = 'pending' | 'running' | 'skipped' | StageOutcome

export interface StageView {
  readonly id: string
  readonly name: string
  readonly cloud?: string
  readonly after: readonly string[]
  state: StageState
  /** Milliseconds since the epoch. */
  startedAt?: number
  ms?: number
  /** Why it waits, was skipped, or did not succeed. */
  reason?: string
  object?: EventObject
  progress?: { readonly done: number; readonly total: number }
  readonly applied: Record<AppliedChange, number>
}

export interface RunView {
  what: string
  command?: readonly string[]
  startedAt: number
  /** Time of the last event. */
  lastEventAt: number
  outcome?: RunOutcome
  ms?: number
  readonly stages: Map<string, StageView>
  readonly findings: { readonly finding: Finding; readonly cloud?: string; readonly stage?: string }[]
}

/** More findings of one run repeat the same problem. */
const MAX_FINDINGS = 200
/** More than the stages of a hundred clouds: a record from elsewhere could announce others without end. */
const MAX_STAGES = 10_000

export function createRunView(): RunView {
  return { what: '', startedAt: 0, lastEventAt: 0, stages: new Map(), findings: [] }
}

/** Applies one event. Unknown kinds change nothing. */
export function applyEvent(view: RunView, event: RunEvent): void {
  const time = Date.parse(event.time)
  view.lastEventAt = time
  if (event.kind === 'run-started') {
    view.what = event.what
    if (event.command) view.command = event.command
    view.startedAt = time
    for (const ref of event.stages) if (view.stages.size < MAX_STAGES) view.stages.set(ref.id, stageView(ref))
    return
  }
  if (event.kind === 'run-finished') {
    view.outcome = event.outcome
    view.ms = event.ms
    return
  }
  if (event.kind === 'finding') return addFinding(view, event)
  const stage = view.stages.get(keyOfStage(event))
  if (stage) applyStageEvent(stage, event, time)
}

type StageRunEvent = Exclude<RunEvent, { readonly kind: 'run-started' | 'run-finished' | 'finding' }>

function applyStageEvent(stage: StageView, event: StageRunEvent, time: number): void {
  switch (event.kind) {
    case 'stage-started':
      stage.state = 'running'
      stage.startedAt = time
      delete stage.reason
      return
    case 'stage-skipped':
      stage.state = 'skipped'
      stage.reason = event.reason
      return
    case 'waiting':
      stage.reason = event.reason
      if (event.object) stage.object = event.object
      return
    case 'progress':
      stage.reason = event.message
      if (event.done !== undefined && event.total !== undefined)
        stage.progress = { done: event.done, total: event.total }
      return
    case 'applied':
      stage.applied[event.change] += 1
      return
    case 'stage-finished':
      stage.state = event.outcome
      stage.ms = event.ms
      if (event.reason === undefined) delete stage.reason
      else stage.reason = event.reason
      return
    default:
      return
  }
}

function addFinding(view: RunView, { finding, cloud, stage }: RunEvent & { readonly kind: 'finding' }): void {
  const isKnown = view.findings.some(
    (known) => known.finding.code === finding.code && known.finding.message === finding.message,
  )
  if (isKnown || view.findings.length >= MAX_FINDINGS) return
  view.findings.push({
    finding,
    ...(cloud !== undefined && { cloud }),
    ...(stage !== undefined && { stage }),
  })
}

function stageView(ref: { id: string; stage: string; cloud?: string; after: readonly string[] }): StageView {
  const { id, stage: name, cloud, after } = ref
  return {
    id,
    name,
    ...(cloud !== undefined && { cloud }),
    after,
    state: 'pending',
    applied: { created: 0, changed: 0, unchanged: 0, deleted: 0 },
  }
}

/** The id of the stage of an event. */
export function keyOfStage({ cloud, stage }: Pick<RunEvent, 'cloud' | 'stage'>): string {
  return cloud === undefined ? `${stage}` : `${cloud}/${stage}`
}

export interface StageGroup {
  /** Absent for stages that the clouds share. */
  readonly cloud?: string
  readonly stages: readonly StageView[]
}

/** The shared stages first, then those of each cloud, in the order of the run. */
export function groupStages(view: RunView): readonly StageGroup[] {
  const groups = new Map<string | undefined, StageView[]>()
  for (const stage of view.stages.values()) {
    const group = groups.get(stage.cloud)
    if (group) group.push(stage)
    else groups.set(stage.cloud, [stage])
  }
  return [...groups].map(([cloud, stages]) => ({ ...(cloud !== undefined && { cloud }), stages }))
}

export function isFinished(state: StageState): boolean {
  return state !== 'pending' && state !== 'running'
}
