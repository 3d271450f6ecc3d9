/**
 * A finding: one problem, in the form in which every part of Stackloom tells it.
 *
 * Pure data. How it is printed is the command line's business; which problems exist is the catalogue's.
 */

export type Severity = 'error' | 'warning' | 'info'

/** A place in a file that a person wrote. Lines and columns count from 1. */
export interface FileLocation {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A place in a Kubernetes object; `path` is a field such as `spec.addresses[0]`. */
export interface ObjectLocation {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly path?: string
}

export type Where = FileLocation | ObjectLocation

export interface Finding {
  readonly code: string
  readonly severity: Severity
  readonly message: string
  readonly remedy: string
  readonly where?: Where
  /** Everybody who is part of the problem, in full: `rhoso1/internalapi vips (site.yaml:12:9)`. */
  readonly owners?: readonly string[]
}

/** One kind of problem, as it is written down. */
export interface ProblemDefinition<P> {
  readonly code: string
  readonly severity: Severity
  readonly title: string
  readonly message: (facts: P) => string
  readonly remedy: (facts: P) => string
  /** The long story: what it means, why it matters, how it comes about. Markdown paragraphs. */
  readonly description: string
  /** Facts of one case: they make the documentation concrete, and let a test read every text. */
  readonly example: P
}

/** What can be told of a problem without a case at hand. */
export interface ListedProblem {
  readonly code: string
  readonly severity: Severity
  readonly title: string
  readonly description: string
  readonly sample: { readonly message: string; readonly remedy: string }
}

export interface Problem<P> extends ListedProblem {
  readonly message: (facts: P) => string
  readonly remedy: (facts: P) => string
}

export function problem<P>({ example, ...definition }: ProblemDefinition<P>): Problem<P> {
  return {
    ...definition,
    get sample() {
      return { message: definition.message(example), remedy: definition.remedy(example) }
    },
  }
}

export interface FindingContext {
  readonly where?: Where | undefined
  readonly owners?: readonly string[] | undefined
}

/** Makes a finding out of a kind of problem and the facts of this case. */
export function finding<P>(kind: Problem<P>, facts: P, context: FindingContext = {}): Finding {
  return {
    code: kind.code,
    severity: kind.severity,
    message: kind.message(facts),
    remedy: kind.remedy(facts),
    ...(context.where && { where: context.where }),
    ...(context.owners && { owners: context.owners }),
  }
}

export function isFileLocation(where: Where): where is FileLocation {
  return 'file' in where
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.severity === 'error')
}
