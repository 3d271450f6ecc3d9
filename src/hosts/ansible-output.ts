/**
 * Finds in the output of `ansible-playbook` on which host which task failed, and groups equal causes. Pure.
 *
 * Reads the default format of Ansible: `fatal: [host]: FAILED! => {…}` below `TASK [name]`, and the recap.
 */

import { groupBy } from '../api/collections.ts'
import { asRecord, asString, asStrings } from '../api/json.ts'
import { redactLine } from '../ini/redact-line.ts'
import { readYaml } from '../yaml/read.ts'

export interface TaskFailure {
  readonly host: string
  readonly task: string
  readonly reason: 'failed' | 'unreachable'
  /** One line, credentials masked. */
  readonly cause: string
}

const TASK = /^(?:TASK|RUNNING HANDLER) \[(.*)\] \**$/
const FAILURE =
  /^(?:fatal|failed): \[([^\]\s]+)(?: -> [^\]]+)?\](?::? ?(FAILED!|UNREACHABLE!))?(?: \(item=.*?\))? => ?(.*)$/
const SUCCESS = /^(?:ok|changed): \[([^\]\s]+)/
const RECAP = /^(\S+) +: ok=\d+ +changed=\d+ +unreachable=(\d+) +failed=(\d+)/

/** The failure that ended the run on each host. Failures that were ignored or rescued are left out. */
export function parseAnsibleFailures(output: string): readonly TaskFailure[] {
  const last = new Map<string, TaskFailure>()
  const recap = new Map<string, boolean>()
  const lines = output.split(/\r?\n/)
  let task = ''
  let ignorable: string | undefined
  for (const [index, line] of lines.entries()) {
    const [, host, verdict, rest = ''] = FAILURE.exec(line) ?? []
    if (host !== undefined) {
      const reason = verdict === 'UNREACHABLE!' ? 'unreachable' : 'failed'
      last.set(host, { host, task, reason, cause: findCause(rest, lines.slice(index + 1, index + 1 + LONGEST_RESULT)) })
      ignorable = host
      continue
    }
    if (line === '...ignoring' && ignorable !== undefined) last.delete(ignorable)
    task = TASK.exec(line)?.[1] ?? task
    const succeeded = SUCCESS.exec(line)?.[1]
    // A host that goes on was rescued.
    if (succeeded !== undefined) last.delete(succeeded)
    const [, name, unreachable, failed] = RECAP.exec(line) ?? []
    if (name !== undefined) recap.set(name, unreachable !== '0' || failed !== '0')
  }
  return [...last.values()].filter(({ host }) => recap.get(host) ?? true)
}

/** Lines of a result that is printed over several lines. */
const LONGEST_RESULT = 200

/** Ansible's texts name the file or variable late. */
const LONGEST_CAUSE = 240

/** The message of a failed result; of a command, what it printed last. */
function findCause(rest: string, following: readonly string[]): string {
  const result = parseResult(rest, following)
  const message = asString(result['msg']) ?? asString(result['reason']) ?? asString(result['censored']) ?? ''
  const printed = lastLine(asString(result['stderr'])) ?? lastLine(asString(result['stdout']))
  // dnf names the packages here, and not in its message.
  const reasons = asStrings(result['failures']).map((reason) => `: ${reason}`)
  const isGeneric = message === '' || /^(non-zero return code|MODULE FAILURE)/.test(message)
  const cause = isGeneric ? (printed ?? message) : [message, ...reasons].join('')
  return redactLine((cause === '' ? rest : cause).replaceAll(/\s+/g, ' ').trim(), LONGEST_CAUSE)
}

function parseResult(rest: string, following: readonly string[]): Readonly<Record<string, unknown>> {
  const end = following.findIndex((line) => line.startsWith('}'))
  const texts = [rest, ...(rest === '{' && end >= 0 ? [[rest, ...following.slice(0, end), '}'].join('\n')] : [])]
  for (const text of texts) {
    try {
      return asRecord(JSON.parse(text))
    } catch {
      // The result is printed in another form.
    }
  }
  // `result_format=yaml` prints indented fields below the line.
  const last = following.findIndex((line) => !/^( {4}|$)/.test(line))
  const fields = following.slice(0, last < 0 ? following.length : last).map((line) => line.slice(4))
  return asRecord(readYaml(fields.join('\n'), 'result').value)
}

function lastLine(text: string | undefined): string | undefined {
  return text?.trim().split('\n').at(-1)?.trim() || undefined
}

/** Equal causes of several hosts, the most frequent first. Names and addresses of hosts do not make a difference. */
export function groupCauses<T extends Pick<TaskFailure, 'host' | 'task' | 'cause'>>(
  failures: readonly T[],
): readonly (readonly T[])[] {
  const groups = groupBy(failures, ({ host, task, cause }) => {
    const common = cause.replaceAll(host, 'HOST').replaceAll(/\b\d+(?:\.\d+){3}\b/g, 'ADDRESS')
    return JSON.stringify([task, common])
  })
  return [...groups.values()].sort((a, b) => b.length - a.length)
}
