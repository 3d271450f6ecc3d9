/**
 * How a Job ended, from its conditions and from the last words of its pod.
 *
 * Pure. The words are upstream's summary where the image leaves one, and otherwise the end of the log, with Ansible's
 * own recap.
 */

import type { Condition, KubeObject } from '../../../api/object.ts'
import type { HostResult } from '../../kinds/ansible-run.ts'
import type { RunEnd } from '../executor.ts'

/** Undefined while it works. */
export function parseJobEnd(job: KubeObject, lastWords: string): RunEnd | undefined {
  const { conditions = [] } = (job['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
  const is = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True')
  const hosts = parseHostResults(lastWords)
  const counted = hosts && { hosts }
  if (is('Complete')) return { reason: 'Completed', ...counted }
  const failed = is('Failed')
  if (!failed) return undefined
  if (failed.reason === 'DeadlineExceeded') return { reason: 'TimedOut', message: 'the Job reached its time limit' }
  const all = Object.entries(hosts ?? {})
  const broken = all.filter(([, one]) => one.failures > 0).map(([host]) => host)
  const dark = all.filter(([, one]) => one.unreachable > 0).map(([host]) => host)
  if (broken.length === 0 && dark.length > 0)
    return { reason: 'Unreachable', message: `${dark.join(', ')}: not reachable`, ...counted }
  const message =
    broken.length > 0
      ? `${broken.join(', ')}: ${findError(lastWords) ?? 'a task failed'}`
      : (findError(lastWords) ?? failed.message ?? 'the Job failed')
  return { reason: 'Failed', message, ...counted }
}

const RECAP = /^(\S+)\s*: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)/gm

function parseHostResults(text: string): Readonly<Record<string, HostResult>> | undefined {
  const summary = parseSummary(text)
  if (summary) {
    const one = (failures: number, unreachable: number) => ({ ok: 0, changed: 0, failures, unreachable })
    const { failedHostList = [], unreachableHostList = [] } = summary
    return Object.fromEntries([
      ...failedHostList.map((host) => [host, one(1, 0)] as const),
      ...unreachableHostList.map((host) => [host, one(0, 1)] as const),
    ])
  }
  const rows = [...text.matchAll(RECAP)].map(([, host = '', ok, changed, unreachable, failures]) => [
    host,
    {
      ok: Number(ok),
      changed: Number(changed),
      failures: Number(failures),
      unreachable: Number(unreachable),
    },
  ])
  return rows.length > 0 ? Object.fromEntries(rows) : undefined
}

interface Summary {
  readonly failedHostList?: readonly string[]
  readonly unreachableHostList?: readonly string[]
}

function parseSummary(text: string): Summary | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Summary
  } catch {
    return undefined
  }
}

/** What Ansible said when it failed: `fatal: [host]: FAILED! => {"msg": "…"}`. */
function findError(text: string): string | undefined {
  const fatal = text.match(/^(?:fatal|failed): .*$/m)?.[0]
  const said = fatal?.match(/"msg": "((?:[^"\\]|\\.)*)"/)?.[1] ?? text.match(/^ERROR! (.*)$/m)?.[1]
  return said?.slice(0, 300)
}
