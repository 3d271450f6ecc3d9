/**
 * From a patient to diagnoses: every rule judged, causes before what follows from them, the likeliest first.
 *
 * Pure. A rule that cannot look (a kind was not read) says so; a rule that breaks is named and stops nobody.
 */
import { identityOf } from '../api/object.ts'
import { ruleBroke } from '../errors/doctor.ts'
import { reasonOf } from '../errors/failure.ts'
import { type Finding, finding, type Severity } from '../errors/finding.ts'
import { type Examination, type Patient, patientOf } from './patient.ts'
import { type Likelihood, likelihoods, type Rule, type ToldCase } from './rule.ts'

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
export interface Blind {
  readonly rule: string
  readonly unknown: readonly string[]
}

export interface Report {
  readonly diagnoses: readonly Diagnosis[]
  readonly blind: readonly Blind[]
  /** How many rules were judged. */
  readonly judged: number
  /** Namespaces that were taken for clouds. */
  readonly clouds: readonly string[]
  /** What is wrong with the examination itself. */
  readonly findings: readonly Finding[]
}

export function diagnose(examination: Examination, rules: readonly Rule[]): Report {
  const patient = patientOf(examination)
  const found: Found[] = []
  const blind: Blind[] = []
  const findings: Finding[] = []
  for (const [order, rule] of rules.entries()) {
    const unknown = rule.looksAt.filter((groupKind) => !canSee(patient, groupKind))
    if (unknown.length > 0) {
      blind.push({ rule: rule.id, unknown })
      continue
    }
    try {
      for (const one of rule.cases(patient)) found.push({ rule, order, one, id: identityOf(one.about) })
    } catch (thrown) {
      findings.push(finding(ruleBroke, { rule: rule.id, reason: reasonOf(thrown) }))
    }
  }
  return {
    diagnoses: toldAll(ranked(found)),
    blind,
    judged: rules.length - blind.length,
    clouds: [...patient.clouds].sort(),
    findings,
  }
}

interface Found {
  readonly rule: Rule
  readonly order: number
  readonly one: ToldCase
  readonly id: string
}

/** What was partly read (a namespace's administrator sees his own) is enough to look at what is there. */
function canSee(patient: Patient, groupKind: string): boolean {
  return patient.knows(groupKind) || patient.all(groupKind).length > 0
}

const severities: readonly Severity[] = ['error', 'warning', 'info']
const severityOf = ({ rule }: Found): number => severities.indexOf(rule.problem.severity)

/** By severity, then by how sure we are, then from the ground up: the order of the rules. */
function ranked(found: readonly Found[]): readonly Found[] {
  const rank = (one: Found): number =>
    severityOf(one) * likelihoods.length + likelihoods.indexOf(one.rule.likelihood)
  return found.toSorted((a, b) => rank(a) - rank(b) || a.order - b.order || a.id.localeCompare(b.id))
}

function toldAll(all: readonly Found[]): readonly Diagnosis[] {
  const best = new Map<string, Found>()
  for (const one of all) if (!best.has(one.id)) best.set(one.id, one)
  const next = new Map(all.map((one) => [one, causeBelow(one, best)]))
  const ranks = new Map(all.map((one, rank) => [one, rank]))
  return all.map((one) => told(one, rootOf(one, next, ranks)))
}

/** The first finding about what this one rests on. An error has no mere warning for its cause. */
function causeBelow(found: Found, best: ReadonlyMap<string, Found>): Found | undefined {
  for (const object of found.one.restsOn ?? []) {
    const below = best.get(identityOf(object))
    if (below && below !== found && severityOf(below) <= severityOf(found)) return below
  }
  return undefined
}

/** Down to the ground: the cause of a cause is the cause. Of those that rest on each other it is the surest. */
function rootOf(
  found: Found,
  next: ReadonlyMap<Found, Found | undefined>,
  ranks: ReadonlyMap<Found, number>,
): Found {
  const path: Found[] = []
  let here: Found | undefined = found
  while (here && !path.includes(here)) {
    path.push(here)
    here = next.get(here)
  }
  const circle = here ? path.slice(path.indexOf(here)) : path.slice(-1)
  const rank = (one: Found): number => ranks.get(one) ?? 0
  return circle.reduce((first, one) => (rank(one) < rank(first) ? one : first), circle[0] ?? found)
}

function told(found: Found, cause: Found): Diagnosis {
  const { rule, one } = found
  const { apiVersion, kind, metadata } = one.about
  return {
    rule: rule.id,
    likelihood: rule.likelihood,
    code: rule.problem.code,
    severity: rule.problem.severity,
    message: one.message,
    remedy: one.remedy,
    saw: one.saw ?? [],
    link: rule.link,
    where: {
      apiVersion,
      kind,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      name: metadata.name,
      ...(one.path !== undefined && { path: one.path }),
    },
    ...(cause !== found && { followsFrom: { code: cause.rule.problem.code, object: cause.id } }),
  }
}
