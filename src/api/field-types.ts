/**
 * Drops fields of another JSON type than their kind has, so that code over typed objects holds for any dump.
 *
 * Pure. Checks types, required fields and names only: another value of the right type that the API server would refuse
 * stays, because explaining it is the job of the checks.
 */
import type { StructuralSchema } from './crd.ts'
import { isRecord } from './json.ts'
import type { KubeObject } from './object.ts'

export interface WrongField {
  /** `spec.hosts[0].ip` */
  readonly path: string
  readonly expected: string
  readonly found: string
}

export interface TypedObject {
  /** Undefined when a field is missing without which the object says nothing. */
  readonly object: KubeObject | undefined
  readonly wrong: readonly WrongField[]
}

const text = { type: 'string' }
/** Names are printed in commands that people copy: a dump may have some that no API server accepts. */
const name = { type: 'string', format: 'name' }
const NAME = /^[A-Za-z0-9][\w.:@~+-]*$/
const texts = { type: 'object', additionalProperties: text }

/** The part of ObjectMeta that is read. */
const metadataSchema: StructuralSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name,
    namespace: name,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: text,
    deletionTimestamp: text,
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: text },
    ownerReferences: {
      type: 'array',
      items: { type: 'object', required: ['kind', 'name', 'uid'], properties: { kind: text, name: text, uid: text } },
    },
  },
}

const untyped: StructuralSchema = { type: 'object', required: ['metadata'], properties: { metadata: metadataSchema } }

/** The schema of an object of a kind with these schemas; without them only its metadata is checked. */
export function objectSchema(parts: Readonly<Record<string, StructuralSchema>> = {}): StructuralSchema {
  const required = ['metadata', ...('spec' in parts ? ['spec'] : [])]
  return { ...untyped, required, properties: { metadata: metadataSchema, ...parts } }
}

/** `data` of ConfigMaps and Secrets. */
export const dataSchema = objectSchema({ data: texts })

export function dropWrongFields(object: KubeObject, schema: StructuralSchema): TypedObject {
  const wrong: WrongField[] = []
  const kept = keep(object, schema, '', wrong)
  return { object: kept as KubeObject | undefined, wrong }
}

/** The value without its wrong parts; undefined when nothing of it can be used. */
function keep(value: unknown, schema: StructuralSchema, path: string, wrong: WrongField[]): unknown {
  if (schema['x-kubernetes-int-or-string']) {
    return typeof value === 'string' || typeof value === 'number'
      ? value
      : report(value, 'text or a number', path, wrong)
  }
  switch (schema['type']) {
    case 'object':
      return isRecord(value) ? keepFields(value, schema, path, wrong) : report(value, 'an object', path, wrong)
    case 'array':
      if (!Array.isArray(value)) return report(value, 'a list', path, wrong)
      return value.flatMap((item: unknown, index) => {
        const kept = keep(item, (schema['items'] ?? {}) as StructuralSchema, `${path}[${index}]`, wrong)
        return kept === undefined ? [] : [kept]
      })
    case 'string':
      return keepText(value, schema, path, wrong)
    case 'boolean':
      return typeof value === 'boolean' ? value : report(value, 'true or false', path, wrong)
    case 'integer':
      return Number.isSafeInteger(value) ? value : report(value, 'a whole number', path, wrong)
    case 'number':
      return typeof value === 'number' ? value : report(value, 'a number', path, wrong)
    default:
      return value
  }
}

function keepText(value: unknown, schema: StructuralSchema, path: string, wrong: WrongField[]): unknown {
  if (typeof value !== 'string') return report(value, 'text', path, wrong)
  return schema['format'] !== name.format || NAME.test(value) ? value : report(value, 'a name', path, wrong)
}

function keepFields(
  value: Readonly<Record<string, unknown>>,
  schema: StructuralSchema,
  path: string,
  wrong: WrongField[],
): unknown {
  const {
    properties,
    additionalProperties,
    required = [],
  } = schema as {
    readonly properties?: Readonly<Record<string, StructuralSchema>>
    readonly additionalProperties?: StructuralSchema
    readonly required?: readonly string[]
  }
  const kept: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    const fieldSchema =
      (properties && Object.hasOwn(properties, key) ? properties[key] : undefined) ?? additionalProperties
    // In JSON of Go programs, null is a field that is not set.
    if (fieldSchema && field === null) continue
    const used = fieldSchema ? keep(field, fieldSchema, path === '' ? key : `${path}.${key}`, wrong) : field
    if (used !== undefined) kept[key] = used
  }
  const isAbsent = (key: string): boolean => value[key] === undefined || value[key] === null
  // A status is written by controllers of other versions, which omit what ours always writes.
  const isStatus = /^status(\.|\[|$)/.test(path)
  const missing = required.find((key) => kept[key] === undefined && !(isStatus && isAbsent(key)))
  if (missing === undefined) return kept
  if (isAbsent(missing)) {
    wrong.push({ path: path === '' ? missing : `${path}.${missing}`, expected: 'it is required', found: 'missing' })
  }
  return undefined
}

function report(value: unknown, expected: string, path: string, wrong: WrongField[]): undefined {
  wrong.push({ path, expected: `it must be ${expected}`, found: describeType(value) })
  return undefined
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'text' : typeof value === 'boolean' ? String(value) : 'a number'
}
