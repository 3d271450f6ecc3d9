/**
 * Merges raw fields of the site file over what was rendered, by the rules of a JSON merge patch.
 *
 * Objects merge, everything else (lists too) is replaced, null removes. Pure.
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

/** Returns a copy with one value set at a path. */
export function setValue(target: unknown, path: readonly string[], value: unknown, from = 0): unknown {
  const key = path[from]
  if (key === undefined) return value
  const fields = asFields(target)
  return { ...fields, [key]: setValue(fields[key], path, value, from + 1) }
}

/**
 * Sets many values in place. Objects below the root may be shared, so each object on a path is copied once and the
 * original stays unchanged.
 */
export class FieldsDraft {
  private readonly copies = new Set<unknown>()
  private readonly root: Record<string, unknown>

  constructor(root: Record<string, unknown>) {
    this.root = root
  }

  /** Replaces the value at the path by what `update` returns for it. */
  set(path: readonly string[], update: (before: unknown) => unknown): void {
    let parent = this.root
    const last = path.length - 1
    for (let step = 0; step < last; step += 1) {
      const key = path[step] ?? ''
      const child = parent[key]
      parent = this.copies.has(child) ? (child as Record<string, unknown>) : (parent[key] = this.copy(child))
    }
    const key = path[last] ?? ''
    parent[key] = update(parent[key])
  }

  private copy(value: unknown): Record<string, unknown> {
    const fields = isFields(value) ? { ...value } : {}
    this.copies.add(fields)
    return fields
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {}
}
