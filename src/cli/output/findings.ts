/** Formats findings: location, code and message on the first line, owners and remedy below. */
import pc from 'picocolors'
import { type Finding, isFileLocation, type Severity, type Where } from '../../errors/finding.ts'
import { oneLine, quoteLines } from './text.ts'

export function formatWhere(where: Where): string {
  if (isFileLocation(where)) return `${where.file}:${where.line}:${where.column}`
  const name = where.namespace ? `${where.namespace}/${where.name}` : where.name
  return `${where.kind} ${name}${where.path ? ` ${where.path}` : ''}`
}

export function formatFinding(finding: Finding, colour: boolean): string {
  const { red, yellow, cyan, dim, bold } = pc.createColors(colour)
  const paint = { error: red, warning: yellow, info: cyan }[finding.severity]
  const location = finding.where ? `${bold(oneLine(formatWhere(finding.where)))}: ` : ''
  const owners = (finding.owners ?? []).map((owner) => `\n    ${dim('owner:')} ${oneLine(owner)}`).join('')
  const remedy = `\n    ${dim('fix:')} ${quoteLines(finding.remedy)}`
  return `${location}${paint(`${finding.severity} ${finding.code}`)}: ${quoteLines(finding.message)}${owners}${remedy}\n`
}

const severities: readonly Severity[] = ['info', 'warning', 'error']

/** Errors are last: the end is what a terminal shows. */
export function formatFindings(findings: readonly Finding[], colour: boolean): string {
  return findings
    .toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
    .map((finding) => formatFinding(finding, colour))
    .join('')
}

/** `1 error, 2 warnings`. */
export function countFindings(findings: readonly Finding[]): string {
  const parts = severities.toReversed().flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity}${count === 1 || severity === 'info' ? '' : 's'}`]
  })
  return parts.join(', ') || 'no findings'
}
