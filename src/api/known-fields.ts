/** The fields that a schema knows at a path: what a misspelt one is compared with. */
import type * as z from 'zod/v4/core'
import type { ValuePath } from '../yaml/locate.ts'

type Schema = z.$ZodType

interface Definition {
  readonly type: string
  readonly innerType?: Schema
  readonly element?: Schema
  readonly valueType?: Schema
  readonly options?: readonly Schema[]
  readonly shape?: Readonly<Record<string, Schema>>
}

export function knownFields(schema: Schema, path: ValuePath): readonly string[] {
  const here = path.reduce<readonly Schema[]>(
    (schemas, step) => schemas.flatMap((schema) => stepInto(schema, step)),
    unwrap(schema),
  )
  return [...new Set(here.flatMap((schema) => Object.keys(definitionOf(schema).shape ?? {})))]
}

function stepInto(schema: Schema, step: string | number): readonly Schema[] {
  const { shape, element, valueType } = definitionOf(schema)
  const next = shape?.[step] ?? element ?? valueType
  return next ? unwrap(next) : []
}

/** Optional fields and alternatives stand between a field and its shape. */
function unwrap(schema: Schema): readonly Schema[] {
  const { innerType, options } = definitionOf(schema)
  if (innerType) return unwrap(innerType)
  return options ? options.flatMap(unwrap) : [schema]
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition
}
