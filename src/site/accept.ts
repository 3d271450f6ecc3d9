/**
 * Judges findings by what the site file accepts: an accepted finding becomes a warning that carries the reason.
 *
 * Pure, and the last step: the findings come from reading, planning, rendering or checking.
 */
import { codes } from '../errors/codes.ts'
import { type FileLocation, type Finding, finding, isFileLocation } from '../errors/finding.ts'
import { acceptUnused } from './findings.ts'
import type { Acceptance, Path } from './site.ts'

interface FileAcceptance {
  readonly code: string
  readonly where?: string | undefined
  readonly reason: string
}

/** `spec.accept` of a file, each entry with its path. */
export function parseAcceptances(entries: readonly FileAcceptance[] = []): readonly Acceptance[] {
  return entries.map(({ code, where, reason }, index) => ({ code, where, reason, path: ['spec', 'accept', index] }))
}

export interface AcceptSettings {
  readonly locate: (path: Path) => FileLocation
  /** Whether the sources of the findings look for this code: only then is an entry without a finding left over. */
  readonly judges: (code: string) => boolean
}

export function judge(
  findings: readonly Finding[],
  accept: readonly Acceptance[],
  settings: AcceptSettings,
): readonly Finding[] {
  return [...applyAcceptances(findings, accept), ...unusedAcceptances(findings, accept, settings)]
}

/** The findings; those that the site file accepts are warnings. */
export function applyAcceptances(findings: readonly Finding[], accept: readonly Acceptance[]): readonly Finding[] {
  if (accept.length === 0) return findings
  return findings.map((found) => {
    const entry = accept.find((candidate) => covers(candidate, found))
    if (!entry) return found
    return { ...found, severity: 'warning' as const, message: `${found.message} (accepted: ${entry.reason})` }
  })
}

/** A finding for each entry that covers none of the findings: its problem is gone. */
export function unusedAcceptances(
  findings: readonly Finding[],
  accept: readonly Acceptance[],
  { locate, judges }: AcceptSettings,
): readonly Finding[] {
  const used = new Set(findings.flatMap((found) => accept.find((entry) => covers(entry, found)) ?? []))
  return accept
    .filter((entry) => !used.has(entry) && codes.has(entry.code) && judges(entry.code))
    .map(({ code, where, path }) => finding(acceptUnused, { code, where }, { where: locate(path) }))
}

/** `where` is a word of the finding: an owner such as `rhoso1/ctlplane`, an address, a location. */
function covers({ code, where }: Acceptance, found: Finding): boolean {
  if (found.severity === 'info' || code !== found.code) return false
  if (where === undefined) return true
  const word = new RegExp(`(?<![\\w/.:-])${where.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`)
  return [found.message, formatLocation(found), ...(found.owners ?? [])].some((text) => word.test(text))
}

function formatLocation({ where }: Finding): string {
  if (!where) return ''
  if (isFileLocation(where)) return `${where.file}:${where.line}:${where.column}`
  return `${where.kind} ${where.namespace ? `${where.namespace}/` : ''}${where.name} ${where.path ?? ''}`
}

/** A template is checked once for each cloud; its problems are reported once. */
export function withoutDuplicates(findings: readonly Finding[]): readonly Finding[] {
  const byContent = new Map(findings.map((found) => [JSON.stringify([found.code, found.message, found.where]), found]))
  return [...byContent.values()]
}
