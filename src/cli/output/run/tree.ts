/**
 * A run as a picture: the shared stages and each cloud's as a tree, with times, and below each stage why it waits.
 *
 * Pure: view and size in, lines out. When the screen is too small, what is over folds first, what is at work last.
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
  /** Stands at the right edge. */
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

/** The fullest picture that fits into the rows. */
export function drawTree(view: RunView, size: TreeSize): readonly string[] {
  const groups = groupStages(view)
  for (const fold of folds) {
    const lines = [title(view, size.now), ...groups.flatMap((group) => drawGroup(group, fold, view, size.now))]
    if (lines.length <= size.rows) return lines.map((line) => paint(line, size))
  }
  return cramped(view, groups, size)
}

function title(view: RunView, now: number): Line {
  const over = [...view.stages.values()].filter(({ state }) => isFinished(state)).length
  const took = formatDuration(view.ms ?? Math.max(0, now - view.startedAt))
  return {
    indent: 0,
    text: view.what,
    tone: 'plain',
    right: `${over}/${view.stages.size}  ${took.padStart(6)}`,
  }
}

/** How much of a group is shown: each step folds more, and never what is at work or went wrong. */
interface Fold {
  readonly overGroups: boolean
  readonly pending: boolean
  readonly over: boolean
  readonly reasons: boolean
}

const folds: readonly Fold[] = [
  { overGroups: false, pending: false, over: false, reasons: false },
  { overGroups: true, pending: false, over: false, reasons: false },
  { overGroups: true, pending: true, over: false, reasons: false },
  { overGroups: true, pending: true, over: true, reasons: false },
  { overGroups: true, pending: true, over: true, reasons: true },
]

function drawGroup(group: StageGroup, fold: Fold, view: RunView, now: number): readonly Line[] {
  const head = heading(group, now)
  const settled = group.stages.every(({ state }) => state === 'done' || state === 'skipped')
  const untouched = group.stages.every(({ state }) => state === 'pending')
  if ((fold.overGroups && settled) || (fold.pending && untouched)) return [head]
  const shown = group.stages.filter(
    ({ state }) => !(fold.pending && state === 'pending') && !(fold.over && (state === 'done' || state === 'skipped')),
  )
  return [head, ...shown.flatMap((stage) => drawStage(stage, fold, view, now))]
}

function heading({ cloud, stages }: StageGroup, now: number): Line {
  const state = groupState(stages)
  const over = stages.filter((stage) => isFinished(stage.state)).length
  const began = Math.min(...stages.map((stage) => stage.startedAt ?? Number.POSITIVE_INFINITY))
  const ended = Math.max(...stages.map((stage) => (stage.startedAt ?? 0) + (stage.ms ?? 0)))
  const running = stages.some((stage) => stage.state === 'running')
  const took = Number.isFinite(began) ? formatDuration(Math.max(0, (running ? now : ended) - began)) : ''
  const right = `${over}/${stages.length}  ${took.padStart(6)}`
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
  const reason = oneLine(stage.reason ?? heldUpBy(stage, view))
  const inline = state === 'skipped' || state === 'pending' || (fold.reasons && reason !== '')
  const line: Line = {
    indent: 1,
    state,
    text: inline ? `${name}  ${reason}`.trimEnd() : name,
    tone: state === 'pending' || state === 'skipped' ? 'quiet' : 'plain',
    right: timeOf(stage, now),
  }
  const below = reason !== '' && !inline && state !== 'done'
  return below ? [line, { indent: 3, text: reason, tone: state === 'failed' ? 'bad' : 'quiet' }] : [line]
}

/** A stage that has not begun for the sake of another group's: the order within its own group is plain to see. */
function heldUpBy({ state, cloud, after }: StageView, view: RunView): string {
  if (state !== 'pending') return ''
  const before = after
    .flatMap((id) => view.stages.get(id) ?? [])
    .find((stageView) => stageView.cloud !== cloud && !isFinished(stageView.state))
  return before ? `after ${before.id}` : ''
}

function timeOf({ state, startedAt, ms, progress }: StageView, now: number): string {
  const steps = progress && state === 'running' ? `${progress.done}/${progress.total}  ` : ''
  if (state === 'running' && startedAt !== undefined) return steps + formatDuration(Math.max(0, now - startedAt))
  return state === 'done' || state === 'failed' || state === 'stopped' ? formatDuration(ms ?? 0) : ''
}

/** More clouds than rows: one line for each that is at work or went wrong, and how many there are besides. */
function cramped(view: RunView, groups: readonly StageGroup[], size: TreeSize): readonly string[] {
  const ranked = groups.toSorted((a, b) => rank(a) - rank(b))
  const room = Math.max(0, size.rows - 2)
  const lines = ranked.slice(0, room).map((group): Line => {
    const busy = group.stages.find(({ state }) => state === 'failed' || state === 'running')
    const head = heading(group, size.now)
    const what = busy ? `  ${busy.name}${busy.reason ? `: ${oneLine(busy.reason)}` : ''}` : ''
    return { ...head, text: head.text + what }
  })
  const rest = ranked.length - lines.length
  const more: Line = { indent: 0, text: `… and ${rest} more`, tone: 'quiet' }
  return [title(view, size.now), ...lines, ...(rest > 0 ? [more] : [])]
    .slice(0, Math.max(1, size.rows))
    .map((line) => paint(line, size))
}

function rank({ stages }: StageGroup): number {
  return ['failed', 'running', 'stopped', 'blocked', 'pending', 'done', 'skipped'].indexOf(groupState(stages))
}

function paint({ indent, state, text, tone, right = '' }: Line, { columns, colour }: TreeSize): string {
  const { green, cyan, red, dim } = pc.createColors(colour)
  const painters = { good: green, busy: cyan, bad: red, quiet: dim, plain: (one: string) => one }
  // The last column stays free: a full line would make some terminals wrap.
  const width = Math.max(1, columns - 1)
  const left = `${'  '.repeat(indent)}${state ? `${symbols[state]} ` : ''}`
  const room = width - left.length - (right ? right.length + 1 : 0)
  const shown = truncate(text, room)
  const gap = right ? ' '.repeat(Math.max(1, width - left.length - shown.length - right.length)) : ''
  const mark = state ? left.replace(symbols[state], painters[tones[state]](symbols[state])) : left
  const line = `${mark}${painters[tone](shown)}${gap}${right ? dim(right) : ''}`
  return room < 1 ? truncate(text, width) : line
}
