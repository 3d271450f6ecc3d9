/**
 * What a playbook told while it ran, and what that means for its end.
 *
 * Pure. The lines are those of `playbooks/callback/stackloom_events.py`.
 */

import type { Redact } from '../../../exec/redact.ts'
import type { HostResult } from '../../kinds/ansible-run.ts'
import type { RunEnd } from '../executor.ts'

export type RunEvent =
  | { readonly event: 'play'; readonly name: string }
  | { readonly event: 'task'; readonly name: string }
  | {
      readonly event: 'failed' | 'unreachable'
      readonly host: string
      readonly task: string
      readonly message: string
      readonly ignored?: boolean
    }
  | { readonly event: 'stats'; readonly hosts: Readonly<Record<string, HostResult>> }

/** The events of a text; the last line may not be whole yet. */
export function parseEvents(text: string): readonly RunEvent[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as RunEvent]
      } catch {
        // A line that a killed run has left half written.
        return []
      }
    })
}

export function currentTask(events: readonly RunEvent[]): string | undefined {
  const last = events.findLast((event) => event.event === 'task')
  return last?.event === 'task' ? last.name : undefined
}

/** What failed and was not meant to, in order. */
export function formatFailures(events: readonly RunEvent[], mask: Redact): readonly string[] {
  return events.flatMap((event) =>
    (event.event === 'failed' || event.event === 'unreachable') && !event.ignored
      ? [toLine(mask(`${event.host}: ${event.task}: ${event.message}`))]
      : [],
  )
}

/** How a run ended that ended by itself; `said` is the last that it printed. */
export function resolveEnd(events: readonly RunEvent[], code: number, said: string, mask: Redact): RunEnd {
  const stats = events.findLast((event) => event.event === 'stats')
  if (stats?.event !== 'stats') {
    // The same code means an unreachable host and a wrong playbook: whether a play began tells them apart.
    if (events.some((event) => event.event === 'play') || code >= 128)
      return { reason: 'Unknown', message: `Ansible ended with code ${code} and without a result` }
    return { reason: 'NotStarted', message: toLine(mask(said)) || `Ansible ended with code ${code}` }
  }
  const hosts = Object.fromEntries(
    Object.entries(stats.hosts).map(([host, { ok, changed, failures, unreachable }]) => [
      host,
      { ok, changed, failures, unreachable },
    ]),
  )
  const failed = Object.values(hosts).some((host) => host.failures > 0)
  const unreachable = Object.values(hosts).some((host) => host.unreachable > 0)
  const wanted = failed ? 'failed' : 'unreachable'
  const [first] = formatFailures(
    events.filter((event) => event.event === wanted),
    mask,
  )
  if (!failed && !unreachable && code === 0) {
    if (Object.keys(hosts).length > 0) return { reason: 'Completed', hosts }
    return { reason: 'NotStarted', message: 'no host of the inventory is meant by the play' }
  }
  return {
    reason: failed || !unreachable ? 'Failed' : 'Unreachable',
    message: first === undefined ? `Ansible ended with code ${code}` : first,
    hosts,
  }
}

/** One line that fits into a condition. */
function toLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > 300 ? `${flat.slice(0, 299)}…` : flat
}
