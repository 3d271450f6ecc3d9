/** Evaluates every rule and ranks the diagnoses, with root causes first. Pure. A rule that throws is reported as a finding. */
import { objectIdentity } from '../api/object.ts'
import { formatError } from '../errors/failure.ts'
import { type Finding, finding, type Severity } from '../errors/finding.ts'
import { type ClusterState, createClusterState, type DiagnoseInput } from './cluster-state.ts'
import { ruleFailed } from './findings/kubernetes-findings.ts'
import { type Likelihood, likelihoods, type Rule, type RuleResult } from './rule.ts'

export interface Diagnosis extends Finding {
  /** The id of the rule, such as `metallb/pending-unknown-pool`. */
  readonly rule: string
  readonly likelihood: Likelihood
  readonly saw: readonly string[]
  readonly link: string
  /** The diagnosis that causes this one, by code and object. */
  readonly followsFrom?: { readonly code: string; readonly object: string }
}

/** A rule that was not evaluated because these kinds are unknown. */
export interface SkippedRule {
  readonly rule: string
  readonly unknown: readonly string[]
}

export interface Report {
  readonly diagnoses: readonly Diagnosis[]
  readonly blind: readonly SkippedRule[]
  /** The number of evaluated rules. */
  readonly judged: number
  /** Namespaces that are clouds. */
  readonly clouds: readonly string[]
  /** Errors of the doctor itself. */
  readonly findings: readonly Finding[]
}

export function diagnose(examination: DiagnoseInput, rules: readonly Rule[]): Report {
  const steps = diagnoseInSteps(examination, rules)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** One step per rule, for a caller that has other work in between. */
export function* diagnoseInSteps(examination: DiagnoseInput, rules: readonly Rule[]): Generator<undefined, Report> {
  const cluster = createClusterState(examination)
  const found: RankedResult[] = []
  const blind: SkippedRule[] = []
  const findings: Finding[] = []
  for (const [order, rule] of rules.entries()) {
    yield undefined
    const unknown = rule.looksAt.filter((groupKind) => !canEvaluate(cluster, groupKind))
    if (unknown.length > 0) {
      blind.push({ rule: rule.id, unknown })
      continue
    }
    try {
      for (const result of rule.evaluate(cluster)) found.push({ rule, order, result, id: objectIdentity(result.about) })
    } catch (thrown) {
      findings.push(finding(ruleFailed, { rule: rule.id, reason: formatError(thrown) }))
    }
  }
  return {
    diagnoses: toDiagnoses(rankResults(found)),
    blind,
    judged: rules.length - blind.length,
    clouds: [...cluster.clouds].sort(),
    findings,
  }
}

interface RankedResult {
  readonly rule: Rule
  readonly order: number
  readonly result: RuleResult
  readonly id: string
}

/** A partly read kind is enough: a namespace administrator may read only some namespaces. */
function canEvaluate(cluster: ClusterState, groupKind: string): boolean {
  return cluster.knows(groupKind) || cluster.all(groupKind).length > 0
}

const severities: readonly Severity[] = ['error', 'warning', 'info']
const severityRank = ({ rule }: RankedResult): number => severities.indexOf(rule.problem.severity)

/** By severity, then by likelihood, then by the order of the rules. */
function rankResults(found: readonly RankedResult[]): readonly RankedResult[] {
  const rank = (found: RankedResult): number =>
    severityRank(found) * likelihoods.length + likelihoods.indexOf(found.rule.likelihood)
  return found.toSorted((a, b) => rank(a) - rank(b) || a.order - b.order || a.id.localeCompare(b.id))
}

function toDiagnoses(all: readonly RankedResult[]): readonly Diagnosis[] {
  const best = new Map<string, RankedResult>()
  for (const found of all) if (!best.has(found.id)) best.set(found.id, found)
  const next = new Map(all.map((found) => [found, findCause(found, best)]))
  const ranks = new Map(all.map((found, rank) => [found, rank]))
  return all.map((found) => toDiagnosis(found, findRootCause(found, next, ranks)))
}

/** The first finding about a dependency. A warning cannot cause an error. */
function findCause(found: RankedResult, best: ReadonlyMap<string, RankedResult>): RankedResult | undefined {
  for (const object of found.result.dependsOn ?? []) {
    const below = best.get(objectIdentity(object))
    if (below && below !== found && severityRank(below) <= severityRank(found)) return below
  }
  return undefined
}

/** Follows causes to the root. In a cycle, the finding with the best rank is the root. */
function findRootCause(
  found: RankedResult,
  next: ReadonlyMap<RankedResult, RankedResult | undefined>,
  ranks: ReadonlyMap<RankedResult, number>,
): RankedResult {
  const path: RankedResult[] = []
  let current: RankedResult | undefined = found
  while (current && !path.includes(current)) {
    path.push(current)
    current = next.get(current)
  }
  const cycle = current ? path.slice(path.indexOf(current)) : path.slice(-1)
  const rank = (found: RankedResult): number => ranks.get(found) ?? 0
  return cycle.reduce((best, result) => (rank(result) < rank(best) ? result : best), cycle[0] ?? found)
}

function toDiagnosis(found: RankedResult, cause: RankedResult): Diagnosis {
  const { rule, result } = found
  const { apiVersion, kind, metadata } = result.about
  return {
    rule: rule.id,
    likelihood: rule.likelihood,
    code: rule.problem.code,
    severity: rule.problem.severity,
    message: result.message,
    remedy: result.remedy,
    saw: result.evidence ?? [],
    link: rule.link,
    where: {
      apiVersion,
      kind,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      name: metadata.name,
      ...(result.path !== undefined && { path: result.path }),
    },
    ...(cause !== found && { followsFrom: { code: cause.rule.problem.code, object: cause.id } }),
  }
}
