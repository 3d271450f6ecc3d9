/**
 * Draws a run as a tree: the shared stages and those of each cloud, with times and the reasons of waits. Pure.
 *
 * When the screen is too small, finished stages are folded first and running ones last.
 */
import pc from 'picocolors'
import {
  groupStages,
  isFinished,
  type RunView,
  type StageGroup,
  type StageState,
  type StageView,
} from '../../../run/run-view.ts'
import { formatDuration, oneLine, truncate } from '../text.ts'

export interface TreeSize {
  readonly columns: number
  readonly rows: number
  readonly now: number
  readonly colour: boolean
}

type Tone = 'good' | 'busy' | 'bad' | 'quiet' | 'plain'

interface Line {
  readonly indent: number
  readonly state?: StageState
  readonly text: string
  readonly tone: Tone
  /** Aligned to the right edge. */
  readonly right?: string
}

const symbols: Readonly<Record<StageState, string>> = {
  pending: '○',
  running: '●',
  done: '✓',
  skipped: '✓',
  failed: '✗',
  blocked: '⊘',
  stopped: '■',
}

const tones: Readonly<Record<StageState, Tone>> = {
  pending: 'quiet',
  running: 'busy',
  done: 'good',
  skipped: 'good',
  failed: 'bad',
  blocked: 'bad',
  stopped: 'bad',
}

/** Draws as much detail as fits into the rows. */
export function drawTree(view: RunView, size: TreeSize): readonly string[] {
  const groups = groupStages(view)
  for (const fold of folds) {
    const lines = [drawTitle(view, size.now), ...groups.flatMap((group) => drawGroup(group, fold, view, size.now))]
    if (lines.length <= size.rows) return lines.map((line) => paint(line, size))
  }
  return drawSummary(view, groups, size)
}

function drawTitle(view: RunView, now: number): Line {
  const finished = [...view.stages.values()].filter(({ state }) => isFinished(state)).length
  const took = formatDuration(view.ms ?? Math.max(0, now - view.startedAt))
  return {
    indent: 0,
    text: view.what,
    tone: 'plain',
    right: `${finished}/${view.stages.size}  ${took.padStart(6)}`,
  }
}

/** What is left out of a group. Each step folds more, but never stages that run or have failed. */
interface Fold {
  readonly finishedGroups: boolean
  readonly pending: boolean
  readonly finished: boolean
  readonly reasons: boolean
}

const folds: readonly Fold[] = [
  { finishedGroups: false, pending: false, finished: false, reasons: false },
  { finishedGroups: true, pending: false, finished: false, reasons: false },
  { finishedGroups: true, pending: true, finished: false, reasons: false },
  { finishedGroups: true, pending: true, finished: true, reasons: false },
  { finishedGroups: true, pending: true, finished: true, reasons: true },
]

function drawGroup(group: StageGroup, fold: Fold, view: RunView, now: number): readonly Line[] {
  const head = drawHeading(group, now)
  const finished = group.stages.every(({ state }) => state === 'done' || state === 'skipped')
  const notStarted = group.stages.every(({ state }) => state === 'pending')
  if ((fold.finishedGroups && finished) || (fold.pending && notStarted)) return [head]
  const shown = group.stages.filter(
    ({ state }) =>
      !(fold.pending && state === 'pending') && !(fold.finished && (state === 'done' || state === 'skipped')),
  )
  return [head, ...shown.flatMap((stage) => drawStage(stage, fold, view, now))]
}

function drawHeading({ cloud, stages }: StageGroup, now: number): Line {
  const state = groupState(stages)
  const finished = stages.filter((stage) => isFinished(stage.state)).length
  const started = Math.min(...stages.map((stage) => stage.startedAt ?? Number.POSITIVE_INFINITY))
  const ended = Math.max(...stages.map((stage) => (stage.startedAt ?? 0) + (stage.ms ?? 0)))
  const running = stages.some((stage) => stage.state === 'running')
  const took = Number.isFinite(started) ? formatDuration(Math.max(0, (running ? now : ended) - started)) : ''
  const right = `${finished}/${stages.length}  ${took.padStart(6)}`
  return { indent: 0, state, text: cloud ?? 'shared', tone: tones[state], right }
}

