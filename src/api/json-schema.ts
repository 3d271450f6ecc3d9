/** Converts schemas to JSON Schema, for completion and checks in editors. */
import * as z from 'zod/v4/core'

/** Draft 7, the version that the YAML language server supports. */
export function toJsonSchema(schema: z.$ZodType, title: string): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-7' })
  return { $schema, $id: `https://stackloom.dev/schemas/${title.toLowerCase()}.json`, title, ...rest }
}
