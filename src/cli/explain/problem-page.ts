/** Renders one problem as a page, for `stackloom explain` and the generated `docs/findings/`. */
import type { ListedProblem } from '../../errors/finding.ts'

export interface ProblemPage {
  readonly code: string
  readonly severity: string
  readonly title: string
  readonly story: string
  readonly example: string
  readonly remedy: string
  readonly text: string
}

export function renderProblemPage(kind: ListedProblem): ProblemPage {
  const { message: example, remedy } = kind.sample
  const text = [
    `# ${kind.code}: ${kind.title}`,
    `Severity: ${kind.severity}`,
    kind.description.trim(),
    `## Example\n\n    ${kind.severity} ${kind.code}: ${example}\n        fix: ${remedy}`,
  ].join('\n\n')
  const { code, severity, title, description } = kind
  return { code, severity, title, story: description.trim(), example, remedy, text: `${text}\n` }
}
