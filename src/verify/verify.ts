/**
 * Runs checks on a snapshot. The verdict is `unknown` if a required kind could not be read and `empty` if there was nothing to
 * check; neither is a success. Accepted findings do not fail a check.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { formatGroupKind, type UnreadKind } from '../api/snapshot.ts'
import { type Finding, finding, hasErrors, isFileLocation } from '../errors/finding.ts'
import { applyAcceptances } from '../site/accept.ts'
import type { Acceptance } from '../site/site.ts'
import type { Check, CheckOutcome, CloudContext, SiteContext } from './checks/check-definition.ts'
import { checkIncomplete, vipUnused } from './findings/check-findings.ts'
import { attachedPodsAbsent, endpointElsewhere, endpointsAbsent } from './findings/network-findings.ts'

export type Verdict = 'passed' | 'failed' | 'unknown' | 'empty'

export interface CheckResult {
  readonly id: string
  readonly title: string
  /** Undefined for a check of the whole site. */
  readonly cloud?: string
  readonly promise: string
  readonly seen: string
  readonly verdict: Verdict
  readonly findings: readonly Finding[]
}

export interface VerifyInput extends SiteContext {
  /** Kinds that could not be read. */
  readonly unread: readonly UnreadKind[]
  /** Limits the checks to these clouds; checks of the site always run. */
  readonly clouds?: readonly string[]
}

export function verify(checks: readonly Check[], input: VerifyInput): readonly CheckResult[] {
  const { unread, clouds, ...context } = input
  const gaps = new Map(
    unread
      // A kind that the server does not serve has no objects.
      .filter(({ cause }) => cause !== 'not-served')
      .map((unreadKind) => [formatGroupKind(unreadKind), unreadKind]),
  )
  const resultContext: ResultContext = { gaps, accept: context.plan.from.accept }
  const chosen = context.plan.clouds.filter(({ name }) => clouds === undefined || clouds.includes(name))
  const site = checks.flatMap((check) =>
    check.scope === 'site' ? [buildResult(check, check.run(context), resultContext)] : [],
  )
  const documents = documentsByCloud(context)
  return [
    ...site,
    ...chosen.flatMap((cloud) => {
      const cloudContext: CloudContext = { ...context, cloud, desired: documents.get(cloud.name) ?? [] }
      return checks.flatMap((check) =>
        check.scope === 'cloud' ? [buildResult(check, check.run(cloudContext), resultContext, cloud.name)] : [],
      )
    }),
  ]
}

export function requiredKinds(checks: readonly Check[]): readonly GroupVersionKind[] {
  const all = checks.flatMap(({ kinds, optionalKinds = [] }) => [...kinds, ...optionalKinds])
  return [...new Map(all.map((kind) => [formatGroupKind(kind), kind])).values()]
}

/** No check failed, and everything could be read. */
export function isProved(results: readonly CheckResult[]): boolean {
  return results.every(({ verdict }) => verdict === 'passed' || verdict === 'empty')
}

function documentsByCloud({ documents }: SiteContext): ReadonlyMap<string, readonly KubeObject[]> {
  const found = new Map<string, KubeObject[]>()
  for (const { cloud, object } of documents) {
    if (cloud === undefined) continue
    const list = found.get(cloud) ?? []
    list.push(object)
    found.set(cloud, list)
  }
  return found
}

/** Findings that are reported because no object of this kind was seen. */
const judgedByAbsence: ReadonlyMap<string, string> = new Map([
  [vipUnused.code, 'Service'],
  [endpointElsewhere.code, 'Service'],
  [attachedPodsAbsent.code, 'Pod'],
  [endpointsAbsent.code, 'keystone.openstack.org/KeystoneEndpoint'],
])

interface ResultContext {
  readonly gaps: ReadonlyMap<string, UnreadKind>
  readonly accept: readonly Acceptance[]
}

function buildResult(
  { id, title, promise, kinds }: Check,
  looked: CheckOutcome,
  { gaps, accept }: ResultContext,
  cloud?: string,
): CheckResult {
  const { seen } = looked
  const missed = kinds.flatMap((kind) => gaps.get(formatGroupKind(kind)) ?? [])
  const unreadKinds = new Set(missed.map(({ kind }) => kind))
  // That an object of a kind that could not be read is missing is not known.
  const known = looked.findings.filter(
    ({ code, where }) =>
      !gaps.has(judgedByAbsence.get(code) ?? '') && (!where || isFileLocation(where) || !unreadKinds.has(where.kind)),
  )
  const findings = applyAcceptances(known, accept)
  const incomplete = applyAcceptances(
    missed.map(({ kind, reason, cause }) =>
      finding(checkIncomplete, { check: id, kind, reason, dumped: cause === 'not-dumped' }),
    ),
    accept,
  )
  const verdict = decideVerdict(findings, incomplete, looked.count)
  return {
    id,
    title,
    ...(cloud !== undefined && { cloud }),
    promise,
    seen,
    verdict,
    findings: [...findings, ...incomplete],
  }
}

function decideVerdict(findings: readonly Finding[], incomplete: readonly Finding[], count: number): Verdict {
  if (hasErrors(findings)) return 'failed'
  if (hasErrors(incomplete)) return 'unknown'
  return count === 0 ? 'empty' : 'passed'
}
