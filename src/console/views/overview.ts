/** Builds the overview: what needs attention first, with the reason, then one line per cloud. Pure. */

import { groupBy } from '../../api/collections.ts'
import { formatCount } from '../../verify/checks/check-definition.ts'
import type { FindingsDocument } from '../documents/findings.ts'
import type { Attention, CloudLine, OverviewDocument, SiteLine } from '../documents/overview.ts'
import type { RunLine, StageLine } from '../documents/runs.ts'
import { cloudStates } from './cloud-states.ts'
import { commandLine, type ViewInput } from './view-input.ts'

type Body<T> = Omit<T, 'version' | 'notes'>

/** The last run, for the stage of each cloud. */
export interface LastRun {
  readonly run: RunLine
  readonly stages: readonly StageLine[]
}

export interface OverviewInput extends ViewInput {
  readonly findings: Pick<FindingsDocument, 'findings' | 'groups'>
  readonly lastRun?: LastRun
  /** Sites of the fleet. */
  readonly sites?: readonly SiteLine[]
  /** What `summarizeHosts` says of `hosts`, if that is known. */
  readonly hostSummary?: HostSummary
  readonly pools: ReadonlyMap<string, NonNullable<CloudLine['fullestPool']>>
}

/** By namespace. */
export interface HostSummary {
  readonly hosts: ReadonlyMap<string, NonNullable<CloudLine['hosts']>>
  readonly certificates: ReadonlyMap<string, CloudLine['soonestCertificate']>
}

/** A site may have thousands of hosts, so a caller that asks often keeps the answer. */
export function summarizeHosts(hosts: ViewInput['hosts']): HostSummary {
  const byNamespace = ({ namespace }: { readonly namespace: string }): string => namespace
  return {
    hosts: new Map([...groupBy(hosts?.states ?? [], byNamespace)].map(([name, states]) => [name, countHosts(states)])),
    certificates: new Map(
      [...groupBy(hosts?.certificates ?? [], byNamespace)].map(([name, list]) => [name, soonest(list)]),
    ),
  }
}

const MAX_ATTENTION = 100

export function buildOverview(input: OverviewInput): Body<OverviewDocument> {
  const { planned, live, clusterOptions, fileOptions } = input
  const lines = buildCloudLines(input)
  const clouds = lines.filter(({ id }) => id !== 'shared')
  const ready = clouds.filter(({ state }) => state === 'ready').length
  return {
    command: live ? commandLine('status', ...clusterOptions) : commandLine('plan', ...fileOptions),
    attention: listAttention(input, lines).slice(0, MAX_ATTENTION),
    clouds: lines,
    findings: countFindings(input.findings.findings),
    sites: input.sites ?? [],
    summary: `${planned?.plan.site ?? 'cluster'}: ${clouds.length} ${clouds.length === 1 ? 'cloud' : 'clouds'}, ${
      live ? `${ready} ready` : 'no cluster was read'
    }`,
  }
}

function buildCloudLines(input: OverviewInput): readonly CloudLine[] {
  const { planned, live, lastRun, pools } = input
  const findings = groupBy(input.findings.findings, ({ cloud }) => cloud)
  const summary = input.hostSummary ?? summarizeHosts(input.hosts)
  const stages = lastStages(lastRun?.stages ?? [])
  const release = live?.release ?? planned?.plan.slots.release.name
  return [...cloudStates(input).values()].map((status) => {
    const { name, namespace } = status
    const stage = stages.get(name)
    const pool = pools.get(name)
    const ending = summary.certificates.get(namespace ?? '')
    const hosts = summary.hosts.get(namespace ?? '')
    return {
      id: name,
      ...status,
      ...(release !== undefined && namespace !== undefined && { release }),
      ...(stage && lastRun && { stage: { name: stage.name, state: stage.state, run: lastRun.run.id } }),
      findings: countFindings(findings.get(name === 'shared' ? undefined : name) ?? []),
      ...(hosts && { hosts }),
      ...(pool && { fullestPool: pool }),
      ...(ending && { soonestCertificate: ending }),
    }
  })
}

/** By cloud: the stage that failed, because those after it say only that they are blocked, or else the last one. */
function lastStages(stages: readonly StageLine[]): ReadonlyMap<string, StageLine> {
  const last = new Map<string, StageLine>()
  for (const stage of stages) {
    const cloud = stage.cloud ?? 'shared'
    if (stage.state === 'pending' || stage.state === 'skipped' || last.get(cloud)?.state === 'failed') continue
    last.set(cloud, stage)
  }
  return last
}

/** What was accepted in the site file needs no attention. */
function countFindings(
  findings: readonly { readonly severity: string; readonly accepted: boolean }[],
): CloudLine['findings'] {
  const count = (severity: string): number =>
    findings.filter((found) => found.severity === severity && !found.accepted).length
  return { error: count('error'), warning: count('warning'), info: count('info') }
}

function countHosts(states: readonly { readonly verdict: string }[]): NonNullable<CloudLine['hosts']> {
  const failed = states.filter(({ verdict }) => verdict === 'failed').length
  const behind = states.filter(({ verdict }) => verdict === 'behind' || verdict === 'never').length
  const parts = [failed > 0 ? `${failed} failed` : '', behind > 0 ? `${behind} behind` : ''].filter(
    (part) => part !== '',
  )
  return { total: states.length, failed, behind, text: parts.join(', ') || 'all current' }
}

type Certificates = NonNullable<ViewInput['hosts']>['certificates']

