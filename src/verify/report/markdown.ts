/** The report as Markdown: for a ticket, a wiki or a pull request. */
import type { CheckResult } from '../verify.ts'
import {
  groupsOf,
  problemsOf,
  type Report,
  type ReportGroup,
  type ReportProblem,
  summaryOf,
} from './report.ts'

export function markdownReport(report: Report): string {
  const { site, time, source, results } = report
  return [
    `# Site ${inline(site)}: ${summaryOf(results)}`,
    `${inline(source)}, ${time}`,
    ...groupsOf(report).flatMap(group),
  ]
    .join('\n\n')
    .concat('\n')
}

function group({ name, results }: ReportGroup): readonly string[] {
  const rows = results.map(
    ({ title, verdict, seen, promise }) =>
      `| ${verdict} | ${cell(title)} | ${cell(seen)} | ${cell(promise)} |`,
  )
  const table = ['| verdict | check | looked at | what must be true |', '|---|---|---|---|', ...rows].join(
    '\n',
  )
  return [`## ${inline(name)}`, table, ...results.filter(({ findings }) => findings.length > 0).map(problems)]
}

function problems({ title, findings }: CheckResult): string {
  return [`### ${inline(title)}`, ...problemsOf(findings).map(problem)].join('\n\n')
}

function problem({ code, severity, messages, remedy }: ReportProblem): string {
  const told = messages.map(inline).join('\\\n  ')
  return `- **${severity} ${code}**: ${told}\n\n  To do: ${inline(remedy)}`
}

/** Words from a cluster are words, not markup. */
function inline(text: string): string {
  return text.replaceAll('\n', ' ').replace(/[\\`*_<>[\]]/g, '\\$&')
}

function cell(text: string): string {
  return inline(text).replaceAll('|', '\\|')
}
