/** Compares rendered objects with live objects. Pure. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { fieldDifferences } from '../field-differences.ts'
import { plannedDiffers, plannedMissing } from '../findings/check-findings.ts'
import { locateObject } from './check-definition.ts'

const MAX_LENGTH = 120

export function filterByKind(
  desired: readonly KubeObject[],
  ...kinds: readonly GroupVersionKind[]
): readonly KubeObject[] {
  const groupKinds = new Set(kinds.map(formatGroupKind))
  return desired.filter((object) => groupKinds.has(formatGroupKind(object)))
}

/** `ignore` skips fields that another check covers; `normalize` makes both sides comparable. */
export function compareWithPlan(
  { cloud, live }: { readonly cloud: { readonly name: string }; readonly live: SnapshotIndex },
  objects: readonly KubeObject[],
  ignore: (path: string) => boolean = () => false,
  normalize: (object: KubeObject) => KubeObject = (object) => object,
): readonly Finding[] {
  return objects.flatMap((object) => {
    const { name, namespace } = object.metadata
    const found = live.get(formatGroupKind(object), name, namespace)
    const what = formatObjectName(object)
    if (!found) return [finding(plannedMissing, { cloud: cloud.name, what }, { where: locateObject(object) })]
    return fieldDifferences(normalize(object), normalize(found))
      .filter(({ path }) => !ignore(path))
      .map(({ path, desired, live: has }) =>
        finding(
          plannedDiffers,
          { what, path, planned: formatValue(desired), live: formatValue(has) },
          { where: locateObject(found, path) },
        ),
      )
  })
}

export function formatValue(value: unknown): string {
  if (value === undefined) return 'absent'
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value)
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text
}
