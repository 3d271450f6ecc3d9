/** Compares a plan with NetBox: what to create, change and delete. Only what carries the tag of the site is changed. Pure. */
import { type Finding, finding } from '../errors/finding.ts'
import { type Entry, type EntryType, entryTypes, type NetBoxEntry } from './entries.ts'
import { foreignEntry } from './findings.ts'

export interface NetBoxChange {
  readonly change: 'create' | 'update' | 'delete'
  readonly type: EntryType
  readonly key: string
  /** Present for entries of NetBox. */
  readonly id?: number
  /** The fields to write: all of a new entry, those that differ of another one. */
  readonly fields: Entry['fields']
  /** The present values of the fields that differ. */
  readonly before?: Entry['fields']
}

export interface Comparison {
  /** In the order in which they can be written. */
  readonly changes: readonly NetBoxChange[]
  readonly findings: readonly Finding[]
}

export function compareEntries(planned: readonly Entry[], existing: readonly NetBoxEntry[]): Comparison {
  const findings: Finding[] = []
  const wanted = new Map(planned.map((entry) => [formatEntry(entry), entry]))
  // Of several entries with one key, one of ours counts before one of others.
  const known = new Map(
    existing.toSorted((a, b) => Number(a.isOurs) - Number(b.isOurs)).map((entry) => [formatEntry(entry), entry]),
  )
  const written = entryTypes.flatMap((type) =>
    planned
      .filter((entry) => entry.type === type)
      .flatMap((entry): readonly NetBoxChange[] => {
        const { key, fields } = entry
        const found = known.get(formatEntry(entry))
        if (!found) return [{ change: 'create', type, key, fields }]
        const differing = Object.keys(fields).filter((field) => fields[field] !== found.fields[field])
        if (differing.length === 0) return []
        if (found.isOurs) {
          const before = pick(found.fields, differing)
          return [{ change: 'update', type, key, id: found.id, fields: pick(fields, differing), before }]
        }
        const differs = differing
          .map(
            (field) =>
              `${field} is ${JSON.stringify(found.fields[field] ?? null)}, planned is ${JSON.stringify(fields[field])}`,
          )
          .join('; ')
        findings.push(finding(foreignEntry, { entry: formatEntry(entry), differs }))
        return []
      }),
  )
  const deleted = entryTypes
    .toReversed()
    .flatMap((type) =>
      existing
        .filter((entry) => entry.type === type && entry.isOurs && !wanted.has(formatEntry(entry)))
        .map(({ key, id, fields }): NetBoxChange => ({ change: 'delete', type, key, id, fields: {}, before: fields })),
    )
  return { changes: [...written, ...deleted], findings }
}

function pick(fields: Entry['fields'], names: readonly string[]): Entry['fields'] {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))
}

/** `prefixes 172.17.0.0/24`. */
export function formatEntry({ type, key }: Pick<Entry, 'type' | 'key'>): string {
  return `${type} ${key}`
}
