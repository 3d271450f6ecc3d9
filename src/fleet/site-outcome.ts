/** Judges how a command ended at each site of a fleet, and orders the sites: worst first. Pure. */
import type { ExitCode } from '../errors/failure.ts'
import type { Finding } from '../errors/finding.ts'
import * as connection from '../kube/findings/connection.ts'

export type SiteVerdict = 'failed' | 'invalid' | 'unreachable' | 'partial' | 'fine'

/** How a command ended at one site. */
export interface SiteOutcome {
  readonly site: string
  readonly exitCode: ExitCode
  /** What the command prints with `-o json`. */
  readonly result: SiteResult
}

export interface SiteResult {
  readonly findings?: readonly Finding[]
  readonly [field: string]: unknown
}

/** Worst first. A site that cannot be reached may be fine, so what is known to be broken comes before it. */
const verdictOrder: readonly SiteVerdict[] = ['failed', 'invalid', 'unreachable', 'partial', 'fine']

const exitCodes: Readonly<Record<SiteVerdict, ExitCode>> = {
  failed: 1,
  invalid: 2,
  unreachable: 3,
  partial: 3,
  fine: 0,
}

/** Each of these says that the cluster gave no answer, or that no way to it is known. */
const connectionCodes: ReadonlySet<string> = new Set(Object.values(connection).map(({ code }) => code))

export function siteVerdict({ exitCode, result }: SiteOutcome): SiteVerdict {
  if (exitCode === 0) return 'fine'
  if (exitCode === 3) return 'partial'
  const isCutOff = (result.findings ?? []).some(({ code }) => connectionCodes.has(code))
  if (exitCode === 2) return isCutOff ? 'unreachable' : 'invalid'
  return 'failed'
}

export function worstFirst(outcomes: readonly SiteOutcome[]): readonly SiteOutcome[] {
  const rank = (outcome: SiteOutcome): number => verdictOrder.indexOf(siteVerdict(outcome))
  return outcomes.toSorted((a, b) => rank(a) - rank(b) || countErrors(b) - countErrors(a))
}

/** The exit code of the worst site. */
export function fleetExitCode(outcomes: readonly SiteOutcome[]): ExitCode {
  const [worst] = worstFirst(outcomes)
  return worst ? exitCodes[siteVerdict(worst)] : 0
}

/** The first problem of the site in one sentence; empty without one. `other` is one that is no finding. */
export function firstProblem({ exitCode, result }: SiteOutcome, other?: string): string {
  if (exitCode === 0) return ''
  const findings = result.findings ?? []
  const error = findings.find(({ severity }) => severity === 'error')
  const [first] = findings
  return (error && formatProblem(error)) ?? other ?? (first && formatProblem(first)) ?? ''
}

function formatProblem({ code, message }: Finding): string {
  return `${code}: ${message}`
}

function countErrors({ result }: SiteOutcome): number {
  return (result.findings ?? []).filter(({ severity }) => severity === 'error').length
}
