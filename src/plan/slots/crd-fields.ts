/**
 * The field names of a CRD's schema as a small graph: enough to say that a name is wrong and which one was meant.
 *
 * Equal subtrees are one node, which makes a schema of a megabyte some thirty kilobytes. Types and bounds are the
 * API server's to judge.
 */
import type { Schema } from './slot-table.ts'

/** Children by name; `*` is any name of a map, or any item of a list. A node without children takes anything. */
export type FieldNode = Readonly<Record<string, number>>

export interface CrdFields {
  readonly nodes: readonly FieldNode[]
  /** The node of `spec`. */
  readonly root: number
}

export function buildCrdFields(spec: Schema): CrdFields {
  const nodes: FieldNode[] = []
  const known = new Map<string, number>()
  const idOf = (schema: Schema): number => {
    const node: Record<string, number> = {}
    for (const [name, child] of Object.entries(schema.properties ?? {}).sort(byName)) node[name] = idOf(child)
    const any = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : schema.items
    if (any) node['*'] = idOf(any)
    const key = JSON.stringify(node)
    const id = known.get(key) ?? nodes.length
    if (id === nodes.length) nodes.push(node)
    known.set(key, id)
    return id
  }
  return { root: idOf(spec), nodes }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

export interface UnknownField {
  readonly path: readonly (string | number)[]
  /** The names that the schema has at this place. */
  readonly known: readonly string[]
}

/** Every field of a value that the schema does not have, the outermost of each branch. */
export function findUnknownFields(value: unknown, fields: CrdFields): readonly UnknownField[] {
  const found: UnknownField[] = []
  const visit = (current: unknown, id: number, path: readonly (string | number)[]): void => {
    const node = fields.nodes[id]
    if (!node || typeof current !== 'object' || current === null || Object.keys(node).length === 0) return
    for (const [key, child] of Object.entries(current)) {
      const below = [...path, Array.isArray(current) ? Number(key) : key]
      const next = node[key] ?? node['*']
      if (next === undefined) found.push({ path: below, known: Object.keys(node) })
      else visit(child, next, below)
    }
  }
  visit(value, fields.root, [])
  return found
}
