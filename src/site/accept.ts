/**
 * What the site's owner has accepted: findings with that code become warnings that carry the reason.
 *
 * Pure. Whoever reports findings of a site passes them through here last.
 */
import { codes } from '../errors/codes.ts'
import { type FileLocation, type Finding, finding, isFileLocation } from '../errors/finding.ts'
import { acceptUnused } from './findings.ts'
import type { Acceptance, Path } from './site.ts'

interface WrittenAcceptance {
  readonly code: string
  readonly where?: string | undefined
  readonly reason: string
}

/** The list of a file, each entry with its place. */
export function parseAcceptances(written: readonly WrittenAcceptance[] = []): readonly Acceptance[] {
  return written.map(({ code, where, reason }, at) => ({ code, where, reason, path: ['spec', 'accept', at] }))
}

export interface AcceptSettings {
  readonly locate: (path: Path) => FileLocation
  /** Which codes this command looks for: an entry for another command's findings is not left over. */
  readonly judges: (code: string) => boolean
}

export function judge(
  findings: readonly Finding[],
  accept: readonly Acceptance[],
  settings: AcceptSettings,
): readonly Finding[] {
  return [...applyAcceptances(findings, accept), ...unusedAcceptances(findings, accept, settings)]
}

/** The findings, with those that the site's owner has accepted as warnings. */
export function applyAcceptances(findings: readonly Finding[], accept: readonly Acceptance[]): readonly Finding[] {
  if (accept.length === 0) return findings
  return findings.map((finding) => {
    const entry = accept.find((candidate) => covers(candidate, finding))
    if (!entry) return finding
    return { ...finding, severity: 'warning' as const, message: `${finding.message} (accepted: ${entry.reason})` }
  })
}

/** Entries that cover none of the findings: what they speak of is over. */
export function unusedAcceptances(
  findings: readonly Finding[],
  accept: readonly Acceptance[],
  { locate, judges }: AcceptSettings,
): readonly Finding[] {
  const used = new Set(findings.flatMap((finding) => accept.find((entry) => covers(entry, finding)) ?? []))
  return accept
    .filter((entry) => !used.has(entry) && codes.has(entry.code) && judges(entry.code))
    .map(({ code, where, path }) => finding(acceptUnused, { code, where }, { where: locate(path) }))
}

function covers(entry: Acceptance, one: Finding): boolean {
  return one.severity !== 'info' && matches(entry, one)
}

/** `where` is a word of the finding: an owner such as `rhoso1/ctlplane`, an address, a place. */
function matches({ code, where }: Acceptance, one: Finding): boolean {
  if (code !== one.code) return false
  if (where === undefined) return true
  const word = new RegExp(`(?<![\\w/.:-])${where.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`)
  return [one.message, placeOf(one), ...(one.owners ?? [])].some((text) => word.test(text))
}

function placeOf({ where }: Finding): string {
  if (!where) return ''
  if (isFileLocation(where)) return `${where.file}:${where.line}:${where.column}`
  return `${where.kind} ${where.namespace ? `${where.namespace}/` : ''}${where.name} ${where.path ?? ''}`
}
