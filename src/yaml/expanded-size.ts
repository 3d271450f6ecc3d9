/**
 * Finds out whether a parsed value is too large to be walked: aliases of YAML make a small text large or endless, and
 * functions that walk it call themselves once per level. Pure and linear in the text.
 */

const MAX_DEPTH = 500
/** Aliases save some text in files that people write. */
const MAX_EXTRA_VALUES = 100_000

/** The reason why the value that was parsed from a text of this length cannot be used. */
export function findExpansion(value: unknown, textLength: number): string | undefined {
  // Without aliases there is at most one value per character.
  const limit = textLength + MAX_EXTRA_VALUES
  const open: { readonly value: object; readonly depth: number }[] = []
  let count = 0
  const visit = (found: unknown, depth: number): void => {
    count += 1
    if (typeof found === 'object' && found !== null) open.push({ value: found, depth })
  }
  visit(value, 1)
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.depth > MAX_DEPTH) return `it has more than ${MAX_DEPTH} levels`
    for (const child of Object.values(next.value)) visit(child, next.depth + 1)
    if (count > limit) return `its aliases expand to more than ${limit} values`
  }
  return undefined
}
