/** The import rules as a picture: a Mermaid flowchart, for `docs/architecture.md`. */
import { type ImportRule, importRules, reachable } from './import-rules.ts'

/** An arrow points at what may be imported; a dotted one means types only. What arrows reach is allowed too. */
export function importGraph(rules: Readonly<Record<string, ImportRule>> = importRules): string {
  const arrows = Object.entries(rules).flatMap(([folder, { may, typesOf = [] }]) => [
    ...needed(may, rules).map((target) => `  ${folder} --> ${target}`),
    ...typesOf.map((target) => `  ${folder} -. types .-> ${target}`),
  ])
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n')
}

/** Without the steps that other steps reach anyway: they would only make the picture dense. */
function needed(may: readonly string[], rules: Readonly<Record<string, ImportRule>>): readonly string[] {
  return may.filter((target) => !may.some((other) => other !== target && reachable(other, rules).has(target)))
}
