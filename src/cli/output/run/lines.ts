/**
 * Prints events as plain lines, for logs and CI; nothing is redrawn.
 *
 * The reason of a wait is repeated once a minute, and a reason that keeps changing is printed every few seconds.
 */
import pc from 'picocolors'
import type { RunEvent } from '../../../run/events.ts'
import { keyOfStage } from '../../../run/run-view.ts'
import { formatFinding } from '../findings.ts'
import { formatDuration, formatObject, oneLine } from '../text.ts'
import type { Printer } from './printer.ts'

export interface LinesOptions {
  readonly colour: boolean
  /** Minimum time between two different reasons of one stage. */
  readonly changeMs?: number
  /** Minimum time before the same reason is printed again. */
  readonly repeatMs?: number
}

interface PrintedReason {
  readonly reason: string
  readonly time: number
}

export function linesPrinter(write: (text: string) => void, options: LinesOptions): Printer {
  const { colour, changeMs = 5_000, repeatMs = 60_000 } = options
  const printed = new Map<string, PrintedReason>()
  const isDue = (event: RunEvent, reason: string): boolean => {
    const key = keyOfStage(event)
    const last = printed.get(key)
    const time = Date.parse(event.time)
    if (last && time - last.time < (last.reason === reason ? repeatMs : changeMs)) return false
    printed.set(key, { reason, time })
    return true
  }
  const sink = (event: RunEvent): void => {
    if (event.kind === 'waiting' && !isDue(event, event.reason)) return
    if (event.kind === 'progress' && !isDue(event, event.message)) return
    if (event.kind === 'stage-finished' || event.kind === 'stage-skipped') printed.delete(keyOfStage(event))
    const text = formatEvent(event, colour)
    if (text === undefined) return
    write(`${event.time.slice(11, 19)} ${event.stage === undefined ? '' : `${keyOfStage(event)}: `}${text}\n`)
  }
  return { sink, close: () => undefined }
}

/** Undefined for an event that is not worth a line. */
function formatEvent(event: RunEvent, colour: boolean): string | undefined {
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
