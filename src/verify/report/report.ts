/** Builds a report of `verify` and renders it as Markdown. */
import type { Finding, Severity } from '../../errors/finding.ts'
import type { CheckResult, Verdict } from '../verify.ts'

export interface Report {
  readonly site: string
  /** ISO time of the snapshot. */
  readonly time: string
  /** The API server, or the folder of dumps. */
  readonly source: string
  readonly results: readonly CheckResult[]
  /** Shown before the checks. */
  readonly tables?: readonly ReportTable[]
  /** The topology of the site. */
  readonly picture?: ReportPicture
}

export interface ReportPicture {
  readonly svg: string
  /** Beside the report, which shows it from there if it cannot contain it. */
  readonly file: string
}

export interface ReportTable {
  readonly title: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface ReportGroup {
  /** The name of the cloud, or `The site`. */
  readonly name: string
  readonly results: readonly CheckResult[]
}

export function groupByCloud({ results }: Report): readonly ReportGroup[] {
  const groups = new Map<string, CheckResult[]>()
  for (const result of results) {
    const name = result.cloud ?? 'The site'
    const list = groups.get(name) ?? []
    list.push(result)
    groups.set(name, list)
  }
  return [...groups].map(([name, list]) => ({ name, results: list }))
}

/** Findings with the same code and remedy. */
export interface ReportProblem {
  readonly code: string
  readonly severity: Severity
  readonly messages: readonly string[]
  readonly remedy: string
}

export function groupFindings(findings: readonly Finding[]): readonly ReportProblem[] {
  const problems = new Map<string, ReportProblem>()
  for (const { code, severity, message, remedy } of findings) {
    const key = [code, severity, remedy].join('\n')
    const messages = [...(problems.get(key)?.messages ?? []), message]
    problems.set(key, { code, severity, messages, remedy })
  }
  return [...problems.values()]
}

/** The number of checks per verdict. */
export function countVerdicts(
  results: readonly CheckResult[],
): readonly { readonly verdict: Verdict; readonly text: string }[] {
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length
  return (['passed', 'failed', 'unknown', 'empty'] as const)
    .filter((verdict) => verdict === 'passed' || count(verdict) > 0)
    .map((verdict) => ({
      verdict,
      text: `${count(verdict)} ${verdict === 'empty' ? 'had nothing to check' : verdict}`,
    }))
}

/** `29 passed, 1 failed, 2 had nothing to check`. */
export function formatSummary(results: readonly CheckResult[]): string {
  return countVerdicts(results)
    .map(({ text }) => text)
    .join(', ')
}

export function markdownReport(report: Report): string {
  const { site, time, source, results, tables = [], picture } = report
  return [
    `# Site ${escapeMarkdown(site)}: ${formatSummary(results)}`,
    `${escapeMarkdown(source)}, ${time}`,
    ...tables.flatMap(renderTable),
    ...(picture ? ['## Topology', `![Topology of the site](${picture.file})`] : []),
    ...groupByCloud(report).flatMap(renderGroup),
  ]
    .join('\n\n')
    .concat('\n')
}

function renderTable({ title, header, rows }: ReportTable): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`
  const lines = [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)]
  return [`## ${escapeMarkdown(title)}`, lines.join('\n')]
}

function renderGroup({ name, results }: ReportGroup): readonly string[] {
  const rows = results.map(
    ({ title, verdict, seen, promise }) =>
      `| ${verdict} | ${escapeCell(title)} | ${escapeCell(seen)} | ${escapeCell(promise)} |`,
  )
  const table = ['| verdict | check | checked | what must be true |', '|---|---|---|---|', ...rows].join('\n')
  return [
    `## ${escapeMarkdown(name)}`,
    table,
    ...results.filter(({ findings }) => findings.length > 0).map(renderProblems),
  ]
}

function renderProblems({ title, findings }: CheckResult): string {
  return [`### ${escapeMarkdown(title)}`, ...groupFindings(findings).map(renderProblem)].join('\n\n')
}

function renderProblem({ code, severity, messages, remedy }: ReportProblem): string {
  const text = messages.map(escapeMarkdown).join('\\\n  ')
  return `- **${severity} ${code}**: ${text}\n\n  To do: ${escapeMarkdown(remedy)}`
}

/** Texts from a cluster must not become markup. */
function escapeMarkdown(text: string): string {
  return text.replaceAll('\n', ' ').replace(/[\\`*_<>[\]]/g, '\\$&')
}

function escapeCell(text: string): string {
  return escapeMarkdown(text).replaceAll('|', '\\|')
}
