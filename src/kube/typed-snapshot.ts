/** Leaves out of a snapshot what has another type than its kind says: code over typed objects need not expect it. */
import { type KindDefinition, type StructuralSchema, structuralSchema } from '../api/crd.ts'
import { dataSchema, dropWrongFields, objectSchema } from '../api/field-types.ts'
import type { KubeObject } from '../api/object.ts'
import { formatObjectName } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { malformedObject } from './findings/api-server.ts'
import type { SnapshotResult } from './snapshot.ts'

const untyped = objectSchema()
const builtIn: Readonly<Record<string, StructuralSchema>> = { ConfigMap: dataSchema, Secret: dataSchema }

/** `definitions` are the kinds whose fields are checked; of every other kind only the metadata is. */
export function keepTypedFields(
  { snapshot, findings }: SnapshotResult,
  definitions: readonly KindDefinition[],
): SnapshotResult {
  const schemaOf = createSchemas(definitions)
  const objects: KubeObject[] = []
  const malformed: Finding[] = []
  for (const object of snapshot.objects) {
    const { object: kept, wrong } = dropWrongFields(object, schemaOf(formatGroupKind(object)))
    if (kept) objects.push(kept)
    const [first] = wrong
    if (!first) continue
    const facts = { ...first, object: formatObjectName(object), more: wrong.length - 1, used: kept !== undefined }
    malformed.push(finding(malformedObject, facts))
  }
  return { snapshot: { ...snapshot, objects }, findings: [...findings, ...malformed] }
}

/** Schemas are converted when the first object of a kind is met. */
function createSchemas(definitions: readonly KindDefinition[]): (groupKind: string) => StructuralSchema {
  const known = new Map<string, StructuralSchema>()
  const build = (groupKind: string): StructuralSchema => {
    const definition = definitions.find(({ group, kind }) => `${group}/${kind}` === groupKind)
    if (!definition) return builtIn[groupKind] ?? untyped
    const { spec, status } = definition
    return objectSchema({ spec: structuralSchema(spec), ...(status && { status: structuralSchema(status) }) })
  }
  return (groupKind) => {
    const schema = known.get(groupKind) ?? build(groupKind)
    known.set(groupKind, schema)
    return schema
  }
}
