/**
 * Raw fields from the site file over what was rendered: merged last, so nothing that a person wrote is lost.
 *
 * The rules of a JSON merge patch: objects merge, everything else (lists too) is replaced, null removes.
 */

export type Fields = Readonly<Record<string, unknown>>

export function mergePatch(rendered: Fields, raw: Fields | undefined): Fields {
  if (raw === undefined) return rendered
  const merged: Record<string, unknown> = { ...rendered }
  for (const [key, value] of Object.entries(raw)) {
    if (value === null) delete merged[key]
    else if (isFields(value)) merged[key] = mergePatch(asFields(merged[key]), value)
    else merged[key] = value
  }
  return merged
}

/** A copy with one value put in at a path of names. */
export function setValue(target: unknown, path: readonly string[], value: unknown, from = 0): unknown {
  const key = path[from]
  if (key === undefined) return value
  const fields = asFields(target)
  return { ...fields, [key]: setValue(fields[key], path, value, from + 1) }
}

/**
 * Fields that many values are put into, in place. What lies below them may belong to others: each object on the way is
 * copied once, so that what it was made from stays as it was.
 */
export class FieldsDraft {
  private readonly copies = new Set<unknown>()
  private readonly root: Record<string, unknown>

  constructor(root: Record<string, unknown>) {
    this.root = root
  }

  /** Puts in what `make` gives for the value that stands there now. */
  put(path: readonly string[], make: (before: unknown) => unknown): void {
    let at = this.root
    const last = path.length - 1
    for (let step = 0; step < last; step += 1) {
      const key = path[step] ?? ''
      const below = at[key]
      at = this.copies.has(below) ? (below as Record<string, unknown>) : (at[key] = this.copyOf(below))
    }
    const key = path[last] ?? ''
    at[key] = make(at[key])
  }

  private copyOf(value: unknown): Record<string, unknown> {
    const copy = isFields(value) ? { ...value } : {}
    this.copies.add(copy)
    return copy
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {}
}
