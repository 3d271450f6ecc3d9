/**
 * Defines findings: one problem in the form in which every part of Stackloom reports it.
 *
 * Pure data. Must not know how findings are printed or which problems exist.
 */

export type Severity = 'error' | 'warning' | 'info'

/** A position in a file that a user wrote. Lines and columns count from 1. */
export interface FileLocation {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** A position in a Kubernetes object; `path` is a field such as `spec.addresses[0]`. */
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
  /** All parties of the problem: `rhoso1/internalapi vips (site.yaml:12:9)`. */
  readonly owners?: readonly string[]
}

/** One kind of problem. Its title, description and an example are in `data/findings.yaml`, under its code. */
export interface Problem<P> {
  readonly code: string
  readonly severity: Severity
  readonly message: (facts: P) => string
  readonly remedy: (facts: P) => string
}

export function problem<P>(definition: Problem<P>): Problem<P> {
  return definition
}

export interface FindingContext {
  readonly where?: Where | undefined
  readonly owners?: readonly string[] | undefined
}

/** Creates a finding from a kind of problem and the facts of this case. */
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

/** `site.yaml:12:9`, `Service openstack/keystone-internal spec.ports`. */
export function formatWhere(where: Where): string {
  if (isFileLocation(where)) return `${where.file}:${where.line}:${where.column}`
  const name = where.namespace ? `${where.namespace}/${where.name}` : where.name
  return `${where.kind} ${name}${where.path ? ` ${where.path}` : ''}`
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some((finding) => finding.severity === 'error')
}
