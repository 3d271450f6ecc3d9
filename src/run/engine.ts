/**
 * Runs a graph of stages, several at a time, and reports everything in one stream of events.
 *
 * A failure blocks only the stages that depend on it. A stop lets running stages finish and starts no new one. Must not
 * know clusters or child processes.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../clock/clock.ts'
import { internalError } from '../errors/common.ts'
import { Failure, formatError } from '../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import type { EventSink, RunEvent, RunOutcome, StageEvent, StageOutcome } from './events.ts'
import { findBlock, pendingReason, stagesById, validateGraph } from './graph.ts'
import type { Stage, StageContext } from './stage.ts'

export interface RunSettings {
  /** Identifies this run in every event. */
  readonly run: string
  /** The command, for people: `up site.yaml`. */
  readonly what: string
  readonly stages: readonly Stage[]
  readonly sink: EventSink
  readonly clock: Clock
  readonly stop: AbortSignal
  /** Maximum number of stages that run at the same time. */
  readonly parallel?: number
}

export interface StageReport {
  readonly id: string
  readonly name: string
  readonly cloud?: string
  readonly outcome: StageOutcome | 'skipped'
  readonly ms: number
  readonly reason?: string
  readonly findings: readonly Finding[]
}

export interface RunReport {
  readonly outcome: RunOutcome
  readonly ms: number
  /** In the order of the given stages. */
  readonly stages: readonly StageReport[]
}

const DEFAULT_PARALLEL = 16

/** Reports failing stages without throwing; throws for an invalid graph. */
export async function runStages(settings: RunSettings): Promise<RunReport> {
  const wrong = validateGraph(settings.stages)
  if (hasErrors(wrong)) throw new Failure(wrong)
  const recorder = createRecorder(settings)
  // Every running stage listens to the stop signal.
  setMaxListeners(0, settings.stop)
  recorder.begin()
  const running = new Map<string, Promise<void>>()
  const start = (stage: Stage): void => {
    running.set(
      stage.id,
      runStage(stage, recorder, settings).then((report) => {
        running.delete(stage.id)
        recorder.close(stage, report)
      }),
    )
  }
  for (;;) {
    if (!settings.stop.aborted) {
      const free = (settings.parallel ?? DEFAULT_PARALLEL) - running.size
      for (const stage of findStartable(settings.stages, recorder, running, free)) start(stage)
    }
    if (running.size === 0) break
    await Promise.race(running.values())
  }
  return recorder.end()
}

/** The stages that can start now: their dependencies are done, and no running stage holds their locks. */
function findStartable(
  stages: readonly Stage[],
  recorder: RunRecorder,
  running: ReadonlyMap<string, unknown>,
  free: number,
): readonly Stage[] {
  const runningStages = stages.filter(({ id }) => running.has(id))
  const selected: Stage[] = []
  for (const stage of stages) {
    if (recorder.outcomes.has(stage.id) || running.has(stage.id)) continue
    if (stage.after.some(({ id }) => recorder.outcomes.get(id) !== 'done')) continue
    const wait = pendingReason(stage, recorder.outcomes, [...runningStages, ...selected])
    if (wait) recorder.reportWait(stage, wait)
    else if (selected.length < free) selected.push(stage)
  }
  return selected
}

type Report = Pick<StageReport, 'outcome' | 'ms' | 'reason' | 'findings'>

async function runStage(stage: Stage, recorder: RunRecorder, { clock, stop }: RunSettings): Promise<Report> {
  const begin = clock.elapsed()
  const { emit, close } = recorder.openEmitter(stage)
  const context: StageContext = { emit, stop, clock }
  let started = false
  const announce = (): void => {
    if (!started) emit({ kind: 'stage-started' })
    started = true
  }
  const report = (outcome: Report['outcome'], reason?: string, findings: readonly Finding[] = []): Report => {
    close()
    return {
      outcome,
      ms: Math.round(clock.elapsed() - begin),
      findings,
      ...(reason !== undefined && { reason }),
    }
  }
  try {
    const check = await stage.check?.(context)
    if (check?.kind === 'satisfied') return report('skipped', check.reason)
    announce()
    await stage.work(context)
    return report('done')
  } catch (thrown) {
    announce()
    if (stop.aborted && isStop(thrown, stop)) return report('stopped', 'stopped on request')
    const findings = toFindings(thrown)
    for (const finding of findings) emit({ kind: 'finding', finding })
    return report('failed', findings[0]?.message ?? formatError(thrown), findings)
  }
}

