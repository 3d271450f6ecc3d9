/**
 * Events as plain lines, for logs and CI: each line stands alone, nothing is redrawn.
 *
 * A wait that says the same again is told once a minute, and one that keeps changing its mind every few seconds.
 */
import pc from 'picocolors'
import type { RunEvent } from '../../../run/events.ts'
import { keyOfStage } from '../../../run/run-view.ts'
import { formatFinding } from '../findings.ts'
import { formatDuration, formatObject, oneLine } from '../text.ts'
import type { Printer } from './printer.ts'

export interface LinesOptions {
  readonly colour: boolean
  /** Least time between two different reasons of one stage. */
  readonly changeMs?: number
  /** Least time before the same reason is told again. */
  readonly repeatMs?: number
}

interface Told {
  readonly reason: string
  readonly at: number
}

export function linesPrinter(write: (text: string) => void, settings: LinesOptions): Printer {
  const { colour, changeMs = 5_000, repeatMs = 60_000 } = settings
  const told = new Map<string, Told>()
  const isNews = (event: RunEvent, reason: string): boolean => {
    const key = keyOfStage(event)
    const last = told.get(key)
    const at = Date.parse(event.time)
    if (last && at - last.at < (last.reason === reason ? repeatMs : changeMs)) return false
    told.set(key, { reason, at })
    return true
  }
  const sink = (event: RunEvent): void => {
    if (event.kind === 'waiting' && !isNews(event, event.reason)) return
    if (event.kind === 'progress' && !isNews(event, event.message)) return
    if (event.kind === 'stage-finished' || event.kind === 'stage-skipped') told.delete(keyOfStage(event))
    const text = sentence(event, colour)
    if (text === undefined) return
    write(`${event.time.slice(11, 19)} ${event.stage === undefined ? '' : `${keyOfStage(event)}: `}${text}\n`)
  }
  return { sink, close: () => undefined }
}

/** What an event says in words; nothing for what is not worth a line. */
function sentence(event: RunEvent, colour: boolean): string | undefined {
  const { green, red, yellow, dim } = pc.createColors(colour)
  switch (event.kind) {
    case 'run-started':
      return `${event.what}: ${event.stages.length} stages`
    case 'stage-started':
      return 'started'
    case 'stage-skipped':
      return `${green('skipped')}: ${oneLine(event.reason)}`
    case 'applied':
      return event.change === 'unchanged' || !event.object ? undefined : `${event.change} ${formatObject(event.object)}`
    case 'waiting':
      return `${dim('waiting')}: ${oneLine(event.reason)}`
    case 'progress': {
      const steps = event.done === undefined ? '' : ` (${event.done}/${event.total})`
      return `${oneLine(event.message)}${steps}`
    }
    case 'finding':
      return formatFinding(event.finding, colour).trimEnd()
    case 'stage-finished': {
      const paint = { done: green, failed: red, blocked: red, stopped: yellow }[event.outcome]
      const reason = event.reason === undefined ? '' : `: ${oneLine(event.reason)}`
      const time = event.outcome === 'blocked' ? '' : ` after ${formatDuration(event.ms)}`
      return `${paint(event.outcome)}${time}${reason}`
    }
    case 'run-finished':
      return `${event.outcome} after ${formatDuration(event.ms)}`
    default:
      return undefined
  }
}
