/**
 * Runs checks over a snapshot: each gives a verdict, what it saw, and its findings.
 *
 * A check that could not see everything proves nothing: its verdict is `unknown`, and that is not a success. One that saw
 * nothing, because nothing of the kind is there, has proved nothing either: its verdict is `empty`, neither good nor bad.
 * What must be there is a finding of its own. What the site's owner has accepted does not fail a check.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { formatGroupKind, type UnreadKind } from '../api/snapshot.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { applyAcceptances } from '../site/accept.ts'
import type { Acceptance } from '../site/site.ts'
import type { Check, CheckOutcome, CloudContext, SiteContext } from './checks/check-definition.ts'
import { checkIncomplete } from './findings/check-findings.ts'

export type Verdict = 'passed' | 'failed' | 'unknown' | 'empty'

export interface CheckResult {
  readonly id: string
  readonly title: string
  /** Absent for a check of the whole site. */
  readonly cloud?: string
  readonly promise: string
  readonly seen: string
  readonly verdict: Verdict
  readonly findings: readonly Finding[]
}

export interface VerifyInput extends SiteContext {
  /** Kinds that could not be read. */
  readonly unread: readonly UnreadKind[]
  /** Only these clouds; all when absent. Checks of the site are always run. */
  readonly clouds?: readonly string[]
}

export function verify(checks: readonly Check[], input: VerifyInput): readonly CheckResult[] {
  const { unread, clouds, ...look } = input
  const gaps = new Map(
    unread
      // A kind that the server does not have has no objects either: that is known.
      .filter(({ cause }) => cause !== 'not-served')
      .map((unreadKind) => [formatGroupKind(unreadKind), unreadKind]),
  )
  const context: ResultContext = { gaps, accept: look.plan.from.accept }
  const chosen = look.plan.clouds.filter(({ name }) => clouds === undefined || clouds.includes(name))
  const site = checks.flatMap((check) => (check.scope === 'site' ? [buildResult(check, check.run(look), context)] : []))
  const own = documentsByCloud(look)
  return [
    ...site,
    ...chosen.flatMap((cloud) => {
      const inside: CloudContext = { ...look, cloud, desired: own.get(cloud.name) ?? [] }
      return checks.flatMap((check) =>
        check.scope === 'cloud' ? [buildResult(check, check.run(inside), context, cloud.name)] : [],
      )
    }),
  ]
}

/** The kinds that these checks need, each once. */
export function requiredKinds(checks: readonly Check[]): readonly GroupVersionKind[] {
  const wanted = checks.flatMap(({ kinds, optionalKinds = [] }) => [...kinds, ...optionalKinds])
  return [...new Map(wanted.map((kind) => [formatGroupKind(kind), kind])).values()]
}

/** Nothing speaks against the plan, and everything could be seen. */
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
  const findings = applyAcceptances(looked.findings, accept)
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
