/**
 * The fields of CRDs as one graph: equal subtrees are one node, across kinds and releases. Pure.
 *
 * Knows names, nesting and which fields are required; types, patterns and CEL rules stay with the API server.
 */
import { isRecord } from '../../api/json.ts'

/** The part of an OpenAPI schema that matters here. */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly [keyword: string]: unknown
}

export interface FieldNode {
  /** Children by name; `*` is any name of a map, or any item of a list. A node without children takes anything. */
  readonly fields: Readonly<Record<string, number>>
  /** The fields that an object must have and that the API server does not fill by a default. */
  readonly required?: readonly string[]
  /** The object takes other names, too. */
  readonly open?: true
}

/** The fields of one `spec`. */
export interface FieldGraph {
  readonly nodes: readonly FieldNode[]
  readonly root: number
}

/** Builds nodes that are shared between all schemas that are added. */
export interface GraphBuilder {
  readonly nodes: readonly FieldNode[]
  /** Adds an OpenAPI schema and returns its node. */
  readonly addSchema: (schema: Schema) => number
  /** Adds a part of another graph and returns its node here. */
  readonly addGraph: (graph: FieldGraph) => number
}

export function graphBuilder(): GraphBuilder {
  const nodes: FieldNode[] = []
  const known = new Map<string, number>()
  const add = (node: FieldNode): number => {
    const key = JSON.stringify(node)
    const id = known.get(key) ?? nodes.length
    if (id === nodes.length) nodes.push(node)
    known.set(key, id)
    return id
  }
  const addSchema = (schema: Schema): number => {
    const children: Record<string, number> = {}
    for (const [name, child] of Object.entries(schema.properties ?? {}).sort(byName)) children[name] = addSchema(child)
    const each = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : schema.items
    if (each) children['*'] = addSchema(each)
    return add(fieldNode(children, requiredFields(schema), schema['x-kubernetes-preserve-unknown-fields'] === true))
  }
  const addGraph = ({ nodes: others, root }: FieldGraph): number => {
    const added = new Map<number, number>()
    const copy = (id: number): number => {
      const before = added.get(id)
      if (before !== undefined) return before
      const { fields, required = [], open } = others[id] ?? { fields: {} }
      const children = Object.entries(fields).map(([name, child]) => [name, copy(child)] as const)
      const here = add(fieldNode(Object.fromEntries(children), required, open === true))
      added.set(id, here)
      return here
    }
    return copy(root)
  }
  return { nodes, addSchema, addGraph }
}

export function buildFieldGraph(spec: Schema): FieldGraph {
  const builder = graphBuilder()
  return { root: builder.addSchema(spec), nodes: builder.nodes }
}

function fieldNode(fields: FieldNode['fields'], required: readonly string[], open: boolean): FieldNode {
  return { fields, ...(required.length > 0 && { required }), ...(open && { open }) }
}

function requiredFields({ required, properties = {} }: Schema): readonly string[] {
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return names
    .filter((name) => typeof name === 'string')
    .filter((name) => {
      const field = properties[name]
      return isRecord(field) && field['default'] === undefined
    })
    .sort()
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
