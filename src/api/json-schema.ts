/** Converts schemas to JSON Schema, for completion and checks in editors. */
import * as z from 'zod/v4/core'
import { isRecord } from './json.ts'

/**
 * Names that a user may write, by the kind that `meta({ names })` of a schema states. They are suggestions: other names stay
 * valid.
 */
export type KnownNames = Readonly<Record<string, readonly string[]>>

/** Draft 7, the version that the YAML language server supports. */
export function toJsonSchema(schema: z.$ZodType, title: string, known: KnownNames = {}): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      suggestNames(jsonSchema, known)
      dropSafeInteger(jsonSchema)
    },
  })
  return { $schema, $id: `https://stackloom.dev/schemas/${title.toLowerCase()}.json`, title, ...rest }
}

/** Zod limits every integer to what JavaScript can represent, which tells a reader nothing. */
function dropSafeInteger(schema: z.JSONSchema.BaseSchema): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}

/** Known names are properties of a mapping, and examples of a text: editors complete both. */
function suggestNames(schema: z.JSONSchema.BaseSchema, known: KnownNames): void {
  const { names: kind, additionalProperties: value } = schema
  if (typeof kind !== 'string') return
  delete schema['names']
  const names = known[kind] ?? []
  if (names.length === 0) return
  if (schema.type !== 'object') schema['examples'] = [...names]
  else if (isRecord(value)) {
    schema.properties = Object.fromEntries(
      names.map((name) => [name, { description: `the ${kind} ${name}`, ...structuredClone(value) }]),
    )
  }
}
