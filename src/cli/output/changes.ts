/** Formats changes: one line per object with its risk, and the fields that differ below. */
import pc from 'picocolors'
import { objectKey } from '../../api/object.ts'
import { changedDocuments, type DocumentChange, type SiteChanges } from '../../deploy/site-changes.ts'
import type { FieldDifference } from '../../verify/field-differences.ts'
import { oneLine, truncate } from './text.ts'

export interface ChangesFormat {
  readonly columns: number
  readonly colour: boolean
  /** Objects that are only created are counted, not listed. */
  readonly brief: boolean
}

const signs = { create: '+', update: '~', 'take over': '=', unchanged: ' ' } as const

export function formatChanges(changes: SiteChanges, format: ChangesFormat): string {
  const { bold, yellow, dim } = pc.createColors(format.colour)
  const changed = changedDocuments(changes)
  const clouds = [...new Set(changed.map(({ cloud }) => cloud))]
  const lines = clouds.flatMap((cloud) => {
    const documents = changed.filter((document) => document.cloud === cloud)
    return [
      bold(`${cloud ?? 'shared'}: ${formatCounts(documents)}`),
      ...documents.flatMap((document) => formatDocument(document, format)),
    ]
  })
  const settings = changes.settings.map(({ what }) => `${yellow('!')} cluster setting: ${what}`)
  const leftovers = changes.leftovers.map(
    ({ ref }) => `${dim('-')} ${ref.kind} ${objectKey(ref)} ${dim('is no longer in the site: --prune removes it')}`,
  )
  const all = [...lines, ...settings, ...leftovers]
  return all.length === 0 ? 'nothing would change\n' : `${all.join('\n')}\n`
}

function formatCounts(changes: readonly DocumentChange[]): string {
  const labels = { create: 'to create', update: 'to change', 'take over': 'to take over' } as const
  return (['create', 'update', 'take over'] as const)
    .map((kind) => ({ kind, count: changes.filter(({ change }) => change === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${labels[kind]}`)
    .join(', ')
}

function formatDocument(change: DocumentChange, format: ChangesFormat): readonly string[] {
  const { green, yellow, cyan, red, dim } = pc.createColors(format.colour)
  const { desired, risk } = change
  if (format.brief && change.change === 'create' && risk === 'safe') return []
  const paint = { create: green, update: yellow, 'take over': cyan, unchanged: dim }[change.change]
  const warning = risk === 'safe' ? '' : red(`  [${risk}]`)
  const head = `  ${paint(signs[change.change])} ${desired.kind} ${objectKey(desired.metadata)}${warning}`
  const owners = [...new Set(change.foreign.flatMap(({ managers }) => managers))]
  const foreign =
    change.change === 'take over' && owners.length > 0 ? [`      ${dim(`managed by ${owners.join(', ')}`)}`] : []
  return [
    head,
    ...change.fields
      .slice(0, SHOWN)
      .flatMap((field) => formatField(field, format.columns - 7))
      .map((line) => `      ${line}`),
    ...(change.fields.length > SHOWN
      ? [`      ${dim(`and ${change.fields.length - SHOWN} more: -o json has them all`)}`]
      : []),
    ...foreign,
  ]
}

/** Fields listed per object; the rest is counted. */
const SHOWN = 12

/** One line if it fits; otherwise removed and added values on their own lines, of a list only those that differ. */
function formatField({ path, desired, live }: FieldDifference, width: number): readonly string[] {
  const format = (value: unknown): string => (value === undefined ? '(none)' : JSON.stringify(value))
  const line = oneLine(`${path}: ${format(live)} -> ${format(desired)}`)
  if (line.length <= width) return [line]
  const formatItem = (sign: string) => (value: string) => truncate(`  ${sign} ${oneLine(value)}`, width)
  const before = formatItems(live)
  const after = formatItems(desired)
  return [
    truncate(`${path}:`, width),
    ...before.filter((item) => !after.includes(item)).map(formatItem('-')),
    ...after.filter((item) => !before.includes(item)).map(formatItem('+')),
  ]
}

function formatItems(value: unknown): readonly string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [JSON.stringify(value)]
}

/** The value that `-o json` prints. */
export function changesJson(changes: SiteChanges): unknown {
  return {
    changes: changedDocuments(changes).map(({ change, desired, risk, fields, foreign, stage, cloud }) => ({
      change,
      risk,
      stage,
      ...(cloud !== undefined && { cloud }),
      apiVersion: desired.apiVersion,
      kind: desired.kind,
      ...(desired.metadata.namespace !== undefined && { namespace: desired.metadata.namespace }),
      name: desired.metadata.name,
      fields: fields.map(({ path, desired: to, live: from }) => ({
        path,
        ...(from !== undefined && { from }),
        to,
      })),
      foreign,
    })),
    settings: changes.settings.map(({ what, object }) => ({ what, object })),
    leftovers: changes.leftovers,
    findings: changes.findings,
  }
}
