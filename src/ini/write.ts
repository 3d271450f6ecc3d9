/**
 * Writes a configuration file that oslo.config reads back to exactly the given values.
 *
 * Pure and deterministic. A value that the format cannot hold is rejected, never approximated.
 */
import { type Finding, type FindingContext, finding } from '../errors/finding.ts'
import { unwritableOption } from './findings.ts'
import { trim } from './whitespace.ts'

/** One option to write. Repeat the key for a multi-valued option. oslo.config expands `$`. */
export interface IniOption {
  readonly section: string
  readonly key: string
  readonly value: string
}

export type WriteResult =
  | { readonly kind: 'written'; readonly text: string }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }

export interface WriteSettings {
  /** Comment lines at the top. */
  readonly header?: readonly string[]
  readonly where?: FindingContext['where']
}

export function writeIni(options: readonly IniOption[], settings: WriteSettings = {}): WriteResult {
  const findings = options.flatMap((option) => {
    const reason = findObstacle(option)
    const { section, key } = option
    return reason ? [finding(unwritableOption, { section, key, reason }, { where: settings.where })] : []
  })
  if (findings.length) return { kind: 'refused', findings }
  const comments = (settings.header ?? []).map((line) => `# ${line}\n`).join('')
  const blocks = sectionRuns(options).map(formatRun)
  return { kind: 'written', text: [comments, ...blocks].filter((block) => block !== '').join('\n') }
}

/** Adjacent options of one section share a header. The order is kept: it decides which value wins. */
function sectionRuns(options: readonly IniOption[]): readonly (readonly IniOption[])[] {
  const runs: IniOption[][] = []
  for (const option of options) {
    const run = runs.at(-1)
    if (run?.[0]?.section === option.section) run.push(option)
    else runs.push([option])
  }
  return runs
}

function formatRun(options: readonly IniOption[]): string {
  const lines = options.map(({ key, value }) => `${key} =${formatValue(value)}\n`)
  return `[${options[0]?.section}]\n${lines.join('')}`
}

function formatValue(value: string): string {
  const [first = '', ...rest] = value.split('\n')
  const quoted = trim(first) !== first || /^(["']).*\1$|^["']$/s.test(first) ? `"${first}"` : first
  return [quoted && ` ${quoted}`, ...rest.map((line) => `\n    ${line}`)].join('')
}

/** Why this option cannot be written, or undefined when it can. */
function findObstacle({ section, key, value }: IniOption): string | undefined {
  if (section === '' || /[\r\n]/.test(section)) return 'its section has no name that fits on one line'
  if (key === '' || trim(key) !== key || /[:=\r\n]|^[[#;]/.test(key))
    return "an option's name is one word without `:` and `=`, and starts with neither `[`, `#` nor `;`"
  if (value.includes('\r')) return 'a value cannot contain a carriage return'
  const [, ...rest] = value.split('\n')
  if (rest.some((line) => trim(line) === '')) return 'a value of several lines cannot have an empty one'
  if (rest.some((line) => trim(line) !== line))
    return 'the second and later lines of a value cannot begin or end with a space'
  return undefined
}
