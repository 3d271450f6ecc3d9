/**
 * Reads the slot table and the field names out of a CustomResourceDefinition of the control plane.
 *
 * Knows the shapes that a slot can have, and no service by name.
 */
import { createHash } from 'node:crypto'
import { isRecord } from '../../api/json.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { notAControlPlaneCrd } from './findings.ts'
import type { Slot, SlotShape, SlotTable } from './slots.ts'

/** The part of an OpenAPI schema that matters here. */
export interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly [keyword: string]: unknown
}

export type SlotTableResult =
  | { readonly kind: 'table'; readonly table: SlotTable; readonly schema: Schema }
  | { readonly kind: 'refused'; readonly findings: readonly Finding[] }

/** `crd` is what a YAML or JSON reader made of the file or of the API server's answer. */
export function readSlotTable(crd: unknown, source: string): SlotTableResult {
  const refuse = (reason: string): SlotTableResult => ({
    kind: 'refused',
    findings: [finding(notAControlPlaneCrd, { source, reason })],
  })
  if (!isRecord(crd) || crd['kind'] !== 'CustomResourceDefinition')
    return refuse('it is not a CustomResourceDefinition')
  const kind = recordAt(crd, 'spec', 'names')?.['kind']
  if (kind !== 'OpenStackControlPlane')
    return refuse(`it defines ${typeof kind === 'string' ? kind : 'nothing'}, not OpenStackControlPlane`)
  const schema = storedSchema(crd)
  const spec = schema?.properties?.['spec']
  if (!schema || !spec?.properties) return refuse('its stored version has no schema with a spec')
  const table = { crd: hashSchema(schema), slots: slotsIn(spec), services: servicesIn(spec) }
  return { kind: 'table', table, schema: spec }
}

function storedSchema(crd: Readonly<Record<string, unknown>>): Schema | undefined {
  const versions = recordAt(crd, 'spec')?.['versions']
  const stored = Array.isArray(versions)
    ? versions.find((version: unknown) => isRecord(version) && version['storage'] === true)
    : undefined
  return recordAt(stored, 'schema', 'openAPIV3Schema') as Schema | undefined
}

/** Services have a switch of their own; the rest of the spec (secret, tls, …) has none. */
function servicesIn(spec: Schema): readonly string[] {
  const entries = Object.entries(spec.properties ?? {})
  return entries.filter(([, schema]) => schema.properties?.['enabled']).map(([name]) => name)
}

function slotsIn(spec: Schema): readonly Slot[] {
  const found: Slot[] = []
  const visit = (schema: Schema, path: readonly string[]): void => {
    for (const [key, child] of Object.entries(schema.properties ?? {})) {
      const below = [...path, key]
      const shape = shapeOf(below, child)
      if (shape) found.push({ path: below, shape, service: below[0] ?? key })
      else visit(child, below)
    }
    if (isRecord(schema.additionalProperties)) visit(schema.additionalProperties, [...path, '*'])
    if (schema.items) visit(schema.items, [...path, '*'])
  }
  visit(spec, [])
  return found
}

/** The shape of the slot at this path, or undefined where there is none. */
function shapeOf(path: readonly string[], schema: Schema): SlotShape | undefined {
  const end = path.slice(-2).join('.')
  if (end === 'override.service') return overrideShape(schema)
  // Newer operators give RabbitMQ's single pods a Service each.
  if (end === 'override.services' || end === 'podOverride.services')
    return takesService(schema.items) ? 'list' : undefined
  if (end === 'logging.annotations') return 'annotations'
  if (path.at(-1) === 'externalEndpoint') return hasPool(schema) ? 'external-single' : undefined
  return path.at(-1) === 'externalEndpoints' ? externalShape(schema.items) : undefined
}

function overrideShape(schema: Schema): SlotShape | undefined {
  if (takesService(schema)) return 'single'
  return takesService(schema.additionalProperties) ? 'endpoints' : undefined
}

function externalShape(item: Schema | undefined): SlotShape | undefined {
  if (!hasPool(item)) return undefined
  return item?.properties?.['endpoint'] ? 'external-endpoints' : 'external-list'
}

function hasPool(schema: Schema | undefined): boolean {
  return Boolean(schema?.properties?.['ipAddressPool'])
}

function takesService(schema: Schema | boolean | undefined): boolean {
  return isRecord(schema) && Boolean((schema as Schema).properties?.['metadata'])
}

/**
 * A schema's identity: equal for the file and for what an API server answers, whatever the order of keys.
 * Descriptions do not count: a corrected sentence does not make a different CRD.
 */
export function hashSchema(schema: Schema): string {
  const canonical = JSON.stringify(schema, (_key, value: unknown) => (isRecord(value) ? canonicalised(value) : value))
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}

function canonicalised(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isText = (key: string): boolean => key === 'description' && typeof record[key] === 'string'
  const keys = Object.keys(record).filter((key) => !isText(key))
  return Object.fromEntries(keys.sort().map((key) => [key, record[key]]))
}

function recordAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  let current = value
  for (const key of path) current = isRecord(current) ? current[key] : undefined
  return isRecord(current) ? current : undefined
}

/**
 * The field names of a schema as a small graph: enough to report a wrong name and suggest the right one. Equal subtrees
 * are one node, which makes a schema of a megabyte some thirty kilobytes. Children by name; `*` is any name of a map, or any item of a list. A node without children takes anything. */
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
  /** The names that the schema has there. */
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
