/** Compares JSON values as the API server returns them: the order of keys and undefined members do not matter. Pure. */

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const keys = definedKeys(left)
  return keys.length === definedKeys(right).length && keys.every((key) => sameJson(left[key], right[key]))
}

/** Whether `live` has every member of `wanted`. Lists must be equally long: the API server adds fields, not items. */
export function containsJson(live: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return live === wanted
  if (Array.isArray(wanted)) {
    // The API server drops empty lists.
    const list = live ?? []
    return (
      Array.isArray(list) &&
      list.length === wanted.length &&
      wanted.every((item, index) => containsJson(list[index], item))
    )
  }
  const members = (live ?? {}) as Record<string, unknown>
  return definedKeys(wanted as Record<string, unknown>).every((key) =>
    containsJson(members[key], (wanted as Record<string, unknown>)[key]),
  )
}

function definedKeys(value: Record<string, unknown>): readonly string[] {
  return Object.keys(value).filter((key) => value[key] !== undefined)
}
