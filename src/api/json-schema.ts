/** JSON Schema of the files that people write: editors complete and check with it. */
import * as z from 'zod/v4/core'

/** Draft 7, because that is what the YAML language server understands. */
export function toJsonSchema(schema: z.$ZodType, title: string): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-7' })
  return { $schema, $id: `https://stackloom.dev/schemas/${title.toLowerCase()}.json`, title, ...rest }
}
