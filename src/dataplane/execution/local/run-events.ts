/**
 * Parses the events of a playbook, and determines from them how the run ended.
 *
 * Pure. `playbooks/callback/stackloom_events.py` writes the events.
 */

import type { Redact } from '../../../exec/redact.ts'
import type { HostResult } from '../../kinds/ansible-run.ts'
import type { RunEnd } from '../executor.ts'
import { formatRefusedKey, parseRefusedKey } from '../host-keys.ts'

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

/** The last line may be incomplete. */
export function parseEvents(text: string): readonly RunEvent[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as RunEvent]
      } catch {
        // A killed run may leave an incomplete line.
        return []
      }
    })
}

export function currentTask(events: readonly RunEvent[]): string | undefined {
  const last = events.findLast((event) => event.event === 'task')
  return last?.event === 'task' ? last.name : undefined
}

/** Failures that the playbook does not ignore, in order. */
export function formatFailures(events: readonly RunEvent[], mask: Redact): readonly string[] {
  return events.flatMap((event) =>
    (event.event === 'failed' || event.event === 'unreachable') && !event.ignored
      ? [toLine(mask(`${event.host}: ${event.task}: ${event.message}`))]
      : [],
  )
}

/** The end of a run that exited by itself; `output` is the last of its output. */
export function resolveEnd(events: readonly RunEvent[], code: number, output: string, mask: Redact): RunEnd {
  const stats = events.findLast((event) => event.event === 'stats')
  if (stats?.event !== 'stats') {
    // An unreachable host and an invalid playbook give the same code: only with the former a play starts.
    if (events.some((event) => event.event === 'play') || code >= 128)
      return { reason: 'Unknown', message: `Ansible ended with code ${code} and without a result` }
    return { reason: 'NotStarted', message: toLine(mask(output)) || `Ansible ended with code ${code}` }
  }
  const hosts = Object.fromEntries(
    Object.entries(stats.hosts).map(([host, { ok, changed, failures, unreachable }]) => [
      host,
      { ok, changed, failures, unreachable },
    ]),
  )
  const failed = Object.values(hosts).some((host) => host.failures > 0)
  const unreachable = Object.values(hosts).some((host) => host.unreachable > 0)
  const refusedKey = findRefusedKey(events)
  const kind = failed ? 'failed' : 'unreachable'
  const first = findCause(events, kind, mask)
  if (!failed && !unreachable && code === 0) {
    if (Object.keys(hosts).length > 0) return { reason: 'Completed', hosts }
    return { reason: 'NotStarted', message: 'the play matches no host of the inventory' }
  }
  if (!failed && refusedKey) {
    return { reason: 'Unreachable', message: formatRefusedKey(refusedKey.host, refusedKey.sent), hosts, refusedKey }
  }
  return {
    reason: failed || !unreachable ? 'Failed' : 'Unreachable',
    message: first === undefined ? `Ansible ended with code ${code}` : first,
    hosts,
  }
}

/** The last failure of the first host that failed: tasks that the playbook rescued failed before the one that reports why. */
function findCause(events: readonly RunEvent[], kind: 'failed' | 'unreachable', mask: Redact): string | undefined {
  const failures = events.flatMap((event) => (event.event === kind && !event.ignored ? [event] : []))
  const cause = failures.findLast(({ host }) => host === failures[0]?.host)
  return cause && formatFailures([cause], mask)[0]
}

function findRefusedKey(events: readonly RunEvent[]): RunEnd['refusedKey'] {
  for (const event of events) {
    const refused = event.event === 'unreachable' ? parseRefusedKey(event.message) : undefined
    if (refused && event.event === 'unreachable') return { host: event.host, ...refused }
  }
  return undefined
}

/** A single line that fits into a condition. */
function toLine(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return flat.length > 300 ? `${flat.slice(0, 299)}…` : flat
}
