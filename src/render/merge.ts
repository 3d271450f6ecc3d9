/**
 * Raw fields from the site file over what was rendered: merged last, so nothing that a person wrote is lost.
 *
 * The rules of a JSON merge patch: objects merge, everything else (lists too) is replaced, null removes.
 */

export type Fields = Readonly<Record<string, unknown>>

export function mergeRaw(rendered: Fields, raw: Fields | undefined): Fields {
  if (raw === undefined) return rendered
  const merged: Record<string, unknown> = { ...rendered }
  for (const [key, value] of Object.entries(raw)) {
    if (value === null) delete merged[key]
    else if (isFields(value)) merged[key] = mergeRaw(fieldsOf(merged[key]), value)
    else merged[key] = value
  }
  return merged
}

/** A copy with one value put in at a path of names. */
export function withValue(target: unknown, path: readonly string[], value: unknown, from = 0): unknown {
  const key = path[from]
  if (key === undefined) return value
  const fields = fieldsOf(target)
  return { ...fields, [key]: withValue(fields[key], path, value, from + 1) }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {}
}
