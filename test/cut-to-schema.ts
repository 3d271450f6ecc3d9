/** Cuts a spec to what the CRD of its kind accepts: items of lists, characters of texts, keys of maps, known fields. */
import { type KindDefinition, renderCrd } from '../src/api/crd.ts'

interface Schema {
  readonly maxItems?: number
  readonly maxLength?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
}

export function cutToSchema(kind: KindDefinition, spec: unknown): unknown {
  const { versions } = renderCrd(kind)['spec'] as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
  return cut(spec, versions[0]?.schema.openAPIV3Schema.properties?.['spec'])
}

function cut(value: unknown, schema: Schema | undefined): unknown {
  if (!schema) return value
  if (typeof value === 'string') return value.slice(0, schema.maxLength)
  if (Array.isArray(value)) return value.slice(0, schema.maxItems).map((item) => cut(item, schema.items))
  if (typeof value !== 'object' || value === null) return value
  const isOpen = !schema.properties || schema['x-kubernetes-preserve-unknown-fields'] === true
  const entries = Object.entries(value)
    .filter(([key]) => isOpen || key in (schema.properties ?? {}))
    .slice(0, schema.maxProperties)
  return Object.fromEntries(
    entries.map(([key, field]) => [key, cut(field, schema.properties?.[key] ?? schema.additionalProperties)]),
  )
}
