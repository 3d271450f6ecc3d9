/** Compares an object with the fields of a release: unknown, missing, and left out. Pure. */
import { isRecord } from '../../api/json.ts'
import type { FieldGraph, FieldNode } from './schema-graph.ts'

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

/** Copies only what changes; `path` is one list that grows and shrinks, because nearly every object fits. */
function prune(
  value: unknown,
  graph: FieldGraph,
  id: number,
  path: (string | number)[],
  dropped: UnknownField[],
): unknown {
  const node = graph.nodes[id]
  if (!node) return value
  if (Array.isArray(value)) return pruneItems(value, graph, node.fields['*'], path, dropped)
  if (!isRecord(value)) return value
  let kept: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const child = value[key]
    const next = childNode(node, key)
    if (next !== undefined) {
      if (typeof child !== 'object') continue
      path.push(key)
      const pruned = prune(child, graph, next, path, dropped)
      path.pop()
      if (pruned !== child) (kept ??= { ...value })[key] = pruned
    } else if (!node.open) {
      if (isEmpty(node.fields)) return value
      dropped.push({ path: [...path, key], known: Object.keys(node.fields) })
      delete (kept ??= { ...value })[key]
    }
  }
  return kept ?? value
}

function pruneItems(
  items: readonly unknown[],
  graph: FieldGraph,
  each: number | undefined,
  path: (string | number)[],
  dropped: UnknownField[],
): readonly unknown[] {
  if (each === undefined) return items
  const pruned = items.map((item, index) => {
    path.push(index)
    const value = prune(item, graph, each, path, dropped)
    path.pop()
    return value
  })
  return pruned.some((item, index) => item !== items[index]) ? pruned : items
}

function childNode({ fields }: FieldNode, key: string): number | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : fields['*']
}

/** `Object.keys` of a control plane's fields costs more than the rest of the walk. */
function isEmpty(fields: object): boolean {
  for (const _ in fields) return false
  return true
}

/** Every field that an object must have and does not, below what the value has. */
export function missingFields(value: unknown, graph: FieldGraph): readonly FieldPath[] {
  const found: FieldPath[] = []
  const path: (string | number)[] = []
  const visit = (current: unknown, id: number): void => {
    const node = graph.nodes[id]
    if (!node || typeof current !== 'object' || current === null) return
    for (const name of node.required ?? []) if (!Object.hasOwn(current, name)) found.push([...path, name])
    for (const key of Object.keys(current)) {
      const child = (current as Readonly<Record<string, unknown>>)[key]
      const next = typeof child === 'object' ? childNode(node, key) : undefined
      if (next === undefined) continue
      path.push(Array.isArray(current) ? Number(key) : key)
      visit(child, next)
      path.pop()
    }
  }
  visit(value, graph.root)
  return found
}

/** Whether the schema has the field; a name of a map or the index of a list matches `*`. */
export function hasField(graph: FieldGraph, path: FieldPath): boolean {
  let id = graph.root
  for (const step of path) {
    const node = graph.nodes[id]
    if (!node) return false
    if (isEmpty(node.fields)) return true
    const next = childNode(node, String(step))
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
