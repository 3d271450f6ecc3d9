/**
 * Compares two versions of a document and applies the difference: fields as a whole, lists of items by their `id`.
 *
 * Pure, and used by both sides: the server compares, the page applies. Imports types only.
 */
import type { PatchEvent } from './documents/stream.ts'

export type Fields = Readonly<Record<string, unknown>>
type Item = Readonly<Record<string, unknown>> & { readonly id: string }
export type Patch = Pick<PatchEvent, 'fields' | 'set' | 'remove' | 'order'>

function isItems(value: unknown): value is readonly Item[] {
  return Array.isArray(value) && value.every((item: unknown) => typeof (item as Item | null)?.id === 'string')
}

/** Undefined if nothing differs. `same` compares two values; equal references are not compared. */
export function comparePatch(
  before: Fields,
  after: Fields,
  same: (a: unknown, b: unknown) => boolean,
): Patch | undefined {
  const fields: Record<string, unknown> = {}
  const set: Record<string, readonly Item[]> = {}
  const remove: Record<string, readonly string[]> = {}
  const order: Record<string, readonly string[]> = {}
  for (const [key, value] of Object.entries(after)) {
    const old = before[key]
    if (old === value) continue
    if (!isItems(value) || !isItems(old)) {
      if (!same(old, value)) fields[key] = value
      continue
    }
    const known = new Map(old.map((item) => [item.id, item]))
    const changed = value.filter((item) => {
      const earlier = known.get(item.id)
      return earlier !== item && (earlier === undefined || !same(earlier, item))
    })
    const present = new Set(value.map(({ id }) => id))
    const gone = old.filter(({ id }) => !present.has(id)).map(({ id }) => id)
    if (changed.length > 0) set[key] = changed
    if (gone.length > 0) remove[key] = gone
    const isSameOrder = old.length === value.length && old.every(({ id }, index) => value[index]?.id === id)
    if (!isSameOrder) order[key] = value.map(({ id }) => id)
  }
  const patch = {
    ...(Object.keys(fields).length > 0 && { fields }),
    ...(Object.keys(set).length > 0 && { set }),
    ...(Object.keys(remove).length > 0 && { remove }),
    ...(Object.keys(order).length > 0 && { order }),
  }
  return Object.keys(patch).length > 0 ? patch : undefined
}

/** Items and fields that did not change keep their identity, so that a page redraws only what did. */
export function applyPatch<T extends object>(
  document: T,
  { fields = {}, set = {}, remove = {}, order = {} }: Patch,
): T {
  const lists = new Set([...Object.keys(set), ...Object.keys(remove), ...Object.keys(order)])
  const changed: Record<string, unknown> = { ...fields }
  for (const key of lists) {
    const old = (document as Fields)[key]
    const items = new Map((isItems(old) ? old : []).map((item) => [item.id, item]))
    for (const id of remove[key] ?? []) items.delete(id)
    for (const item of set[key] ?? []) items.set(item.id, item)
    const ids = order[key]
    changed[key] = ids ? ids.flatMap((id) => items.get(id) ?? []) : [...items.values()]
  }
  return { ...document, ...changed }
}
