/** Builds the findings: plan, verify and doctor in one list, grouped by cause, with what to copy. Pure. */

import type { Diagnosis } from '../../doctor/diagnose.ts'
import { aimCommands, readTarget } from '../../errors/command-target.ts'
import { type Finding, formatWhere, isFileLocation, type Severity } from '../../errors/finding.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'
import type { FindingGroup, FindingLine, FindingsDocument } from '../documents/findings.ts'
import { commandLine, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

export function buildFindings(input: ViewInput): Body<FindingsDocument> {
  const { examination } = input
  const lines = listFindings(input)
  const command = examination
    ? commandLine('doctor', ...input.fileOptions, ...input.clusterOptions)
    : commandLine('plan', ...input.fileOptions)
  return {
    command,
    findings: lines.toSorted((a, b) => rank(a.severity) - rank(b.severity)),
    groups: groupByCause(lines, examination?.report.diagnoses ?? []),
    checks: (examination?.checks ?? []).map(({ id, title, cloud, promise, seen, verdict }) => ({
      id: `${cloud ?? ''} ${id}`,
      check: id,
      title,
      ...(cloud !== undefined && { cloud }),
      promise,
      seen,
      verdict,
    })),
    checked: describeChecked(input),
  }
}

function listFindings(input: ViewInput): readonly FindingLine[] {
  const { planned, planFindings = [], examination, hosts } = input
  const plan = (planned?.plan.findings ?? planFindings).map((found) => buildLine(found, 'plan', input))
  const read = (hosts?.findings ?? []).map((found) => buildLine(found, 'read', input))
  if (!examination) return distinct([...plan, ...read])
  const { checks, report } = examination
  const verified = checks.flatMap(({ cloud, findings }) =>
    findings.map((found) => ({ ...buildLine(found, 'verify', input), ...(cloud !== undefined && { cloud }) })),
  )
  const diagnosed = report.diagnoses.map((diagnosis) => buildDiagnosis(diagnosis, input))
  const failed = report.findings.map((found) => buildLine(found, 'read', input))
  return distinct([...plan, ...verified, ...diagnosed, ...failed, ...read])
}

const severities: readonly Severity[] = ['error', 'warning', 'info']
const rank = (severity: Severity): number => severities.indexOf(severity)

function buildLine(found: Finding, source: FindingLine['source'], input: ViewInput): FindingLine {
  const { code, severity, message, where, owners } = found
  const remedy = aimCommands(found.remedy, readTarget([...input.fileOptions, ...input.clusterOptions]))
  const cloud = findCloud(found, input)
  const excerpt = buildExcerpt(found, input)
  const accepted = / \(accepted: .*\)$/s.test(message)
  const isAcceptable = (source === 'plan' || source === 'verify') && severity !== 'info' && !accepted
  return {
    id: `${code} ${where ? formatWhere(where) : ''} ${message}`,
    source,
    code,
    severity,
    title: input.title(code),
    message,
    remedy,
    ...(where && { where, place: formatWhere(where) }),
    ...(owners && { owners }),
    ...(cloud !== undefined && { cloud }),
    evidence: [],
    commands: findCommands(remedy),
    ...(excerpt && { excerpt }),
    ...(isAcceptable && input.planned && { accept: acceptEntry(found) }),
    accepted,
    explain: commandLine('explain', code),
  }
}

function buildDiagnosis(diagnosis: Diagnosis, input: ViewInput): FindingLine {
  const { saw, likelihood, link } = diagnosis
  return { ...buildLine(diagnosis, 'doctor', input), evidence: saw, likelihood, documentation: link }
}

/** Undefined for what the clouds share. A pool or policy outside of the namespace of a cloud begins with its name. */
function findCloud({ where, owners = [], message }: Finding, input: ViewInput): string | undefined {
  const clouds = listClouds(input)
  if (where && !isFileLocation(where)) {
    const { namespace, name } = where
    const owner =
      clouds.find((cloud) => cloud.namespace === namespace) ??
      clouds.find((cloud) => name.startsWith(`${cloud.namespace}-`))
    if (owner || namespace !== undefined) return owner?.name
  }
  const names = new Set(clouds.map(({ name }) => name))
  return [...owners, message].flatMap((text) => text.split(/[\s/,:]+/)).find((word) => names.has(word))
}

/** With the longest namespaces first: one may be the beginning of another. */
function listClouds({ planned, live }: ViewInput): readonly { readonly name: string; readonly namespace: string }[] {
  const deployed = (live?.groups ?? []).flatMap(({ cloud, namespace }) =>
    cloud === undefined || namespace === undefined ? [] : [{ name: cloud, namespace }],
  )
  return [...(planned?.plan.clouds ?? []), ...deployed].toSorted((a, b) => b.namespace.length - a.namespace.length)
}

/** `kubectl explain` alone names a command, and is none that can be run. */
const runnable = /^(?:(?:kubectl|limactl|oc)\s+\S+|apt-get|brew|git|nmstatectl|openstack|ssh|stackloom|sudo)\s/

/** Commands in a remedy are between backticks. */
export function findCommands(remedy: string): readonly string[] {
  return [...remedy.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []).filter((text) => runnable.test(text))
}

const LINES_AROUND = 3

function buildExcerpt({ where }: Finding, { planned }: ViewInput): FindingLine['excerpt'] {
  if (!where || !isFileLocation(where) || !planned || where.file !== planned.file) return undefined
  const first = Math.max(1, where.line - LINES_AROUND)
  return {
    file: where.file,
    lines: planned.lines
      .slice(first - 1, where.line + LINES_AROUND)
      .map((text, index) => ({ number: first + index, text, marked: first + index === where.line })),
  }
}

/** `where` is a word of the finding: its first owner if it has one, so that other cases are still reported. */
function acceptEntry({ code, owners = [], where }: Finding): string {
  const [owner = ''] = owners
  const object = where && !isFileLocation(where) ? where : undefined
  const name = object && (object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`)
  const word = /^[\w-]+\/[\w-]+/.exec(owner)?.[0] ?? name
  return [`- code: ${code}`, ...(word === undefined ? [] : [`  where: ${word}`]), '  reason: …'].join('\n')
}

function distinct(lines: readonly FindingLine[]): readonly FindingLine[] {
  return [...new Map(lines.map((line) => [line.id, line])).values()]
}

/** Diagnoses stand below their cause, other findings below the first one of their code. */
function groupByCause(lines: readonly FindingLine[], diagnoses: readonly Diagnosis[]): readonly FindingGroup[] {
  const causes = new Map(
    diagnoses.flatMap((diagnosis) => {
      const { followsFrom, code, where, message } = diagnosis
      const id = `${code} ${where ? formatWhere(where) : ''} ${message}`
      return followsFrom ? [[id, `${followsFrom.code} ${followsFrom.object}`] as const] : []
    }),
  )
  const roots = new Map<string, string>()
  for (const diagnosis of diagnoses) {
    const { code, where, message, followsFrom } = diagnosis
    if (followsFrom || !where || isFileLocation(where)) continue
    const group = where.apiVersion.includes('/') ? `${where.apiVersion.split('/')[0]}/` : ''
    const key = where.namespace ? `${where.namespace}/${where.name}` : where.name
    roots.set(`${code} ${group}${where.kind} ${key}`, `${code} ${formatWhere(where)} ${message}`)
  }
  const groups = new Map<string, FindingLine[]>()
  const byCode = new Map<string, string>()
  for (const line of lines) {
    const cause = causes.get(line.id)
    const root = (cause === undefined ? undefined : roots.get(cause)) ?? byCode.get(line.code) ?? line.id
    if (cause === undefined && !byCode.has(line.code)) byCode.set(line.code, line.id)
    const members = groups.get(root)
    if (members) members.push(line)
    else groups.set(root, [line])
  }
  return [...groups]
    .map(([root, members]): FindingGroup => {
      const cause = lines.find(({ id }) => id === root) ?? (members[0] as FindingLine)
      return {
        id: cause.id,
        severity: cause.severity,
        cause: cause.id,
        title: cause.title,
        consequences: members.filter(({ id }) => id !== cause.id).map(({ id }) => id),
      }
    })
    .sort((a, b) => rank(a.severity) - rank(b.severity))
}

function describeChecked({ planned, examination, now }: ViewInput): FindingsDocument['checked'] {
  const checks = examination?.checks ?? []
  const count = (wanted: string): number => checks.filter(({ verdict }) => verdict === wanted).length
  const [passed, empty] = [count('passed'), count('empty')]
  const report = examination?.report
  const parts = [
    planned ? `the plan of ${formatCount(planned.plan.clouds.length, 'cloud')}` : undefined,
    checks.length > 0
      ? `${formatCount(checks.length, 'check')} of the cluster (${passed} passed${empty > 0 ? `, ${empty} had nothing to check` : ''})`
      : undefined,
    report ? `${formatCount(report.judged, 'rule')} of doctor` : undefined,
  ].filter((part) => part !== undefined)
  return {
    plan: planned !== undefined,
    ...(checks.length > 0 && { verify: { passed, total: checks.length } }),
    ...(report && { doctor: { rules: report.judged, skipped: report.blind.length } }),
    time: examination?.time ?? new Date(now).toISOString(),
    text: parts.length > 0 ? `checked: ${parts.join(', ')}` : 'nothing was checked yet',
  }
}
