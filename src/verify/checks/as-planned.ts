/** Whether objects are on the cluster as they were rendered: what is missing, what differs. Pure. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { nameOf } from '../../api/raw-object.ts'
import { groupKindOf, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { plannedDiffers, plannedMissing } from '../../errors/verify.ts'
import { fieldDifferences } from '../fields.ts'
import { placeOf } from './check.ts'

const LONGEST = 120

export function desiredOf(
  desired: readonly KubeObject[],
  ...kinds: readonly GroupVersionKind[]
): readonly KubeObject[] {
  const wanted = new Set(kinds.map(groupKindOf))
  return desired.filter((object) => wanted.has(groupKindOf(object)))
}

/** `ignore` leaves out fields that another check answers for; `read` brings both sides into a comparable form. */
export function asPlanned(
  { cloud, live }: { readonly cloud: { readonly name: string }; readonly live: SnapshotIndex },
  objects: readonly KubeObject[],
  ignore: (path: string) => boolean = () => false,
  read: (object: KubeObject) => KubeObject = (object) => object,
): readonly Finding[] {
  return objects.flatMap((object) => {
    const { name, namespace } = object.metadata
    const found = live.get(groupKindOf(object), name, namespace)
    const what = nameOf(object)
    if (!found) return [finding(plannedMissing, { cloud: cloud.name, what }, { where: placeOf(object) })]
    return fieldDifferences(read(object), read(found))
      .filter(({ path }) => !ignore(path))
      .map(({ path, desired, live: has }) =>
        finding(
          plannedDiffers,
          { what, path, planned: shown(desired), live: has === undefined ? 'absent' : shown(has) },
          { where: placeOf(found, path) },
        ),
      )
  })
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
