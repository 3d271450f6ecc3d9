/** What would change, for people: one line per object, the fields that differ below, and the risk where there is one. */
import pc from 'picocolors'
import { objectKey } from '../../api/object.ts'
import type { DocumentChange, SiteChanges } from '../../deploy/site-changes.ts'
import { changedDocuments } from '../../deploy/site-changes.ts'
import type { FieldDifference } from '../../verify/field-differences.ts'
import { oneLine, truncate } from './text.ts'

export interface ChangesFormat {
  readonly columns: number
  readonly colour: boolean
  /** Objects that are only created are counted, not listed. */
  readonly brief: boolean
}

const signs = { create: '+', update: '~', 'take over': '=', unchanged: ' ' } as const

export function formatChanges(changes: SiteChanges, look: ChangesFormat): string {
  const { bold, yellow, dim } = pc.createColors(look.colour)
  const found = changedDocuments(changes)
  const groups = [...new Set(found.map(({ cloud }) => cloud))]
  const lines = groups.flatMap((cloud) => {
    const own = found.filter((documentChange) => documentChange.cloud === cloud)
    return [
      bold(`${cloud ?? 'shared'}: ${countsOf(own)}`),
      ...own.flatMap((documentChange) => linesOf(documentChange, look)),
    ]
  })
  const settings = changes.settings.map(({ what }) => `${yellow('!')} cluster setting: ${what}`)
  const left = changes.leftovers.map(
    ({ ref }) => `${dim('-')} ${ref.kind} ${objectKey(ref)} ${dim('is no longer in the site: --prune removes it')}`,
  )
  const all = [...lines, ...settings, ...left]
  return all.length === 0 ? 'nothing would change\n' : `${all.join('\n')}\n`
}

function countsOf(changes: readonly DocumentChange[]): string {
  const words = { create: 'to create', update: 'to change', 'take over': 'to take over' } as const
  return (['create', 'update', 'take over'] as const)
    .map((kind) => ({ kind, many: changes.filter(({ change }) => change === kind).length }))
    .filter(({ many }) => many > 0)
    .map(({ kind, many }) => `${many} ${words[kind]}`)
    .join(', ')
}

function linesOf(change: DocumentChange, look: ChangesFormat): readonly string[] {
  const { green, yellow, cyan, red, dim } = pc.createColors(look.colour)
  const { desired, risk } = change
  if (look.brief && change.change === 'create' && risk === 'safe') return []
  const paint = { create: green, update: yellow, 'take over': cyan, unchanged: dim }[change.change]
  const warning = risk === 'safe' ? '' : red(`  [${risk}]`)
  const head = `  ${paint(signs[change.change])} ${desired.kind} ${objectKey(desired.metadata)}${warning}`
  const owners = [...new Set(change.foreign.flatMap(({ managers }) => managers))]
  const foreign =
    change.change === 'take over' && owners.length > 0 ? [`      ${dim(`so far of ${owners.join(', ')}`)}`] : []
  return [
    head,
    ...change.fields
      .slice(0, SHOWN)
      .flatMap((field) => fieldLines(field, look.columns - 7))
      .map((line) => `      ${line}`),
    ...(change.fields.length > SHOWN
      ? [`      ${dim(`and ${change.fields.length - SHOWN} more: -o json has them all`)}`]
      : []),
    ...foreign,
  ]
}

/** Fields of one object: more than these nobody reads. */
const SHOWN = 12

/** One line where it fits; otherwise what goes and what comes on lines of their own, of a list only what differs. */
function fieldLines({ path, desired, live }: FieldDifference, width: number): readonly string[] {
  const before = live === undefined ? '(none)' : JSON.stringify(live)
  const whole = oneLine(`${path}: ${before} -> ${JSON.stringify(desired)}`)
  if (whole.length <= width) return [whole]
  const cut = (sign: string) => (value: string) => truncate(`  ${sign} ${oneLine(value)}`, width)
  const goes = itemsOf(live)
  const comes = itemsOf(desired)
  return [
    truncate(`${path}:`, width),
    ...goes.filter((goe) => !comes.includes(goe)).map(cut('-')),
    ...comes.filter((come) => !goes.includes(come)).map(cut('+')),
  ]
}

function itemsOf(value: unknown): readonly string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map((one) => JSON.stringify(one)) : [JSON.stringify(value)]
}

/** The same for programs. */
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
