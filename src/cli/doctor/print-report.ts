/** Prints a report: an overview of causes, then each with evidence, remedy and consequences. */
import pc from 'picocolors'
import { objectIdentity } from '../../api/object.ts'
import type { Diagnosis, Report } from '../../doctor/diagnose.ts'
import type { Rule } from '../../doctor/rule.ts'
import { formatWhere } from '../../errors/finding.ts'
import { aimRemedy, formatFinding, paintSeverity } from '../output/findings.ts'
import { formatTable } from '../output/table.ts'
import { oneLine, truncate } from '../output/text.ts'

export interface PageOptions {
  readonly columns: number
  readonly colour: boolean
  /** Also print consequences in full. */
  readonly wide: boolean
  readonly commandLine?: readonly string[] | undefined
}

export function formatReport(report: Report, page: PageOptions): string {
  const causes = report.diagnoses.filter(({ followsFrom }) => followsFrom === undefined)
  const followers = report.diagnoses.filter(({ followsFrom }) => followsFrom !== undefined)
  const shown = page.wide ? report.diagnoses : causes
  return [
    causes.length > 1 ? `${renderOverview(causes, page)}\n` : '',
    ...shown.map((diagnosis) => `${renderDiagnosis(diagnosis, followers, page)}\n`),
    renderSummary(report, causes.length, followers.length),
    renderSkippedRules(report, page),
  ].join('')
}

function renderOverview(causes: readonly Diagnosis[], { columns, colour }: PageOptions): string {
  const rows = causes.map((cause, index) => [
    String(index + 1),
    paintSeverity(cause.severity, colour),
    cause.code,
    cause.likelihood,
    formatObject(cause),
  ])
  return formatTable(['#', 'SEVERITY', 'CODE', 'SURE', 'OBJECT'], rows, columns, colour)
}

function formatObject({ where }: Diagnosis): string {
  return where ? formatWhere(where) : ''
}

function renderDiagnosis(
  diagnosis: Diagnosis,
  followers: readonly Diagnosis[],
  { columns, colour, commandLine }: PageOptions,
): string {
  const { dim } = pc.createColors(colour)
  const seen = diagnosis.saw.map((text) => `    ${dim('saw:')} ${oneLine(text)}\n`).join('')
  const mine = followers.filter(
    ({ followsFrom }) => followsFrom?.code === diagnosis.code && followsFrom.object === objectId(diagnosis),
  )
  const after = mine.map((next) => {
    const text = `${formatObject(next)}: ${next.code} ${oneLine(next.message)}`
    return `    ${dim('so:')}  ${truncate(text, columns - 9)}\n`
  })
  return formatFinding(aimRemedy(diagnosis, { commandLine }), colour) + seen + after.join('')
}

function objectId({ where }: Diagnosis): string {
  if (!where || !('kind' in where)) return ''
  const { apiVersion, kind, name, namespace } = where
  return objectIdentity({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } })
}

function renderSummary({ diagnoses, judged, blind }: Report, causes: number, followers: number): string {
  if (judged === 0) return 'no rule was evaluated\n'
  if (diagnoses.length === 0 && blind.length > 0) {
    return `${judged} of ${judged + blind.length} rules could look, and none of these matches\n`
  }
  if (diagnoses.length === 0) return `no problems found by ${judged} rules\n`
  const more = followers > 0 ? ` and ${followers} ${followers === 1 ? 'consequence' : 'consequences'}` : ''
  return `${causes} ${causes === 1 ? 'cause' : 'causes'}${more} found by ${judged} rules; run stackloom explain CODE for details\n`
}

/** Lists the kinds that skipped rules need. */
function renderSkippedRules({ blind }: Report, { columns, wide }: PageOptions): string {
  if (blind.length === 0) return ''
  const unknown = [...new Set(blind.flatMap((blind) => blind.unknown))].sort()
  const lines = wide ? unknown : [truncate(unknown.join(', '), columns - 2)]
  const head = `${blind.length} ${blind.length === 1 ? 'rule was' : 'rules were'} not evaluated, because these kinds are unknown:\n`
  return head + lines.map((line) => `  ${line}\n`).join('')
}

export function formatRules(rules: readonly Rule[], { columns, colour, wide }: PageOptions): string {
  const rows = rules.map(({ id, problem, likelihood, looksAt, link }) => [
    problem.code,
    paintSeverity(problem.severity, colour),
    id,
    ...(wide ? [likelihood, looksAt.join(' '), link] : []),
  ])
  const header = ['CODE', 'SEVERITY', 'RULE', ...(wide ? ['SURE', 'LOOKS AT', 'LINK'] : [])]
  return formatTable(header, rows, wide ? Number.POSITIVE_INFINITY : columns, colour)
}
