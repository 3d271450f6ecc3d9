/**
 * Extracts the cause of a failure from the output of a tool. Pure.
 *
 * Ansible's last lines are a recap; the cause is the first failed task, its host, and the message of its module.
 */

export interface AnsibleCause {
  readonly kind: 'ansible'
  readonly task: string
  readonly host: string
  readonly cause: string
  /** Number of further failures. */
  readonly more: number
}

export interface PlainCause {
  readonly kind: 'plain'
  readonly cause: string
}

export type FailureCause = AnsibleCause | PlainCause

const MAX_LENGTH = 400

// oxlint-disable-next-line no-control-regex -- some tools print colours although they were disabled
const COLOUR = /\u001b\[[0-9;]*m/g

export function extractCause(output: string): FailureCause {
  const lines = output.split('\n').map((line) => line.replaceAll(COLOUR, ''))
  return ansibleCause(lines) ?? { kind: 'plain', cause: plainCause(lines) }
}

const ANSIBLE_FAILURE =
  /^(?:fatal|failed): \[([^\]\s]+?)(?: -> [^\]]+)?\]:? ?(?:\(item=.*?\) )?(?:FAILED!|UNREACHABLE!)? ?=> ?(.*)$/

function ansibleCause(lines: readonly string[]): AnsibleCause | undefined {
  let task = ''
  const failures: { task: string; host: string; cause: string }[] = []
  lines.forEach((line, index) => {
    const started = /^(?:TASK|RUNNING HANDLER) \[(.+?)\] \**$/.exec(line)
    if (started) task = started[1] ?? ''
    const failed = ANSIBLE_FAILURE.exec(line)
    if (!failed || isIgnoredFailure(lines, index)) return
    failures.push({ task, host: failed[1] ?? '', cause: moduleMessage(lines, index, failed[2] ?? '') })
  })
  const [first] = failures
  return first && { kind: 'ansible', ...first, more: failures.length - 1 }
}

function isIgnoredFailure(lines: readonly string[], failedIndex: number): boolean {
  const end = lines.findIndex(
    (line, index) => index > failedIndex && /^(TASK|PLAY|RUNNING|fatal:|failed:|ok:|changed:)/.test(line),
  )
  return lines.slice(failedIndex + 1, end < 0 ? undefined : end).some((line) => line.startsWith('...ignoring'))
}

/** Modules print their result as JSON, on the same line or on the lines below it. */
function moduleMessage(lines: readonly string[], index: number, rest: string): string {
  const json = rest.trim() === '{' ? readJsonBlock(lines, index, rest) : rest
  try {
    const result = JSON.parse(json) as Readonly<Record<string, unknown>>
    const message = ['msg', 'stderr', 'module_stderr', 'stdout'].map((key) => result[key]).find((text) => text)
    return shorten(typeof message === 'string' ? message : JSON.stringify(message ?? result))
  } catch {
    return shorten(json)
  }
}

function readJsonBlock(lines: readonly string[], start: number, first: string): string {
  const end = lines.findIndex((line, index) => index > start && line === '}')
  return [first, ...lines.slice(start + 1, end + 1)].join('\n')
}

/** The line that a tool marks as its error, or else its last line. */
function plainCause(lines: readonly string[]): string {
  const fatal = lines
    .map((line) => /level=(?:fatal|error) msg=("(?:[^"\\]|\\.)*"|\S+)/.exec(line)?.[1])
    .findLast((message) => message)
  if (fatal) return shorten(fatal.startsWith('"') ? unquote(fatal) : fatal)
  const marked = lines.find((line) => /^\W{0,4}(Error|ERROR|error|E)(\s*[:!])/.test(line))
  const last = lines.findLast((line) => line.trim() !== '')
  return shorten((marked ?? last ?? '').replace(/^[│╷╵\s]+/, ''))
}

function unquote(text: string): string {
  try {
    return JSON.parse(text) as string
  } catch {
    return text
  }
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line
}