/** Work that stops throws the signal's reason; libraries wrap it in an AbortError. */
function isStop(thrown: unknown, stop: AbortSignal): boolean {
  if (thrown === stop.reason) return true
  return thrown instanceof Error && (thrown.name === 'AbortError' || isStop(thrown.cause, stop))
}

function toFindings(thrown: unknown): readonly Finding[] {
  return thrown instanceof Failure ? thrown.findings : [finding(internalError, { reason: formatError(thrown) })]
}

interface RunRecorder {
  readonly outcomes: ReadonlyMap<string, StageOutcome>
  readonly begin: () => void
  readonly reportWait: (stage: Stage, reason: string) => void
  readonly openEmitter: (stage: Stage) => {
    readonly emit: (event: StageEvent) => void
    readonly close: () => void
  }
  readonly close: (stage: Stage, report: Report) => void
  readonly end: () => RunReport
}

/** Records the outcome of every stage and sends all events. */
function createRecorder({ run, what, stages, sink, clock, stop }: RunSettings): RunRecorder {
  const known = stagesById(stages)
  const outcomes = new Map<string, StageOutcome>()
  const reports = new Map<string, StageReport>()
  const reportedWaits = new Map<string, string>()
  const begin = clock.elapsed()
  const send = (event: StageEvent, stage?: Stage): void =>
    sink({
      ...event,
      time: new Date(clock.now()).toISOString(),
      run,
      ...(stage && { stage: stage.name }),
      ...(stage?.cloud !== undefined && { cloud: stage.cloud }),
    } as RunEvent)
  const close = (stage: Stage, report: Report): void => {
    const { outcome, ms, reason } = report
    outcomes.set(stage.id, outcome === 'skipped' ? 'done' : outcome)
    const { id, name, cloud } = stage
    reports.set(id, { id, name, ...(cloud !== undefined && { cloud }), ...report })
    if (outcome === 'skipped') send({ kind: 'stage-skipped', reason: reason ?? 'nothing to do' }, stage)
    else send({ kind: 'stage-finished', outcome, ms, ...(reason !== undefined && { reason }) }, stage)
    if (outcome === 'failed' || outcome === 'blocked') closeBlocked()
  }
  const closeBlocked = (): void => {
    for (const stage of stages) {
      if (outcomes.has(stage.id)) continue
      const block = findBlock(stage, outcomes, known)
      if (block) close(stage, { outcome: 'blocked', ms: 0, reason: block.reason, findings: [] })
    }
  }
  return {
    outcomes,
    begin: () =>
      send({
        kind: 'run-started',
        what,
        stages: stages.map(({ id, name, cloud, after }) => ({
          id,
          stage: name,
          ...(cloud !== undefined && { cloud }),
          after: after.map((after) => after.id),
        })),
      }),
    reportWait: (stage, reason) => {
      if (reportedWaits.get(stage.id) === reason) return
      reportedWaits.set(stage.id, reason)
      send({ kind: 'waiting', reason }, stage)
    },
    // A forgotten callback must not emit after its stage has finished.
    openEmitter: (stage) => {
      let open = true
      return { emit: (event) => open && send(event, stage), close: () => (open = false) }
    },
    close,
    end: () => {
      for (const stage of stages) {
        if (!outcomes.has(stage.id)) close(stage, { outcome: 'stopped', ms: 0, reason: 'not begun', findings: [] })
      }
      const ended = stages.flatMap(({ id }) => reports.get(id) ?? [])
      const outcome = runOutcome(ended, stop.aborted)
      const ms = Math.round(clock.elapsed() - begin)
      send({ kind: 'run-finished', outcome, ms })
      return { outcome, ms, stages: ended }
    },
  }
}

/** A stop after the last stage has finished stopped nothing. */
function runOutcome(reports: readonly StageReport[], stopped: boolean): RunOutcome {
  if (stopped && reports.some(({ outcome }) => outcome === 'stopped')) return 'stopped'
  return reports.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'done'
}
