/** Compares an object with the fields of a release: unknown, missing, and left out. Pure. */
import type { FieldGraph } from './schema-graph.ts'

export type FieldPath = readonly (string | number)[]

export interface UnknownField {
  readonly path: FieldPath
  /** The names that the schema has there. */
  readonly known: readonly string[]
}

/** Every field of a value that the schema does not have, the outermost of each branch. */
export function findUnknownFields(value: unknown, graph: FieldGraph): readonly UnknownField[] {
  const found: UnknownField[] = []
  prune(value, graph, graph.root, [], found)
  return found
}

export interface PrunedFields<T> {
  readonly value: T
  readonly dropped: readonly UnknownField[]
}

/** The value without the fields that the schema does not have. The value itself where it has no such field. */
export function pruneFields<T>(value: T, graph: FieldGraph): PrunedFields<T> {
  const dropped: UnknownField[] = []
  return { value: prune(value, graph, graph.root, [], dropped) as T, dropped }
}

function prune(value: unknown, graph: FieldGraph, id: number, path: FieldPath, dropped: UnknownField[]): unknown {
  const node = graph.nodes[id]
  if (!node || typeof value !== 'object' || value === null || Object.keys(node.fields).length === 0) return value
  if (Array.isArray(value)) {
    const each = node.fields['*']
    if (each === undefined) return value
    const items = value.map((item: unknown, index) => prune(item, graph, each, [...path, index], dropped))
    return items.some((item, index) => item !== value[index]) ? items : (value as unknown)
  }
  let changed = false
  const kept: Record<string, unknown> = {}
  for (const [key, child] of Object.entries(value)) {
    const next = Object.hasOwn(node.fields, key) ? node.fields[key] : node.fields['*']
    if (next === undefined) {
      if (node.open) kept[key] = child
      else {
        dropped.push({ path: [...path, key], known: Object.keys(node.fields) })
        changed = true
      }
      continue
    }
    const pruned = prune(child, graph, next, [...path, key], dropped)
    changed ||= pruned !== child
    kept[key] = pruned
  }
  return changed ? kept : value
}

/** Every field that an object must have and does not, below what the value has. */
export function missingFields(value: unknown, graph: FieldGraph): readonly FieldPath[] {
  const found: FieldPath[] = []
  const visit = (current: unknown, id: number, path: FieldPath): void => {
    const node = graph.nodes[id]
    if (!node || typeof current !== 'object' || current === null) return
    for (const name of node.required ?? []) if (!Object.hasOwn(current, name)) found.push([...path, name])
    for (const [key, child] of Object.entries(current)) {
      const next = Object.hasOwn(node.fields, key) ? node.fields[key] : node.fields['*']
      if (next !== undefined) visit(child, next, [...path, Array.isArray(current) ? Number(key) : key])
    }
  }
  visit(value, graph.root, [])
  return found
}

/** Whether the schema has the field; a name of a map or the index of a list matches `*`. */
export function hasField(graph: FieldGraph, path: FieldPath): boolean {
  let id = graph.root
  for (const step of path) {
    const node = graph.nodes[id]
    if (!node) return false
    if (Object.keys(node.fields).length === 0) return true
    const next = Object.hasOwn(node.fields, String(step)) ? node.fields[String(step)] : node.fields['*']
    if (next === undefined) return node.open === true
    id = next
  }
  return true
}

/** The fields that the schema names at a path; `*` stands for any name of a map. Empty if it has no such path. */
export function fieldNames(graph: FieldGraph, path: FieldPath): readonly string[] {
  let id: number | undefined = graph.root
  for (const step of path) {
    const fields: Readonly<Record<string, number>> = graph.nodes[id]?.fields ?? {}
    id = Object.hasOwn(fields, String(step)) ? fields[String(step)] : fields['*']
    if (id === undefined) return []
  }
  return Object.keys(graph.nodes[id]?.fields ?? {})
}
