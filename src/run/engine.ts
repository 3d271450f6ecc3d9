/**
 * The engine: runs a graph of stages, as many at once as allowed, and says everything in one stream of events.
 *
 * One failure blocks only what needs it. A stop lets the work in hand come to its own end and starts nothing new.
 * It knows neither clusters nor child processes.
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
  /** Identity of this run, in every event. */
  readonly run: string
  /** What is run, for people: `up site.yaml`. */
  readonly what: string
  readonly stages: readonly Stage[]
  readonly sink: EventSink
  readonly clock: Clock
  readonly stop: AbortSignal
  /** Stages at work at the same time. */
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
  /** In the order of the stages that were given. */
  readonly stages: readonly StageReport[]
}

const DEFAULT_PARALLEL = 16

/** Never rejects for a stage's sake: what went wrong is in the report. A graph that makes no sense is refused. */
export async function runStages(settings: RunSettings): Promise<RunReport> {
  const wrong = validateGraph(settings.stages)
  if (hasErrors(wrong)) throw new Failure(wrong)
  const book = openBook(settings)
  // Every stage at work listens for the stop.
  setMaxListeners(0, settings.stop)
  book.begin()
  const running = new Map<string, Promise<void>>()
  const start = (stage: Stage): void => {
    running.set(
      stage.id,
      runStage(stage, book, settings).then((report) => {
        running.delete(stage.id)
        book.close(stage, report)
      }),
    )
  }
  for (;;) {
    if (!settings.stop.aborted) {
      const room = (settings.parallel ?? DEFAULT_PARALLEL) - running.size
      for (const stage of startable(settings.stages, book, running, room)) start(stage)
    }
    if (running.size === 0) break
    await Promise.race(running.values())
  }
  return book.end()
}

/** What may begin now: everything before it is done, and nobody holds its locks. */
function startable(
  stages: readonly Stage[],
  book: Book,
  running: ReadonlyMap<string, unknown>,
  room: number,
): readonly Stage[] {
  const busy = stages.filter(({ id }) => running.has(id))
  const chosen: Stage[] = []
  for (const stage of stages) {
    if (book.outcomes.has(stage.id) || running.has(stage.id)) continue
    if (stage.after.some(({ id }) => book.outcomes.get(id) !== 'done')) continue
    const wait = pendingReason(stage, book.outcomes, [...busy, ...chosen])
    if (wait) book.held(stage, wait)
    else if (chosen.length < room) chosen.push(stage)
  }
  return chosen
}

type Report = Pick<StageReport, 'outcome' | 'ms' | 'reason' | 'findings'>

async function runStage(stage: Stage, book: Book, { clock, stop }: RunSettings): Promise<Report> {
  const begin = clock.elapsed()
  const { emit, mute } = book.voiceOf(stage)
  const context: StageContext = { emit, stop, clock }
  let started = false
  const say = (): void => {
    if (!started) emit({ kind: 'stage-started' })
    started = true
  }
  const report = (outcome: Report['outcome'], reason?: string, findings: readonly Finding[] = []): Report => {
    mute()
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
    say()
    await stage.work(context)
    return report('done')
  } catch (thrown) {
    say()
    if (stop.aborted && isStop(thrown, stop)) return report('stopped', 'stopped on request')
    const findings = findingsOf(thrown)
    for (const finding of findings) emit({ kind: 'finding', finding: finding })
    return report('failed', findings[0]?.message ?? formatError(thrown), findings)
  }
}

/** Work that gives up because of the stop says so with the signal's reason; libraries wrap it in an AbortError. */
function isStop(thrown: unknown, stop: AbortSignal): boolean {
  if (thrown === stop.reason) return true
  return thrown instanceof Error && (thrown.name === 'AbortError' || isStop(thrown.cause, stop))
}

function findingsOf(thrown: unknown): readonly Finding[] {
  return thrown instanceof Failure ? thrown.findings : [finding(internalError, { reason: formatError(thrown) })]
}

interface Book {
  readonly outcomes: ReadonlyMap<string, StageOutcome>
  readonly begin: () => void
  readonly held: (stage: Stage, reason: string) => void
  readonly voiceOf: (stage: Stage) => {
    readonly emit: (event: StageEvent) => void
    readonly mute: () => void
  }
  readonly close: (stage: Stage, report: Report) => void
  readonly end: () => RunReport
}

/** The run's record: who ended how, and the one place from which events leave. */
function openBook({ run, what, stages, sink, clock, stop }: RunSettings): Book {
  const known = stagesById(stages)
  const outcomes = new Map<string, StageOutcome>()
  const reports = new Map<string, StageReport>()
  const held = new Map<string, string>()
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
    held: (stage, reason) => {
      if (held.get(stage.id) === reason) return
      held.set(stage.id, reason)
      send({ kind: 'waiting', reason }, stage)
    },
    // A forgotten callback must not speak after its stage has ended: nothing follows the last word of a stage.
    voiceOf: (stage) => {
      let open = true
      return { emit: (event) => open && send(event, stage), mute: () => (open = false) }
    },
    close,
    end: () => {
      for (const stage of stages) {
        if (!outcomes.has(stage.id)) close(stage, { outcome: 'stopped', ms: 0, reason: 'not begun', findings: [] })
      }
      const ended = stages.flatMap(({ id }) => reports.get(id) ?? [])
      const outcome = outcomeOf(ended, stop.aborted)
      const ms = Math.round(clock.elapsed() - begin)
      send({ kind: 'run-finished', outcome, ms })
      return { outcome, ms, stages: ended }
    },
  }
}

/** A stop that came after the last stage stopped nothing. */
function outcomeOf(reports: readonly StageReport[], stopped: boolean): RunOutcome {
  if (stopped && reports.some(({ outcome }) => outcome === 'stopped')) return 'stopped'
  return reports.some(({ outcome }) => outcome === 'failed') ? 'failed' : 'done'
}
