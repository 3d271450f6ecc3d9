/** Formats findings: location, code and message on the first line, owners and remedy below. */
import pc from 'picocolors'
import { aimCommands, readTarget } from '../../errors/command-target.ts'
import { type Finding, formatWhere, type Severity } from '../../errors/finding.ts'
import type { Io } from '../io.ts'
import { foldFindings, type HiddenFindings } from './fold-findings.ts'
import { oneLine, quoteLines, wrapText } from './text.ts'

export function paintSeverity(severity: Severity, colour: boolean, code = ''): string {
  const { red, yellow, cyan } = pc.createColors(colour)
  return { error: red, warning: yellow, info: cyan }[severity](`${severity}${code}`)
}

/** Wrapped to `columns`, each part with a hanging indent. */
export function formatFinding(
  finding: Finding,
  colour: boolean,
  columns = Number.POSITIVE_INFINITY,
  also: readonly string[] = [],
): string {
  const { dim, bold } = pc.createColors(colour)
  const location = finding.where ? `${bold(oneLine(formatWhere(finding.where)))}: ` : ''
  const lines = [
    ...wrapLines(
      `${location}${paintSeverity(finding.severity, colour, ` ${finding.code}`)}: ${quoteLines(finding.message)}`,
      columns,
      4,
    ),
    ...(also.length > 0 ? wrapLines(`    ${dim('also:')} ${oneLine(listNames(also))}`, columns, 10) : []),
    ...(finding.owners ?? []).flatMap((owner) => wrapLines(`    ${dim('owner:')} ${oneLine(owner)}`, columns, 11)),
    ...wrapLines(`    ${dim('fix:')} ${quoteLines(finding.remedy)}`, columns, 9),
  ]
  return `${lines.join('\n')}\n`
}

const MAX_NAMES = 12

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ')
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown
}

function wrapLines(text: string, columns: number, indent: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapText(line, columns, ' '.repeat(indent)))
}

const severities: readonly Severity[] = ['info', 'warning', 'error']

/** Folded, errors last: the end is what a terminal shows. */
export function formatFindings(
  findings: readonly Finding[],
  colour: boolean,
  columns = Number.POSITIVE_INFINITY,
): string {
  return severities
    .flatMap((severity) => {
      const { shown, hidden } = foldFindings(findings.filter((finding) => finding.severity === severity))
      return [
        ...shown.map(({ finding, also }) => formatFinding(finding, colour, columns, also)),
        ...hidden.map((more) => formatHidden(more, colour)),
      ]
    })
    .join('')
}

function formatHidden({ code, severity, count }: HiddenFindings, colour: boolean): string {
  const findings = `${count} more finding${count === 1 ? '' : 's'} of this code`
  return `${paintSeverity(severity, colour, ` ${code}`)}: ${findings}; -o json lists all of them\n`
}

/** Wrapped on a terminal, one line per part elsewhere. With `--quiet` only errors are printed. */
export function printFindings(findings: readonly Finding[], io: FindingsIo): void {
  const { alert, stderr, colour, terminal } = io
  const printed = alert ? findings.filter(({ severity }) => severity === 'error') : findings
  const shown = printed.map((finding) => aimRemedy(finding, io))
  if (shown.length > 0) (alert ?? stderr)(formatFindings(shown, colour.stderr, terminal?.columns()))
}

type FindingsIo = Pick<Io, 'alert' | 'stderr' | 'colour' | 'terminal' | 'commandLine'>

/** Its commands act on the file and the cluster of the command that prints it. */
export function aimRemedy<F extends Finding>(finding: F, { commandLine = [] }: Pick<Io, 'commandLine'>): F {
  return { ...finding, remedy: aimCommands(finding.remedy, readTarget(commandLine)) }
}

/** `1 error, 2 warnings`. */
export function countFindings(findings: readonly Finding[]): string {
  const parts = severities.toReversed().flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}${count === 1 || severity === 'info' ? '' : 's'}`]
  })
  return parts.join(', ') || 'no findings'
}