function groupState(stages: readonly StageView[]): StageState {
  const has = (state: StageState): boolean => stages.some((stage) => stage.state === state)
  for (const state of ['failed', 'running', 'stopped', 'blocked'] as const) if (has(state)) return state
  if (has('pending')) return stages.some((stage) => isFinished(stage.state)) ? 'running' : 'pending'
  return has('done') ? 'done' : 'skipped'
}

function drawStage(stage: StageView, fold: Fold, view: RunView, now: number): readonly Line[] {
  const { state, name } = stage
  const reason = oneLine(stage.reason ?? blockedBy(stage, view))
  const inline = state === 'skipped' || state === 'pending' || (fold.reasons && reason !== '')
  const line: Line = {
    indent: 1,
    state,
    text: inline ? `${name}  ${reason}`.trimEnd() : name,
    tone: state === 'pending' || state === 'skipped' ? 'quiet' : 'plain',
    right: formatTime(stage, now),
  }
  const below = reason !== '' && !inline && state !== 'done'
  return below ? [line, { indent: 3, text: reason, tone: state === 'failed' ? 'bad' : 'quiet' }] : [line]
}

/** The stage of another group that a pending stage waits for; the order within a group is visible already. */
function blockedBy({ state, cloud, after }: StageView, view: RunView): string {
  if (state !== 'pending') return ''
  const before = after
    .flatMap((id) => view.stages.get(id) ?? [])
    .find((other) => other.cloud !== cloud && !isFinished(other.state))
  return before ? `after ${before.id}` : ''
}

function formatTime({ state, startedAt, ms, progress }: StageView, now: number): string {
  const steps = progress && state === 'running' ? `${progress.done}/${progress.total}  ` : ''
  if (state === 'running' && startedAt !== undefined) return steps + formatDuration(Math.max(0, now - startedAt))
  return state === 'done' || state === 'failed' || state === 'stopped' ? formatDuration(ms ?? 0) : ''
}

/** For more clouds than rows: one line per cloud, those with running or failed stages first, then a count. */
function drawSummary(view: RunView, groups: readonly StageGroup[], size: TreeSize): readonly string[] {
  const ranked = groups.toSorted((a, b) => rank(a) - rank(b))
  const lines = ranked.slice(0, Math.max(0, size.rows - 2)).map((group): Line => {
    const active = group.stages.find(({ state }) => state === 'failed' || state === 'running')
    const head = drawHeading(group, size.now)
    const stage = active ? `  ${active.name}${active.reason ? `: ${oneLine(active.reason)}` : ''}` : ''
    return { ...head, text: head.text + stage }
  })
  const rest = ranked.length - lines.length
  const more: Line = { indent: 0, text: `… and ${rest} more`, tone: 'quiet' }
  return [drawTitle(view, size.now), ...lines, ...(rest > 0 ? [more] : [])]
    .slice(0, Math.max(1, size.rows))
    .map((line) => paint(line, size))
}

function rank({ stages }: StageGroup): number {
  return ['failed', 'running', 'stopped', 'blocked', 'pending', 'done', 'skipped'].indexOf(groupState(stages))
}

function paint({ indent, state, text, tone, right = '' }: Line, { columns, colour }: TreeSize): string {
  const { green, cyan, red, dim } = pc.createColors(colour)
  const painters = { good: green, busy: cyan, bad: red, quiet: dim, plain: (plain: string) => plain }
  // The last column stays free: a full line would make some terminals wrap.
  const width = Math.max(1, columns - 1)
  const left = `${'  '.repeat(indent)}${state ? `${symbols[state]} ` : ''}`
  const space = width - left.length - (right ? right.length + 1 : 0)
  const shown = truncate(text, space)
  const gap = right ? ' '.repeat(Math.max(1, width - left.length - shown.length - right.length)) : ''
  const mark = state ? left.replace(symbols[state], painters[tones[state]](symbols[state])) : left
  const line = `${mark}${painters[tone](shown)}${gap}${right ? dim(right) : ''}`
  return space < 1 ? truncate(text, width) : line
}
