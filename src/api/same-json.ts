/** Equal as JSON: whatever the order of keys, because the API server gives them back in its own. Pure. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = keysOf(left)
  return keys.length === keysOf(right).length && keys.every((key) => sameJson(left[key], right[key]))
}

function keysOf(value: Record<string, unknown>): readonly string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined)
}
