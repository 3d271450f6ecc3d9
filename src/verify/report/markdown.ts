/** The report as Markdown: for a ticket, a wiki or a pull request. */
import type { CheckResult } from '../verify.ts'
import {
  formatSummary,
  groupByCloud,
  groupFindings,
  type Report,
  type ReportGroup,
  type ReportProblem,
} from './report.ts'

export function markdownReport(report: Report): string {
  const { site, time, source, results } = report
  return [
    `# Site ${escapeMarkdown(site)}: ${formatSummary(results)}`,
    `${escapeMarkdown(source)}, ${time}`,
    ...groupByCloud(report).flatMap(renderGroup),
  ]
    .join('\n\n')
    .concat('\n')
}

function renderGroup({ name, results }: ReportGroup): readonly string[] {
  const rows = results.map(
    ({ title, verdict, seen, promise }) =>
      `| ${verdict} | ${escapeCell(title)} | ${escapeCell(seen)} | ${escapeCell(promise)} |`,
  )
  const table = ['| verdict | check | looked at | what must be true |', '|---|---|---|---|', ...rows].join('\n')
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
  const told = messages.map(escapeMarkdown).join('\\\n  ')
  return `- **${severity} ${code}**: ${told}\n\n  To do: ${escapeMarkdown(remedy)}`
}

/** Words from a cluster are words, not markup. */
function escapeMarkdown(text: string): string {
  return text.replaceAll('\n', ' ').replace(/[\\`*_<>[\]]/g, '\\$&')
}

function escapeCell(text: string): string {
  return escapeMarkdown(text).replaceAll('|', '\\|')
}
