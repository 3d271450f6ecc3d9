/**
 * From a patient to diagnoses: every rule judged, causes before what follows from them, the likeliest first.
 *
 * Pure. A rule that cannot look (a kind was not read) says so; a rule that breaks is named and stops nobody.
 */
import { objectIdentity } from '../api/object.ts'
import { formatError } from '../errors/failure.ts'
import { type Finding, finding, type Severity } from '../errors/finding.ts'
import { type ClusterState, createClusterState, type DiagnoseInput } from './cluster-state.ts'
import { ruleFailed } from './findings/kubernetes-findings.ts'
import { type Likelihood, likelihoods, type Rule, type RuleResult } from './rule.ts'

export interface Diagnosis extends Finding {
  /** The rule's name, such as `metallb/pending-unknown-pool`. */
  readonly rule: string
  readonly likelihood: Likelihood
  readonly saw: readonly string[]
  readonly link: string
  /** The cause of this one: another diagnosis, by code and object. */
  readonly followsFrom?: { readonly code: string; readonly object: string }
}

/** A rule that was not judged, because these kinds are unknown. */
export interface SkippedRule {
  readonly rule: string
  readonly unknown: readonly string[]
}

export interface Report {
  readonly diagnoses: readonly Diagnosis[]
  readonly blind: readonly SkippedRule[]
  /** How many rules were judged. */
  readonly judged: number
  /** Namespaces that were taken for clouds. */
  readonly clouds: readonly string[]
  /** What is wrong with the examination itself. */
  readonly findings: readonly Finding[]
}

export function diagnose(examination: DiagnoseInput, rules: readonly Rule[]): Report {
  const patient = createClusterState(examination)
  const found: RankedResult[] = []
  const blind: SkippedRule[] = []
  const findings: Finding[] = []
  for (const [order, rule] of rules.entries()) {
    const unknown = rule.looksAt.filter((groupKind) => !canEvaluate(patient, groupKind))
    if (unknown.length > 0) {
      blind.push({ rule: rule.id, unknown })
      continue
    }
    try {
      for (const toldCase of rule.evaluate(patient))
        found.push({ rule, order, result: toldCase, id: objectIdentity(toldCase.about) })
    } catch (thrown) {
      findings.push(finding(ruleFailed, { rule: rule.id, reason: formatError(thrown) }))
    }
  }
  return {
    diagnoses: toDiagnoses(rankResults(found)),
    blind,
    judged: rules.length - blind.length,
    clouds: [...patient.clouds].sort(),
    findings,
  }
}

interface RankedResult {
  readonly rule: Rule
  readonly order: number
  readonly result: RuleResult
  readonly id: string
}

/** What was partly read (a namespace's administrator sees his own) is enough to look at what is there. */
function canEvaluate(patient: ClusterState, groupKind: string): boolean {
  return patient.knows(groupKind) || patient.all(groupKind).length > 0
}

const severities: readonly Severity[] = ['error', 'warning', 'info']
const severityRank = ({ rule }: RankedResult): number => severities.indexOf(rule.problem.severity)

/** By severity, then by how sure we are, then from the ground up: the order of the rules. */
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

/** The first finding about what this one rests on. An error has no mere warning for its cause. */
function findCause(found: RankedResult, best: ReadonlyMap<string, RankedResult>): RankedResult | undefined {
  for (const object of found.result.dependsOn ?? []) {
    const below = best.get(objectIdentity(object))
    if (below && below !== found && severityRank(below) <= severityRank(found)) return below
  }
  return undefined
}

/** Down to the ground: the cause of a cause is the cause. Of those that rest on each other it is the surest. */
function findRootCause(
  found: RankedResult,
  next: ReadonlyMap<RankedResult, RankedResult | undefined>,
  ranks: ReadonlyMap<RankedResult, number>,
): RankedResult {
  const path: RankedResult[] = []
  let here: RankedResult | undefined = found
  while (here && !path.includes(here)) {
    path.push(here)
    here = next.get(here)
  }
  const circle = here ? path.slice(path.indexOf(here)) : path.slice(-1)
  const rank = (found: RankedResult): number => ranks.get(found) ?? 0
  return circle.reduce((first, one) => (rank(one) < rank(first) ? one : first), circle[0] ?? found)
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
