/** Makes `data/schemas.json` of the zod schemas, for `src/api/fit-schema.ts`. */
import * as z from 'zod/v4/core'
import type { FastSchema, SchemaName } from '../src/api/fit-schema.ts'
import { netConfigSpecSchema } from '../src/api/netconfig-kind.ts'
import { siteSchema } from '../src/api/site.ts'
import { lockSchema } from '../src/plan/lock-file.ts'

const schemas: Readonly<Record<SchemaName, z.$ZodType>> = {
  site: siteSchema,
  lock: lockSchema,
  netConfig: netConfigSpecSchema,
}

const CHECKED: ReadonlySet<string> = new Set<keyof FastSchema>([
  'type',
  'const',
  'enum',
  'anyOf',
  'properties',
  'required',
  'additionalProperties',
  'propertyNames',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
])

/** Keywords for editors and readers. */
const NOTES: ReadonlySet<string> = new Set(['$schema', 'definitions', 'description', 'examples', 'default', 'names'])

type JsonSchema = Readonly<Record<string, unknown>>

export function fastSchemas(): string {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, toFastSchema(schema)])
  return `${JSON.stringify(Object.fromEntries(entries))}\n`
}

export function toFastSchema(schema: z.$ZodType): FastSchema {
  const json = z.toJSONSchema(schema, { target: 'draft-7' }) as JsonSchema
  return simplify(json, (json['definitions'] ?? {}) as Readonly<Record<string, JsonSchema>>)
}

/** Without notes, with each definition in its places. Fails for a keyword that would not be checked. */
function simplify(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>): FastSchema {
  const { $ref: reference, ...rest } = schema
  const definition = typeof reference === 'string' ? definitions[reference.replace('#/definitions/', '')] : undefined
  if (reference !== undefined && !definition) throw new Error(`no definition ${JSON.stringify(reference)}`)
  const merged = { ...definition, ...rest }
  const checked = Object.entries(merged).filter(([keyword]) => !NOTES.has(keyword))
  for (const [keyword] of checked) if (!CHECKED.has(keyword)) throw new Error(`${keyword} is not checked`)
  if ('anyOf' in merged && checked.length > 1) throw new Error('anyOf has other keywords beside it')
  const inner = (value: unknown): unknown =>
    typeof value === 'object' && value !== null ? simplify(value as JsonSchema, definitions) : value
  return Object.fromEntries(
    checked.map(([keyword, value]) => {
      if (keyword === 'anyOf') return [keyword, (value as readonly unknown[]).map(inner)]
      if (keyword === 'const' || keyword === 'enum' || keyword === 'required') return [keyword, value]
      if (keyword !== 'properties') return [keyword, inner(value)]
      return [
        keyword,
        Object.fromEntries(Object.entries(value as JsonSchema).map(([name, schema]) => [name, inner(schema)])),
      ]
    }),
  )
}
