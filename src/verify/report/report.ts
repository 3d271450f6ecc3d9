/** What a report of `verify` holds, before it becomes Markdown or HTML: the same facts for both. */
import type { CheckResult, Verdict } from '../verify.ts'

export interface Report {
  readonly site: string
  /** ISO time at which the cluster was looked at. */
  readonly time: string
  /** The API server, or the folder of dumps. */
  readonly source: string
  readonly results: readonly CheckResult[]
}

export interface ReportGroup {
  /** `Site`, or the cloud's name. */
  readonly name: string
  readonly results: readonly CheckResult[]
}

export function groupsOf({ results }: Report): readonly ReportGroup[] {
  const groups = new Map<string, CheckResult[]>()
  for (const result of results) {
    const name = result.cloud ?? 'The site'
    const list = groups.get(name) ?? []
    list.push(result)
    groups.set(name, list)
  }
  return [...groups].map(([name, list]) => ({ name, results: list }))
}

/** `29 passed, 1 failed, 2 had nothing to look at`: what did not happen is not mentioned. */
export function summaryOf(results: readonly CheckResult[]): string {
  const count = (verdict: Verdict): number => results.filter((one) => one.verdict === verdict).length
  return (['passed', 'failed', 'unknown', 'empty'] as const)
    .filter((verdict) => verdict === 'passed' || count(verdict) > 0)
    .map((verdict) => `${count(verdict)} ${verdict === 'empty' ? 'had nothing to look at' : verdict}`)
    .join(', ')
}
