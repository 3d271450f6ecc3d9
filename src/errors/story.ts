/** One problem as a page: for `stackloom explain` and for the generated `docs/findings/`. */
import type { ListedProblem } from './finding.ts'

export interface Story {
  readonly code: string
  readonly severity: string
  readonly title: string
  readonly story: string
  readonly example: string
  readonly remedy: string
  readonly text: string
}

export function storyOf(kind: ListedProblem): Story {
  const { message: example, remedy } = kind.sample
  const text = [
    `# ${kind.code}: ${kind.title}`,
    `Severity: ${kind.severity}`,
    kind.story.trim(),
    `## Example\n\n    ${kind.severity} ${kind.code}: ${example}\n        fix: ${remedy}`,
  ].join('\n\n')
  const { code, severity, title, story } = kind
  return { code, severity, title, story: story.trim(), example, remedy, text: `${text}\n` }
}
