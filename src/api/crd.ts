/**
 * Renders CustomResourceDefinitions from zod schemas, so that the API server enforces the schema that is checked here.
 *
 * The API server requires a structural schema, a subset of JSON Schema: what it cannot express fails here, when the
 * definition is rendered, not when the CRD is installed.
 */
import * as z from 'zod'
import type { KubeObject } from './object.ts'

export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly description?: string
}

/** A kind that Stackloom serves. */
export interface KindDefinition {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly spec: z.ZodType
  readonly status?: z.ZodType
  readonly columns?: readonly PrinterColumn[]
  readonly labels?: Readonly<Record<string, string>>
}

/** Put on a schema with `.meta(...)`: unknown fields are preserved. */
export const preserveUnknown = { 'x-kubernetes-preserve-unknown-fields': true } as const

export function renderCrd(definition: KindDefinition): KubeObject {
  const { group, version, kind, plural, shortNames, scope, spec, status, columns, labels } = definition
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: structuralSchema(spec),
    ...(status && { status: structuralSchema(status) }),
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(labels && { labels }) },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames && { shortNames }),
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties } },
          ...(status && { subresources: { status: {} } }),
          ...(columns && { additionalPrinterColumns: columns }),
        },
      ],
    },
  }
}

export type StructuralSchema = Readonly<Record<string, unknown>>

/** The structural form of a zod schema. Throws for what a CustomResourceDefinition cannot express. */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const json = z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', reused: 'inline' })
  return structural(json as Readonly<Record<string, unknown>>, '')
}

const KEPT_KEYWORDS = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'nullable',
] as const

/** zod gives every integer the bounds of JavaScript's safe integers; they are not part of the API. */
const ZOD_INTEGER_BOUNDS = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])

function structural(node: Readonly<Record<string, unknown>>, path: string): StructuralSchema {
  for (const keyword of ['anyOf', 'oneOf', 'allOf', '$ref', 'not']) {
    if (keyword in node) {
      throw new TypeError(`${path || 'the schema'} uses ${keyword}, which has no structural form`)
    }
  }
  const kept = Object.fromEntries(
    KEPT_KEYWORDS.flatMap((key) => (key in node && !ZOD_INTEGER_BOUNDS.has(node[key]) ? [[key, node[key]]] : [])),
  )
  const extensions = Object.fromEntries(Object.entries(node).filter(([key]) => key.startsWith('x-kubernetes-')))
  if ('x-kubernetes-preserve-unknown-fields' in extensions) return { type: 'object', ...kept, ...extensions }
  return { ...kept, ...extensions, ...children(node, path) }
}

function children(node: Readonly<Record<string, unknown>>, path: string): StructuralSchema {
  const { properties, required, items, additionalProperties } = node as {
    properties?: Record<string, Record<string, unknown>>
    required?: readonly string[]
    items?: Record<string, unknown>
    additionalProperties?: boolean | Record<string, unknown>
  }
  return {
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, child]) => [name, structural(child, `${path}.${name}`)]),
      ),
    }),
    ...(required?.length && { required }),
    ...(items && { items: structural(items, `${path}[]`) }),
    // Pruning already does what `additionalProperties: false` means, and a structural schema must not repeat it.
    ...(!properties &&
      typeof additionalProperties === 'object' && {
        additionalProperties: structural(additionalProperties, `${path}.*`),
      }),
  }
}
