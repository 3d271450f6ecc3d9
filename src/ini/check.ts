/**
 * What is wrong with a configuration snippet: where oslo.config refuses it, where it is silently read otherwise than
 * meant, and which generated options it must leave alone.
 *
 * Pure. Whose text it is and where it stands, the caller says.
 */
import { type Finding, type FindingContext, finding, type Problem, type Where } from '../errors/finding.ts'
import { type BindingRule, findBindingRule } from './binding.ts'
import * as problems from './findings.ts'
import { multiValuedOptions, optionKey } from './merge.ts'
import {
  type Assignment,
  type IniSyntaxError,
  normalizeSection,
  parseIni,
  type SectionHeader,
  type SyntaxErrorKind,
} from './parse.ts'
import { redactLine } from './redact-line.ts'
import { findReferences } from './substitute.ts'
import { splitLines, trim } from './whitespace.ts'

export interface CheckSettings {
  /** The place of a line of the text, counted from 1. */
  readonly where?: (line: number) => Where
  /** Options that the generated files bind the service with. */
  readonly binding?: readonly BindingRule[]
  /** What the files read before this one set: a `$name` may refer to it. */
  readonly generated?: readonly Assignment[]
}

export function checkIni(text: string, settings: CheckSettings = {}): readonly Finding[] {
  const file = parseIni(text)
  const lines = splitLines(text)
  const known = knownNames([...(settings.generated ?? []), ...file.assignments])
  const doubts: readonly Doubt[] = [
    ...syntaxDoubts(text, file.errors),
    ...file.sections.flatMap(sectionDoubts),
    ...file.assignments.flatMap((assignment) => [
      ...nameDoubts(assignment),
      ...valueDoubts(assignment, lines[assignment.line - 1] ?? ''),
      ...continuationDoubts(assignment),
      ...referenceDoubts(assignment, known),
      ...bindingDoubts(assignment, settings.binding ?? []),
    ]),
    ...repetitionDoubts(file.assignments),
  ]
  return doubts.toSorted((a, b) => a.line - b.line).map(({ line, make }) => make({ where: settings.where?.(line) }))
}

/** A finding that does not know yet where its text stands. */
interface Doubt {
  readonly line: number
  readonly make: (context: FindingContext) => Finding
}

function doubt<P extends { readonly line: number }>(kind: Problem<P>, facts: P): Doubt {
  return { line: facts.line, make: (context) => finding(kind, facts, context) }
}

const reasons: Readonly<Record<Exclude<SyntaxErrorKind, 'stray-continuation'>, string>> = {
  'no-section': 'an option needs a `[section]` line above it',
  'no-separator': 'there is no `=` or `:` in this line',
  'empty-key': 'there is no option name before the `=` or `:`',
  'unclosed-section': 'a section header ends with `]`, and nothing follows on its line',
  'empty-section': 'a section needs a name',
}

function syntaxDoubts(text: string, errors: readonly IniSyntaxError[]): readonly Doubt[] {
  if (text.startsWith('\ufeff')) {
    const facts = {
      line: 1,
      reason: 'the text starts with a byte order mark',
      text: redactLine(text.slice(1, 40)),
    }
    return [doubt(problems.iniSyntax, facts)]
  }
  return errors.map(({ kind, line, text: source }) =>
    kind === 'stray-continuation'
      ? doubt(problems.indentedIni, { line, text: redactLine(source) })
      : doubt(problems.iniSyntax, { line, reason: reasons[kind], text: redactLine(source) }),
  )
}

function sectionDoubts({ name, line }: SectionHeader): readonly Doubt[] {
  const trimmed = trim(name)
  const meant = trimmed.toUpperCase() === 'DEFAULT' ? 'DEFAULT' : trimmed
  return meant === name ? [] : [doubt(problems.ignoredSection, { line, section: name, meant })]
}

function nameDoubts({ key, line }: Assignment): readonly Doubt[] {
  if (/^[a-z0-9_.-]+$/.test(key)) return []
  const meant = key.toLowerCase().replace(/[^a-z0-9_.-]+/g, '_')
  return [doubt(problems.ignoredOption, { line, key, meant })]
}

