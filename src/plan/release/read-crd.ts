/** Reads the kind, the version and the schema of `spec` out of a CustomResourceDefinition. Pure. */
import { createHash } from 'node:crypto'
import { isRecord } from '../../api/json.ts'
import type { Schema } from './schema-graph.ts'

export interface CrdSchema {
  readonly kind: string
  /** Of the stored version. */
  readonly apiVersion: string
  /** `sha256:…` of the whole schema. */
  readonly crd: string
  readonly spec: Schema
}

export type CrdReading =
  | ({ readonly result: 'read' } & CrdSchema)
  | { readonly result: 'refused'; readonly reason: string; readonly kind?: string }

/** `crd` is what a YAML or JSON reader made of the file or of the API server's answer. */
export function readCrd(crd: unknown): CrdReading {
  if (!isRecord(crd) || crd['kind'] !== 'CustomResourceDefinition')
    return { result: 'refused', reason: 'it is not a CustomResourceDefinition' }
  const kind = recordAt(crd, 'spec', 'names')?.['kind']
  if (typeof kind !== 'string') return { result: 'refused', reason: 'it defines nothing' }
  const versions = recordAt(crd, 'spec')?.['versions']
  const stored = Array.isArray(versions)
    ? versions.find((version: unknown) => isRecord(version) && version['storage'] === true)
    : undefined
  const schema = recordAt(stored, 'schema', 'openAPIV3Schema') as Schema | undefined
  const spec = schema?.properties?.['spec']
  if (!schema || !spec?.properties)
    return { result: 'refused', reason: 'its stored version has no schema with a spec', kind }
  const group = recordAt(crd, 'spec')?.['group']
  const version = isRecord(stored) ? stored['name'] : undefined
  const apiVersion = [group, version].filter((part) => typeof part === 'string').join('/')
  return { result: 'read', kind, apiVersion, crd: hashSchema(schema), spec }
}

/**
 * A schema's identity: equal for the file and for what an API server answers, whatever the order of keys.
 * Descriptions do not count: a corrected sentence is no other CRD.
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
