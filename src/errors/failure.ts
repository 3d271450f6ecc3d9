/**
 * A failure: findings on their way up the stack, when there is nothing left to go on with.
 *
 * Validation collects findings and returns them; only a shell that cannot continue throws.
 */
import { type Finding, type FindingContext, finding, type Problem } from './finding.ts'

/** 1: what the user asked about is wrong. 2: wrong use, unreadable input, unreachable server. */
export type ExitCode = 0 | 1 | 2 | 130

export class Failure extends Error {
  readonly findings: readonly Finding[]
  readonly exitCode: ExitCode

  constructor(findings: readonly Finding[], exitCode: ExitCode = 2, options?: ErrorOptions) {
    super(findings.map((finding) => `${finding.code}: ${finding.message}`).join('\n'), options)
    this.name = 'Failure'
    this.findings = findings
    this.exitCode = exitCode
  }
}

export interface FailureContext extends FindingContext {
  readonly exitCode?: ExitCode
  readonly cause?: unknown
}

/** The usual way to fail: one problem, its facts, and what caused it. */
export function failure<P>(kind: Problem<P>, facts: P, context: FailureContext = {}): Failure {
  const { exitCode, cause, ...rest } = context
  return new Failure([finding(kind, facts, rest)], exitCode, { cause })
}

/** The shortest true account of an unknown thrown value: its message, and the message of what caused it. */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const own = thrown.message || thrown.name
  const cause = thrown.cause instanceof Error ? formatError(thrown.cause) : ''
  return cause && !own.includes(cause) ? `${own}: ${cause}` : own
}
