/**
 * Formats findings for code review: SARIF 2.1.0 for code scanning services, and workflow commands of GitHub Actions, which
 * become annotations of the changed lines. Pure.
 */
import { createHash } from 'node:crypto'
import { type Finding, formatWhere, isFileLocation, type Severity, type Where } from '../../errors/finding.ts'
import type { CodeScanningFormat } from './code-scanning-formats.ts'

/** What a code means, for the list of rules. */
export interface RuleText {
  readonly title: string
  readonly description: string
}

export interface ScanContext {
  readonly version: string
  /** Undefined for a code that has no text. */
  readonly describeCode: (code: string) => RuleText | undefined
}

export function formatCodeScanning(
  findings: readonly Finding[],
  format: CodeScanningFormat,
  context: ScanContext,
): string {
  return format === 'github' ? githubAnnotations(findings) : `${JSON.stringify(sarifLog(findings, context), null, 2)}\n`
}

const levels: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'note' }

export function sarifLog(findings: readonly Finding[], { version, describeCode }: ScanContext): object {
  const codes = [...new Set(findings.map(({ code }) => code))].sort()
  const rules = codes.map((id) => {
    const text = describeCode(id)
    return {
      id,
      ...(text && {
        shortDescription: { text: text.title },
        fullDescription: { text: text.description.trim() },
        help: { text: `${text.description.trim()}\n\nstackloom explain ${id}` },
      }),
    }
  })
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'stackloom', version, informationUri: 'https://stackloom.dev', rules } },
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => sarifResult(finding, codes)),
      },
    ],
  }
}

function sarifResult(finding: Finding, codes: readonly string[]): object {
  const { code, severity, message, remedy, where, owners = [] } = finding
  const lines = [message, ...owners.map((owner) => `owner: ${owner}`), `fix: ${remedy}`]
  // Without the line, so that a finding stays the same one when lines are added above it.
  const identity = [code, message, where && isFileLocation(where) ? where.file : '']
  return {
    ruleId: code,
    ruleIndex: codes.indexOf(code),
    level: levels[severity],
    message: { text: lines.join('\n') },
    ...(where && { locations: [sarifLocation(where)] }),
    partialFingerprints: { 'finding/v1': createHash('sha256').update(identity.join('\n')).digest('hex') },
  }
}

function sarifLocation(where: Where): object {
  if (isFileLocation(where)) {
    const region = { startLine: Math.max(1, where.line), startColumn: Math.max(1, where.column) }
    return { physicalLocation: { artifactLocation: { uri: encodePath(where.file) }, region } }
  }
  return { logicalLocations: [{ fullyQualifiedName: formatWhere(where), kind: 'object' }] }
}

/** A path as a relative or absolute URI. */
function encodePath(file: string): string {
  const encoded = file.replaceAll('\\', '/').split('/').map(encodeURIComponent).join('/')
  return file.startsWith('/') ? `file://${encoded}` : encoded
}

const commands: Readonly<Record<Severity, string>> = { error: 'error', warning: 'warning', info: 'notice' }

export function githubAnnotations(findings: readonly Finding[]): string {
  return findings
    .map(({ code, severity, message, remedy, where, owners = [] }) => {
      const isFile = where !== undefined && isFileLocation(where)
      const place = isFile ? { file: where.file, line: where.line, col: where.column } : {}
      const properties = Object.entries({ ...place, title: `stackloom ${code}` })
        .map(([key, value]) => `${key}=${escapeProperty(String(value))}`)
        .join(',')
      const subject = where && !isFile ? `${formatWhere(where)}: ` : ''
      const lines = [`${subject}${message}`, ...owners.map((owner) => `owner: ${owner}`), `fix: ${remedy}`]
      return `::${commands[severity]} ${properties}::${escapeData(lines.join('\n'))}\n`
    })
    .join('')
}

/** As the runner decodes it; a raw line break could begin another command. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
