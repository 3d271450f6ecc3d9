/**
 * Checks a configuration snippet: where oslo.config rejects it, where it silently reads it differently than intended, and
 * which generated options it must not override.
 *
 * Pure. The caller says where the text is from.
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
  /** The location of a line of the text, counted from 1. */
  readonly where?: (line: number) => Where
  /** Options with which the generated files bind the service. */
  readonly binding?: readonly BindingRule[]
  /** Options of the files that are read before this one: a `$name` may refer to them. */
  readonly generated?: readonly Assignment[]
}

export function checkIni(text: string, settings: CheckSettings = {}): readonly Finding[] {
  const file = parseIni(text)
  const lines = splitLines(text)
  const known = knownNames([...(settings.generated ?? []), ...file.assignments])
  const lineProblems: readonly LineProblem[] = [
    ...checkSyntax(text, file.errors),
    ...file.sections.flatMap(checkSection),
    ...file.assignments.flatMap((assignment) => [
      ...checkName(assignment),
      ...checkValue(assignment, lines[assignment.line - 1] ?? ''),
      ...checkContinuations(assignment),
      ...checkReferences(assignment, known),
      ...checkBinding(assignment, settings.binding ?? []),
    ]),
    ...checkRepetitions(file.assignments),
  ]
  return lineProblems
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, make }) => make({ where: settings.where?.(line) }))
}

/** A finding whose location is not known yet. */
interface LineProblem {
  readonly line: number
  readonly make: (context: FindingContext) => Finding
}

function lineProblem<P extends { readonly line: number }>(kind: Problem<P>, facts: P): LineProblem {
  return { line: facts.line, make: (context) => finding(kind, facts, context) }
}

const reasons: Readonly<Record<Exclude<SyntaxErrorKind, 'stray-continuation'>, string>> = {
  'no-section': 'an option needs a `[section]` line above it',
  'no-separator': 'there is no `=` or `:` in this line',
  'empty-key': 'there is no option name before the `=` or `:`',
  'unclosed-section': 'a section header ends with `]`, and nothing follows on its line',
  'empty-section': 'a section needs a name',
}

function checkSyntax(text: string, errors: readonly IniSyntaxError[]): readonly LineProblem[] {
  if (text.startsWith('\ufeff')) {
    const facts = {
      line: 1,
      reason: 'the text starts with a byte order mark',
      text: redactLine(text.slice(1, 40)),
    }
    return [lineProblem(problems.iniSyntax, facts)]
  }
  return errors.map(({ kind, line, text: source }) =>
    kind === 'stray-continuation'
      ? lineProblem(problems.indentedIni, { line, text: redactLine(source) })
      : lineProblem(problems.iniSyntax, { line, reason: reasons[kind], text: redactLine(source) }),
  )
}

function checkSection({ name, line }: SectionHeader): readonly LineProblem[] {
  const trimmed = trim(name)
  const meant = trimmed.toUpperCase() === 'DEFAULT' ? 'DEFAULT' : trimmed
  return meant === name ? [] : [lineProblem(problems.ignoredSection, { line, section: name, meant })]
}

function checkName({ key, line }: Assignment): readonly LineProblem[] {
  if (/^[a-z0-9_.-]+$/.test(key)) return []
  const meant = key.toLowerCase().replace(/[^a-z0-9_.-]+/g, '_')
  return [lineProblem(problems.ignoredOption, { line, key, meant })]
}

function checkValue(assignment: Assignment, source: string): readonly LineProblem[] {
  const { line } = assignment
  const [value = ''] = assignment.value.split('\n')
  const option = formatOption(assignment)
  if (/\s[#;](\s|$)/.test(value)) {
    return [lineProblem(problems.inlineComment, { line, option, value: redactValue(assignment, value) })]
  }
  const written = trim(source.slice(source.search(/[:=]/) + 1))
  const untouched = written === value
  const opens = /^["']/.test(written)
  const closes = /["']$/.test(written)
  const quotedWords = !untouched && value.includes(written.charAt(0))
  // JSON and lists of quoted words open and close with other characters, or contain pairs of quotes.
  const unbalanced = untouched && opens !== closes && (written.match(/["']/g)?.length ?? 0) % 2 === 1
  if (!unbalanced && !quotedWords) return []
  return [lineProblem(problems.strayQuote, { line, option, value: redactValue(assignment, value) })]
}

function checkContinuations(assignment: Assignment): readonly LineProblem[] {
  const option = formatOption(assignment)
  const lines = assignment.value.split('\n')
  return lines.flatMap((text, index) => {
    if (index === 0) return []
    const line = assignment.line + index
    if (/^[#;]/.test(text)) return [lineProblem(problems.inlineComment, { line, option, value: redactLine(text) })]
    // After a comma it is the next item of a list, as in `default_log_levels`.
    const continuesList = lines[index - 1]?.endsWith(',') ?? false
    const looksLikeOption = /^\[[\w.-]+\]$|^[a-z][a-z0-9_]*\s*=/.test(text) && !continuesList
    return looksLikeOption ? [lineProblem(problems.swallowedLine, { line, option, text: redactLine(text) })] : []
  })
}

/** Options that `$name` may refer to although no file sets them: they have defaults. */
const ALWAYS_DEFINED = ['bindir', 'config_dir', 'host', 'my_block_storage_ip', 'my_ip', 'pybasedir', 'state_path']

function knownNames(assignments: readonly Assignment[]): ReadonlySet<string> {
  const set = assignments.flatMap(({ section, key }) => [key, `${normalizeSection(section)}.${key}`])
  return new Set([...ALWAYS_DEFINED, ...set])
}

function checkReferences(assignment: Assignment, known: ReadonlySet<string>): readonly LineProblem[] {
  const { line, value } = assignment
  const unknown = new Set(findReferences(value).filter((name) => !known.has(name)))
  // In a password the name is part of the password.
  const secret = redactValue(assignment, value) !== redactLine(value) || redactLine(value).includes('***')
  return [...unknown].map((name) =>
    lineProblem(problems.unknownReference, { line, option: formatOption(assignment), name: secret ? '…' : name }),
  )
}

function checkBinding(assignment: Assignment, rules: readonly BindingRule[]): readonly LineProblem[] {
  const rule = findBindingRule(rules, assignment.section, assignment.key)
  if (!rule) return []
  const kind = rule.verdict === 'refused' ? problems.bindingOverride : problems.credentialOverride
  return [lineProblem(kind, { line: assignment.line, option: formatOption(assignment), why: rule.why })]
}

function checkRepetitions(assignments: readonly Assignment[]): readonly LineProblem[] {
  const seen = new Map<string, number>()
  return assignments.flatMap((assignment) => {
    const id = optionKey(assignment.section, assignment.key)
    const before = seen.get(id)
    seen.set(id, assignment.line)
    if (before === undefined || multiValuedOptions.has(id)) return []
    return [lineProblem(problems.repeatedOption, { line: assignment.line, option: formatOption(assignment), before })]
  })
}

function formatOption({ section, key }: Assignment): string {
  return `[${section}] ${key}`
}

/** The value, masked when the name of the option says that it is a secret. */
function redactValue({ key }: Assignment, value: string): string {
  return redactLine(`${key} = ${value}`).slice(key.length + 3)
}