function valueDoubts(assignment: Assignment, source: string): readonly Doubt[] {
  const { line } = assignment
  const [value = ''] = assignment.value.split('\n')
  const option = nameOf(assignment)
  if (/\s[#;](\s|$)/.test(value)) {
    return [doubt(problems.inlineComment, { line, option, value: shownValue(assignment, value) })]
  }
  const written = trim(source.slice(source.search(/[:=]/) + 1))
  const untouched = written === value
  const opens = /^["']/.test(written)
  const closes = /["']$/.test(written)
  const pairInside = !untouched && value.includes(written.charAt(0))
  // JSON and lists of quoted words open and close with other characters, or hold their quotes in pairs.
  const lopsided = untouched && opens !== closes && (written.match(/["']/g)?.length ?? 0) % 2 === 1
  if (!lopsided && !pairInside) return []
  return [doubt(problems.strayQuote, { line, option, value: shownValue(assignment, value) })]
}

function continuationDoubts(assignment: Assignment): readonly Doubt[] {
  const option = nameOf(assignment)
  const lines = assignment.value.split('\n')
  return lines.flatMap((text, index) => {
    if (index === 0) return []
    const line = assignment.line + index
    if (/^[#;]/.test(text)) return [doubt(problems.inlineComment, { line, option, value: redactLine(text) })]
    // After a comma it is the next item of a list: `default_log_levels` is written that way.
    const listed = lines[index - 1]?.endsWith(',') ?? false
    const looksMeant = /^\[[\w.-]+\]$|^[a-z][a-z0-9_]*\s*=/.test(text) && !listed
    return looksMeant ? [doubt(problems.swallowedLine, { line, option, text: redactLine(text) })] : []
  })
}

/** Options that `$name` may refer to though no file sets them: their defaults do. */
const ALWAYS_THERE = ['bindir', 'config_dir', 'host', 'my_block_storage_ip', 'my_ip', 'pybasedir', 'state_path']

function knownNames(assignments: readonly Assignment[]): ReadonlySet<string> {
  const set = assignments.flatMap(({ section, key }) => [key, `${normalizeSection(section)}.${key}`])
  return new Set([...ALWAYS_THERE, ...set])
}

function referenceDoubts(assignment: Assignment, known: ReadonlySet<string>): readonly Doubt[] {
  const { line, value } = assignment
  const unknown = new Set(findReferences(value).filter((name) => !known.has(name)))
  // In a password the name is a piece of the password.
  const secret = shownValue(assignment, value) !== redactLine(value) || redactLine(value).includes('***')
  return [...unknown].map((name) =>
    doubt(problems.unknownReference, { line, option: nameOf(assignment), name: secret ? '…' : name }),
  )
}

function bindingDoubts(assignment: Assignment, rules: readonly BindingRule[]): readonly Doubt[] {
  const rule = findBindingRule(rules, assignment.section, assignment.key)
  if (!rule) return []
  const kind = rule.verdict === 'refused' ? problems.bindingOverride : problems.credentialOverride
  return [doubt(kind, { line: assignment.line, option: nameOf(assignment), why: rule.why })]
}

function repetitionDoubts(assignments: readonly Assignment[]): readonly Doubt[] {
  const seen = new Map<string, number>()
  return assignments.flatMap((assignment) => {
    const id = optionKey(assignment.section, assignment.key)
    const before = seen.get(id)
    seen.set(id, assignment.line)
    if (before === undefined || multiValuedOptions.has(id)) return []
    return [doubt(problems.repeatedOption, { line: assignment.line, option: nameOf(assignment), before })]
  })
}

function nameOf({ section, key }: Assignment): string {
  return `[${section}] ${key}`
}

/** A value is shown as far as its option is no secret; the option's name says whether it is. */
function shownValue({ key }: Assignment, value: string): string {
  return redactLine(`${key} = ${value}`).slice(key.length + 3)
}
