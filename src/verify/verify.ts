/**
 * Runs checks over a snapshot: each gives a verdict, what it saw, and its findings.
 *
 * A check that could not see everything proves nothing: its verdict is `unknown`, and that is not a success. One that saw
 * nothing, because nothing of the kind is there, has proved nothing either: its verdict is `empty`, neither good nor bad.
 * What must be there is a finding of its own. What the site's owner has accepted does not fail a check.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { groupKindOf, type UnreadKind } from '../api/snapshot.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { lookIncomplete } from '../errors/verify.ts'
import { accepted } from '../site/accept.ts'
import type { Acceptance } from '../site/site.ts'
import type { Check, CloudLook, Looked, SiteLook } from './checks/check.ts'

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

export interface VerifyInput extends SiteLook {
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
      .map((one) => [groupKindOf(one), one]),
  )
  const context: ResultContext = { gaps, accept: look.plan.from.accept }
  const chosen = look.plan.clouds.filter(({ name }) => clouds === undefined || clouds.includes(name))
  const site = checks.flatMap((check) =>
    check.scope === 'site' ? [result(check, check.look(look), context)] : [],
  )
  const own = documentsByCloud(look)
  return [
    ...site,
    ...chosen.flatMap((cloud) => {
      const inside: CloudLook = { ...look, cloud, desired: own.get(cloud.name) ?? [] }
      return checks.flatMap((check) =>
        check.scope === 'cloud' ? [result(check, check.look(inside), context, cloud.name)] : [],
      )
    }),
  ]
}

/** The kinds that these checks need, each once. */
export function kindsOfChecks(checks: readonly Check[]): readonly GroupVersionKind[] {
  const wanted = checks.flatMap(({ kinds, besides = [] }) => [...kinds, ...besides])
  return [...new Map(wanted.map((kind) => [groupKindOf(kind), kind])).values()]
}

/** Nothing speaks against the plan, and everything could be seen. */
export function isProved(results: readonly CheckResult[]): boolean {
  return results.every(({ verdict }) => verdict === 'passed' || verdict === 'empty')
}

function documentsByCloud({ documents }: SiteLook): ReadonlyMap<string, readonly KubeObject[]> {
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

function result(
  { id, title, promise, kinds }: Check,
  looked: Looked,
  { gaps, accept }: ResultContext,
  cloud?: string,
): CheckResult {
  const { seen } = looked
  const missed = kinds.flatMap((kind) => gaps.get(groupKindOf(kind)) ?? [])
  const findings = accepted(looked.findings, accept)
  const incomplete = accepted(
    missed.map(({ kind, reason, cause }) =>
      finding(lookIncomplete, { check: id, kind, reason, dumped: cause === 'not-dumped' }),
    ),
    accept,
  )
  const verdict = verdictOf(findings, incomplete, looked.count)
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

function verdictOf(findings: readonly Finding[], incomplete: readonly Finding[], count: number): Verdict {
  if (hasErrors(findings)) return 'failed'
  if (hasErrors(incomplete)) return 'unknown'
  return count === 0 ? 'empty' : 'passed'
}
