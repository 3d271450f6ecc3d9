/** Draws the import rules as a Mermaid flowchart, for `docs/architecture.md`. */
import { type ImportRule, importRules, reachable } from './import-rules.ts'

/** An arrow points at what may be imported; a dotted one allows types only. */
export function importGraph(rules: Readonly<Record<string, ImportRule>> = importRules): string {
  const arrows = Object.entries(rules).flatMap(([folder, { may, typesOf = [] }]) => [
    ...directSteps(may, rules).map((target) => `  ${folder} --> ${target}`),
    ...typesOf.map((target) => `  ${folder} -. types .-> ${target}`),
  ])
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n')
}

/** Leaves out steps that other steps reach already. */
function directSteps(may: readonly string[], rules: Readonly<Record<string, ImportRule>>): readonly string[] {
  return may.filter((target) => !may.some((other) => other !== target && reachable(other, rules).has(target)))
}
