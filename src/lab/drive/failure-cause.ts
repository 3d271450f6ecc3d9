/**
 * The cause of a failure, out of what a tool printed. Pure.
 *
 * Ansible's last lines are a recap; the cause is the first task that failed, on which host, and what its module said.
 */

export interface AnsibleCause {
  readonly kind: 'ansible'
  readonly task: string
  readonly host: string
  readonly cause: string
  /** Further failures. */
  readonly more: number
}

export interface PlainCause {
  readonly kind: 'plain'
  readonly cause: string
}

export type FailureCause = AnsibleCause | PlainCause

const LONGEST = 400

// oxlint-disable-next-line no-control-regex -- colours that a tool printed although it was told not to
const COLOUR = /\u001b\[[0-9;]*m/g

export function extractCause(output: string): FailureCause {
  const lines = output.split('\n').map((line) => line.replaceAll(COLOUR, ''))
  return ansibleCause(lines) ?? { kind: 'plain', cause: plainCause(lines) }
}

function ansibleCause(lines: readonly string[]): AnsibleCause | undefined {
  let task = ''
  const found: { task: string; host: string; cause: string }[] = []
  lines.forEach((line, at) => {
    const started = /^(?:TASK|RUNNING HANDLER) \[(.+?)\] \**$/.exec(line)
    if (started) task = started[1] ?? ''
    const failed =
      /^(?:fatal|failed): \[([^\]\s]+?)(?: -> [^\]]+)?\]:? ?(?:\(item=.*?\) )?(?:FAILED!|UNREACHABLE!)? ?=> ?(.*)$/.exec(
        line,
      )
    if (!failed || isIgnoredFailure(lines, at)) return
    found.push({ task, host: failed[1] ?? '', cause: moduleMessage(lines, at, failed[2] ?? '') })
  })
  const [first] = found
  return first && { kind: 'ansible', ...first, more: found.length - 1 }
}

function isIgnoredFailure(lines: readonly string[], at: number): boolean {
  const end = lines.findIndex(
    (line, index) => index > at && /^(TASK|PLAY|RUNNING|fatal:|failed:|ok:|changed:)/.test(line),
  )
  return lines.slice(at + 1, end < 0 ? undefined : end).some((line) => line.startsWith('...ignoring'))
}

/** Modules answer in JSON, on the same line or on the lines below. */
function moduleMessage(lines: readonly string[], at: number, rest: string): string {
  const json = rest.trim() === '{' ? readJsonBlock(lines, at, rest) : rest
  try {
    const result = JSON.parse(json) as Readonly<Record<string, unknown>>
    const said = ['msg', 'stderr', 'module_stderr', 'stdout'].map((key) => result[key]).find((text) => text)
    return shorten(typeof said === 'string' ? said : JSON.stringify(said ?? result))
  } catch {
    return shorten(json)
  }
}

function readJsonBlock(lines: readonly string[], at: number, first: string): string {
  const end = lines.findIndex((line, index) => index > at && line === '}')
  return [first, ...lines.slice(at + 1, end + 1)].join('\n')
}

/** What a tool marks as its error, or else the last thing it said. */
function plainCause(lines: readonly string[]): string {
  const fatal = lines
    .map((line) => /level=(?:fatal|error) msg=("(?:[^"\\]|\\.)*"|\S+)/.exec(line)?.[1])
    .findLast((one) => one)
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
  const one = text.replaceAll(/\s+/g, ' ').trim()
  return one.length > LONGEST ? `${one.slice(0, LONGEST - 1)}…` : one
}
