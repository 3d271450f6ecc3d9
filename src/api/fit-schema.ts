/**
 * Checks values against the JSON Schemas in `data/schemas.json`, which are made of the zod schemas: nearly every file is
 * right, and zod takes longer to load and to build its schemas than a small site to plan. Pure but for that file.
 *
 * Says only that a value fits. What is wrong with another one, if anything, zod says.
 */
import { readData } from '../data/data.ts'

export type SchemaName = 'site' | 'lock' | 'netConfig'

/** The keywords that the schemas have; `tools/fast-schemas.ts` refuses any other one. */
export interface FastSchema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly FastSchema[]
  readonly properties?: Readonly<Record<string, FastSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: FastSchema | false
  readonly propertyNames?: FastSchema
  readonly items?: FastSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Stands for a value that does not fit; undefined is a value. */
export const MISFIT: unique symbol = Symbol('misfit')

let schemas: Readonly<Record<SchemaName, FastSchema>> | undefined

/** Parsed once: a plan needs three of them. */
export function readSchema(name: SchemaName): FastSchema {
  schemas ??= JSON.parse(readData('schemas.json')) as Readonly<Record<SchemaName, FastSchema>>
  return schemas[name]
}

/** The value as zod returns it, with the keys in the schema's order. */
export function fitSchema(schema: FastSchema, value: unknown): unknown {
  if (schema.anyOf) return fitFirst(schema.anyOf, value)
  if (schema.enum && !schema.enum.includes(value)) return MISFIT
  if ('const' in schema && value !== schema.const) return MISFIT
  if (schema.type === 'object') return fitObject(schema, value)
  if (schema.type === 'array') return fitArray(schema, value)
  return schema.type === undefined || fitsScalar(schema, value) ? value : MISFIT
}

function fitsScalar(schema: FastSchema, value: unknown): boolean {
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' && fitsText(schema, value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'integer':
      return Number.isSafeInteger(value) && fitsRange(schema, value as number)
    case 'number':
      return Number.isFinite(value) && fitsRange(schema, value as number)
    default:
      return false
  }
}

function fitFirst(alternatives: readonly FastSchema[], value: unknown): unknown {
  for (const schema of alternatives) {
    const fitted = fitSchema(schema, value)
    if (fitted !== MISFIT) return fitted
  }
  return MISFIT
}

function fitArray({ items = {}, minItems = 0, maxItems = Infinity }: FastSchema, value: unknown): unknown {
  if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return MISFIT
  const fitted: unknown[] = []
  for (const item of value) {
    const result = fitSchema(items, item)
    if (result === MISFIT) return MISFIT
    fitted.push(result)
  }
  return fitted
}

function fitObject(schema: FastSchema, value: unknown): unknown {
  if (!isPlainObject(value)) return MISFIT
  const { properties = {}, required = [], additionalProperties = {}, propertyNames } = schema
  if (!required.every((name) => Object.hasOwn(value, name))) return MISFIT
  const fitted: Record<string, unknown> = {}
  for (const name in properties) {
    if (!Object.hasOwn(value, name)) continue
    const result = fitSchema(properties[name] as FastSchema, value[name])
    if (result === MISFIT) return MISFIT
    fitted[name] = result
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue
    // Zod leaves such a key out; readers report it.
    if (additionalProperties === false || name === '__proto__') return MISFIT
    if (propertyNames && fitSchema(propertyNames, name) === MISFIT) return MISFIT
    const result = fitSchema(additionalProperties, value[name])
    if (result === MISFIT) return MISFIT
    fitted[name] = result
  }
  return fitted
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function fitsText({ minLength = 0, maxLength = Infinity, pattern }: FastSchema, text: string): boolean {
  const { length } = text
  return length >= minLength && length <= maxLength && (pattern === undefined || new RegExp(pattern).test(text))
}

function fitsRange({ minimum, maximum }: FastSchema, value: number): boolean {
  return (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum)
}
