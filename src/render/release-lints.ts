/** Reports how documents differ from the CRDs of the target release. Pure. */
import { type Finding, finding } from '../errors/finding.ts'
import type { Plan } from '../plan/plan.ts'
import { matchRelease } from '../plan/release/compare.ts'
import { type FieldPath, findUnknownFields } from '../plan/release/fields.ts'
import type { KnownRelease } from '../plan/release/releases.ts'
import type { LocatePath } from '../plan/slots/cloud-services.ts'
import { nodeSetRawFields, rawSources } from '../plan/slots/raw-fields.ts'
import { slotTable } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { fieldLeftOut, requiredFieldMissing, slotMoved } from './findings.ts'
import { fitToRelease } from './release-fields.ts'
import { templateDocuments } from './render.ts'

/** A known release is fitted silently; for other CRDs every difference that matters is reported. */
export function lintRelease(plan: Plan, locate: LocatePath): readonly Finding[] {
  const { release } = plan.slots
  if (Object.keys(release.kinds).length === 0) return []
  if (release.name !== undefined) {
    // Only raw fields can remove what a known release requires.
    const clouds = plan.clouds.filter(
      ({ from }) => from.file.overrides !== undefined || [...rawSources(from), ...nodeSetRawFields(from)].length > 0,
    )
    return clouds.length === 0 ? [] : documentFindings({ ...plan, clouds }, undefined, locate)
  }
  const nearest = matchRelease(release)?.release
  return [
    ...(nearest ? slotFindings(plan.slots, nearest, locate) : []),
    ...documentFindings(plan, nearest?.name ?? 'a known release', locate),
  ]
}

function slotFindings(table: SlotTable, nearest: KnownRelease, locate: LocatePath): readonly Finding[] {
  const listPaths = (slots: SlotTable | undefined): readonly string[] =>
    (slots?.slots ?? []).map(({ path }) => path.join('.'))
  const [now, before] = [listPaths(table), listPaths(slotTable(nearest))]
  const where = locate(['spec', 'cluster'])
  const report = (path: string, change: 'gone' | 'new'): Finding =>
    finding(slotMoved, { path, change, nearest: nearest.name }, { where })
  return [
    ...before.filter((path) => !now.includes(path)).map((path) => report(path, 'gone')),
    ...now.filter((path) => !before.includes(path)).map((path) => report(path, 'new')),
  ]
}

/** `nearest` is absent where fields may be left out silently. A field of several clouds is reported once. */
function documentFindings(plan: Plan, nearest: string | undefined, locate: LocatePath): readonly Finding[] {
  const { release } = plan.slots
  const clouds = new Map(plan.clouds.map((cloud) => [cloud.name, cloud]))
  const found = new Map<string, Finding>()
  for (const { object, cloud: name } of templateDocuments(plan)) {
    const cloud = clouds.get(name ?? '')
    const { kind } = object
    const { dropped, missing } = fitToRelease(object, release, cloud)
    const where = locate(cloud?.from.path ?? ['spec', 'cluster'])
    const raw = cloud ? unknownRawFields(plan, kind, cloud) : new Set<string>()
    for (const path of nearest === undefined ? [] : dropped) {
      const field = formatField(path)
      if (!raw.has(field))
        found.set(`${kind} ${field}`, finding(fieldLeftOut, { kind, field, nearest: nearest ?? '' }, { where }))
    }
    for (const path of missing) {
      const field = formatField(path)
      const facts = { cloud: cloud?.name ?? 'the cluster', kind, field }
      found.set(`${name} ${kind} ${field}`, finding(requiredFieldMissing, facts, { where }))
    }
  }
  return [...found.values()]
}

/** What the user wrote has findings of its own. */
function unknownRawFields({ slots }: Plan, kind: string, cloud: Plan['clouds'][number]): ReadonlySet<string> {
  const schema = slots.release.kinds[kind]?.spec
  if (!schema || kind !== 'OpenStackControlPlane') return new Set()
  const unknown = rawSources(cloud.from).flatMap(({ value }) => findUnknownFields(value, schema))
  return new Set(unknown.map(({ path }) => formatField(path)))
}

function formatField(path: FieldPath): string {
  return ['spec', ...path].join('.')
}
