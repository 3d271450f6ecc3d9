/**
 * Carries findings as an exception, when a program cannot continue.
 *
 * Validation collects findings and returns them; only a shell that cannot continue throws.
 */
import { type Finding, type FindingContext, finding, type Problem } from './finding.ts'

/**
 * 1: the checked input or state is wrong. 2: wrong usage, unreadable input, unreachable server. 3: nothing wrong was found,
 * but not everything could be read.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 130

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

/** Creates the failure of one problem. */
export function failure<P>(kind: Problem<P>, facts: P, context: FailureContext = {}): Failure {
  const { exitCode, cause, ...findingContext } = context
  return new Failure([finding(kind, facts, findingContext)], exitCode, { cause })
}

/** The message of a thrown value, followed by the message of its cause. */
export function formatError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const message = thrown.message || thrown.name
  const cause = thrown.cause instanceof Error ? formatError(thrown.cause) : ''
  return cause && !message.includes(cause) ? `${message}: ${cause}` : message
}

/** The readable part of `ENOENT: no such file or directory, open '/x'`. */
export function formatSystemError(thrown: unknown): string {
  return /^[A-Z]+: ([^,]+)/.exec(formatError(thrown))?.[1] ?? formatError(thrown)
}
