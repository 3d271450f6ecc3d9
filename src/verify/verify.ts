/**
 * Runs checks over a snapshot: each gives a verdict, what it saw, and its findings.
 *
 * A check that could not see everything proves nothing: its verdict is `unknown`, and that is not a success.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { groupKindOf, type UnreadKind } from '../api/snapshot.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { lookIncomplete } from '../errors/verify.ts'
import type { Check, CloudLook, Looked, SiteLook } from './checks/check.ts'

export type Verdict = 'passed' | 'failed' | 'unknown'

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
  const chosen = look.plan.clouds.filter(({ name }) => clouds === undefined || clouds.includes(name))
  const site = checks.flatMap((check) =>
    check.scope === 'site' ? [result(check, check.look(look), gaps)] : [],
  )
  const own = documentsByCloud(look)
  return [
    ...site,
    ...chosen.flatMap((cloud) => {
      const inside: CloudLook = { ...look, cloud, desired: own.get(cloud.name) ?? [] }
      return checks.flatMap((check) =>
        check.scope === 'cloud' ? [result(check, check.look(inside), gaps, cloud.name)] : [],
      )
    }),
  ]
}

/** The kinds that these checks need, each once. */
export function kindsOfChecks(checks: readonly Check[]): readonly GroupVersionKind[] {
  const wanted = checks.flatMap(({ kinds, besides = [] }) => [...kinds, ...besides])
  return [...new Map(wanted.map((kind) => [groupKindOf(kind), kind])).values()]
}

export function isProved(results: readonly CheckResult[]): boolean {
  return results.every(({ verdict }) => verdict === 'passed')
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

function result(
  { id, title, promise, kinds }: Check,
  { seen, findings }: Looked,
  gaps: ReadonlyMap<string, UnreadKind>,
  cloud?: string,
): CheckResult {
  const missed = kinds.flatMap((kind) => gaps.get(groupKindOf(kind)) ?? [])
  const incomplete = missed.map(({ kind, reason }) => finding(lookIncomplete, { check: id, kind, reason }))
  const verdict = hasErrors(findings) ? 'failed' : missed.length > 0 ? 'unknown' : 'passed'
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