function soonest(certificates: Certificates): CloudLine['soonestCertificate'] {
  const [first] = certificates
    .filter(({ daysLeft }) => daysLeft !== undefined)
    .toSorted((a, b) => (a.daysLeft ?? 0) - (b.daysLeft ?? 0))
  if (!first) return undefined
  const { name, verdict, daysLeft = 0, notAfter = '' } = first
  return { name, verdict, daysLeft, notAfter }
}

const severities = ['error', 'warning', 'info'] as const

function listAttention(input: OverviewInput, lines: readonly CloudLine[]): readonly Attention[] {
  const causes = listCauses(input.findings)
  const isExplained = (reason: string): boolean =>
    input.findings.findings.some(
      ({ place, ...found }) => isOpen(found) && place !== undefined && reason.includes(place),
    )
  const found = [
    ...lines.flatMap(({ id, name, state, reason = '', next }): readonly Attention[] =>
      (state === 'failed' && !isExplained(reason)) || state === 'denied'
        ? [
            {
              id: `cloud ${id}`,
              severity: 'error',
              ...(id !== 'shared' && { cloud: name }),
              title: `${id === 'shared' ? 'What the clouds share' : name} ${state === 'failed' ? 'has failed' : 'may not be read'}`,
              reason,
              ...(next !== undefined && { command: next }),
              link: { view: 'findings', query: { filter: name } },
            },
          ]
        : [],
    ),
    ...causes.map(
      ({ cause, more }): Attention => ({
        id: `finding ${cause.id}`,
        severity: cause.severity,
        ...(cause.cloud !== undefined && { cloud: cause.cloud }),
        title: cause.title || cause.code,
        reason: describeCause(cause) + (more > 0 ? ` (and ${more} more)` : ''),
        command: cause.commands[0] ?? cause.explain,
        link: { view: 'findings', query: { selected: cause.id } },
      }),
    ),
    ...lines.flatMap((line) => lineAttention(line, input)),
    ...(input.sites ?? []).flatMap(siteAttention),
  ]
  return found.toSorted((a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity))
}

function isOpen({ severity, accepted }: Pick<FindingsDocument['findings'][number], 'severity' | 'accepted'>): boolean {
  return severity !== 'info' && !accepted
}

/** The first finding of each group that is not accepted, and how many others the group has. */
function listCauses({ findings, groups }: OverviewInput['findings']): readonly {
  readonly cause: FindingsDocument['findings'][number]
  readonly more: number
}[] {
  const open = new Map(findings.filter(isOpen).map((finding) => [finding.id, finding]))
  return groups.flatMap(({ cause, consequences }) => {
    const [first, ...rest] = [cause, ...consequences].flatMap((id) => open.get(id) ?? [])
    return first ? [{ cause: first, more: rest.length }] : []
  })
}

/** A message about the object at its place says "it"; here the place is not beside it. */
function describeCause({ message, place }: FindingsDocument['findings'][number]): string {
  const [kind = '', object] = place?.split(' ') ?? []
  const name = object?.split('/').at(-1) ?? ''
  return message.includes(name) ? message : `${kind} ${object}: ${message}`
}

/** What is wrong at the site that is shown has lines of its own. */
function siteAttention({ id, verdict, isShown, problem = '', command }: SiteLine): readonly Attention[] {
  if (isShown || verdict === 'fine') return []
  const severity = verdict === 'failed' || verdict === 'invalid' ? 'error' : 'warning'
  const title = verdict === 'unreachable' ? `Site ${id} cannot be reached` : `Site ${id}: ${verdict}`
  return [{ id: `site ${id}`, severity, title, reason: problem, command, link: { view: 'overview', query: {} } }]
}

const FULL = 0.9

/** `stackloom certificates` fails for the first two. */
const certificateSeverities: Readonly<Record<string, Attention['severity']>> = {
  expired: 'error',
  critical: 'error',
  due: 'info',
}

function formatEnd(daysLeft: number): string {
  return daysLeft < 0 ? `ended ${formatCount(-daysLeft, 'day')} ago` : `ends in ${formatCount(daysLeft, 'day')}`
}

function lineAttention(
  { name, hosts, fullestPool, soonestCertificate }: CloudLine,
  input: ViewInput,
): readonly Attention[] {
  return [
    ...(hosts && hosts.failed + hosts.behind > 0
      ? [
          {
            id: `hosts ${name}`,
            severity: hosts.failed > 0 ? 'error' : 'warning',
            cloud: name,
            title: `Hosts of ${name}`,
            reason: `${hosts.text}, of ${hosts.total}`,
            command: commandLine('hosts', ...input.clusterOptions, '--cloud', name),
            link: { view: 'hosts', query: { filter: name } },
          } as const,
        ]
      : []),
    ...(fullestPool && fullestPool.fraction >= FULL
      ? [
          {
            id: `pool ${name}`,
            severity: fullestPool.fraction >= 1 ? 'error' : 'warning',
            cloud: name,
            title: `Addresses of ${name}/${fullestPool.network}`,
            reason: `${fullestPool.used} of ${fullestPool.of} addresses for ${fullestPool.role} are used`,
            link: { view: 'addresses', query: { cloud: name, network: fullestPool.network } },
          } as const,
        ]
      : []),
    ...(soonestCertificate && soonestCertificate.verdict !== 'valid'
      ? [
          {
            id: `certificate ${name}`,
            severity: certificateSeverities[soonestCertificate.verdict] ?? 'warning',
            cloud: name,
            title: `Certificate ${soonestCertificate.name}`,
            reason: formatEnd(soonestCertificate.daysLeft),
            command: commandLine('certificates', ...input.clusterOptions),
            link: { view: 'hosts', query: { filter: name } },
          } as const,
        ]
      : []),
  ]
}
