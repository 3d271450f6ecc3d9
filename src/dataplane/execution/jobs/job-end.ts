/**
 * Determines how a Job ended, from its conditions and the termination messages of its pods.
 *
 * Pure. A message is upstream's summary where the image writes one, and otherwise the end of the log with Ansible's recap.
 */

import { asRecord, asStrings } from '../../../api/json.ts'
import type { Condition, KubeObject } from '../../../api/object.ts'
import type { HostResult } from '../../kinds/ansible-run.ts'
import type { RunEnd } from '../executor.ts'
import { formatRefusedKey, parseRefusedKey } from '../host-keys.ts'
import { parseReportedKeys } from './pod-command.ts'

/** Undefined while the Job runs. */
export function parseJobEnd(job: KubeObject, message: string): RunEnd | undefined {
  const { hostKeys, rest: terminationMessage } = parseReportedKeys(message)
  const { conditions = [] } = (job['status'] ?? {}) as { readonly conditions?: readonly Condition[] }
  const findTrue = (type: string): Condition | undefined =>
    conditions.find((condition) => condition.type === type && condition.status === 'True')
  const hosts = parseHostResults(terminationMessage)
  const counted = hosts && { hosts }
  // Only here: the message of a failed run is the end of its log, in which a host could write keys of others.
  if (findTrue('Complete')) return { reason: 'Completed', ...counted, ...(hostKeys && { hostKeys }) }
  const failed = findTrue('Failed')
  if (!failed) return undefined
  if (failed.reason === 'DeadlineExceeded') return { reason: 'TimedOut', message: 'the Job reached its time limit' }
  const results = Object.entries(hosts ?? {})
  const failedHosts = results.filter(([, counts]) => counts.failures > 0).map(([host]) => host)
  const unreachable = results.filter(([, counts]) => counts.unreachable > 0).map(([host]) => host)
  if (failedHosts.length === 0 && unreachable.length > 0)
    return { reason: 'Unreachable', ...describeUnreachable(unreachable, terminationMessage), ...counted }
  const problem =
    failedHosts.length > 0
      ? `${failedHosts.join(', ')}: ${findError(terminationMessage) ?? 'a task failed'}`
      : (findError(terminationMessage) ?? failed.message ?? 'the Job failed')
  return { reason: 'Failed', message: problem, ...counted }
}

function describeUnreachable(
  hosts: readonly string[],
  text: string,
): { readonly message: string; readonly refusedKey?: NonNullable<RunEnd['refusedKey']> } {
  for (const [line, host = ''] of text.matchAll(/^fatal: \[([^\]]+)\]: UNREACHABLE! .*$/gm)) {
    const refused = parseRefusedKey(line)
    if (refused) return { message: formatRefusedKey(host, refused.sent), refusedKey: { host, ...refused } }
  }
  return { message: `${hosts.join(', ')}: not reachable` }
}

const RECAP = /^(\S+)\s*: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)/gm

function parseHostResults(text: string): Readonly<Record<string, HostResult>> | undefined {
  const summary = parseSummary(text)
  if (summary) {
    const counts = (failures: number, unreachable: number) => ({ ok: 0, changed: 0, failures, unreachable })
    const { failedHostList = [], unreachableHostList = [] } = summary
    return Object.fromEntries([
      ...failedHostList.map((host) => [host, counts(1, 0)] as const),
      ...unreachableHostList.map((host) => [host, counts(0, 1)] as const),
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
    const { failedHostList, unreachableHostList } = asRecord(JSON.parse(text))
    return { failedHostList: asStrings(failedHostList), unreachableHostList: asStrings(unreachableHostList) }
  } catch {
    return undefined
  }
}

/** Finds Ansible's error message: `fatal: [host]: FAILED! => {"msg": "…"}`. */
function findError(text: string): string | undefined {
  const fatal = text.match(/^(?:fatal|failed): .*$/m)?.[0]
  const message = fatal?.match(/"msg": "((?:[^"\\]|\\.)*)"/)?.[1] ?? text.match(/^ERROR! (.*)$/m)?.[1]
  // dnf names the packages here, and not in its message.
  const reasons = fatal?.match(/"failures": \["((?:[^"\\]|\\.)*)"/)?.[1]
  return (reasons === undefined ? message : `${message}: ${reasons}`)?.slice(0, 300)
}
