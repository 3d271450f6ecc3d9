/** Applies a change of the stream to a document. Pure; items that did not change keep their identity. */
import type { PatchEvent } from '../../src/console/documents/stream.ts'

type Items = readonly { readonly id: string }[]

export function applyPatch<T extends object>(document: T, patch: Omit<PatchEvent, 'kind' | 'document'>): T {
  const { version, fields = {}, set = {}, remove = {}, order = {} } = patch
  const before: Readonly<Record<string, unknown>> = { ...document, ...fields }
  const lists = new Set([...Object.keys(set), ...Object.keys(remove), ...Object.keys(order)])
  const changed = [...lists].map((field) => {
    const items = new Map(((before[field] ?? []) as Items).map((item) => [item.id, item]))
    for (const id of remove[field] ?? []) items.delete(id)
    for (const item of set[field] ?? []) items.set(item.id, item)
    const ids = order[field] ?? items.keys()
    return [field, [...ids].flatMap((id) => items.get(id) ?? [])] as const
  })
  return { ...document, ...fields, ...Object.fromEntries(changed), version }
}
