/**
 * From files to a plan: what `plan`, `render`, `up` and everybody else do first. Reads the site file, its lock and
 * the slot table, plans, and knows how to write the lock back.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { Failure } from '../errors/failure.ts'
import { type FileLocation, type Finding, finding, hasErrors } from '../errors/finding.ts'
import type { Change } from '../plan/changes.ts'
import { lockOutdated } from '../plan/findings/lock.ts'
import type { LedgerEntry } from '../plan/ledger.ts'
import { emptyLock, type Lock, lockedSlots } from '../plan/lock.ts'
import { type Planned, planSite } from '../plan/planner.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import type { Path, Site } from '../site/site.ts'
import { readInput, writeOutput } from './files.ts'
import type { Io } from './io.ts'

type Locate = (path: Path) => FileLocation

export interface PlanningOptions {
  readonly file: string
  /** The lock's file, if it is not beside the site file. */
  readonly lock?: string
  /** Fail instead of adding decisions. */
  readonly locked?: boolean
  /** Another slot table than the lock's: `live`, `today`, `2023`, or a file. */
  readonly crd?: string
  readonly allowMove?: readonly string[]
  readonly forget?: readonly string[]
}

export interface Planning extends Planned {
  readonly before: Lock
  /** Where the lock is written; undefined for a site from stdin. */
  readonly lockFile: string | undefined
  /** Whether the lock would be written with another content. */
  readonly stale: boolean
  /** Everything that is wrong, reading the file included. */
  readonly findings: readonly Finding[]
  /** Where a path of the site file stands. */
  readonly locate: Locate
}

/** The options that every command with a site file has. */
export function withPlanningOptions(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the site file, - for stdin', 'site.yaml')
    .option('--lock <file>', 'the lock, if it is not beside the site file')
    .option('--locked', 'fail if the lock lacks a decision, instead of adding it')
}

/** What else a command may bring to the planner. */
export interface PlanningParts {
  /** The slot table of a live cluster, when `--crd live` asks for it. */
  readonly liveSlots?: () => Promise<SlotTable>
  /** What the cluster really holds, once the site is known. */
  readonly live?: (site: Site) => Promise<readonly LedgerEntry[]>
}

export async function planFromFiles(options: PlanningOptions, io: Io, parts: PlanningParts = {}): Promise<Planning> {
  const { readSite } = await import('../site/read.ts')
  const reading = readSite(await readInput(options.file, io, 'stackloom init'), options.file)
  const { site, locate } = reading
  if (!site) throw new Failure(reading.findings, 2)
  const lockFile = lockFileOf(options)
  const before = await readLockFile(lockFile, site.name, io)
  const { lintDocuments } = await import('../render/lints.ts')
  const { findCrdFields } = await import('../plan/slots/built-in-crds.ts')
  const planned = planSite({
    site,
    lock: before,
    slots: await slotsFor(options, before, io, parts),
    locate,
    findings: reading.findings,
    documentFindings: (plan) => lintDocuments(plan, findCrdFields(plan.slots), locate),
    allowMove: options.allowMove ?? [],
    forget: options.forget ?? [],
    ...(parts.live && { live: await parts.live(site) }),
  })
  const stale = JSON.stringify(planned.lock) !== JSON.stringify(before)
  const missing = options.locked && stale ? [lockedFinding(planned)] : []
  const findings = [...planned.plan.findings, ...missing]
  return { ...planned, plan: { ...planned.plan, findings }, before, lockFile, stale, findings, locate }
}

/** `site.yaml` has `site.lock.yaml` beside it; a site from stdin has none unless it is named. */
function lockFileOf({ file, lock }: Pick<PlanningOptions, 'file' | 'lock'>): string | undefined {
  if (lock !== undefined) return lock
  if (file === '-') return undefined
  const { dir, name, ext } = path.parse(file)
  return path.join(dir, `${name}.lock${ext || '.yaml'}`)
}

async function readLockFile(file: string | undefined, site: string, io: Io): Promise<Lock> {
  if (file === undefined || !existsSync(path.resolve(io.cwd, file))) return emptyLock(site)
  const { readLock } = await import('../plan/lock-file.ts')
  const { lock, findings } = readLock(Buffer.from(await readInput(file, io)).toString('utf8'), file)
  if (!lock) throw new Failure(findings, 2)
  return lock
}

async function slotsFor(
  { crd }: PlanningOptions,
  before: Lock,
  io: Io,
  { liveSlots }: PlanningParts,
): Promise<SlotTable> {
  const { slotTableFrom } = await import('./slot-source.ts')
  const live = liveSlots ?? (() => Promise.reject(new TypeError('this command has no cluster')))
  if (crd === undefined) return lockedSlots(before) ?? slotTableFrom('today', io, live)
  return slotTableFrom(crd, io, live)
}

function lockedFinding({ changes }: Planned): Finding {
  const [first] = changes
  const words = first ? `${subjectOf(first)} ${first.to ?? ''}`.trim() : 'the slot table'
  return finding(lockOutdated, { count: Math.max(changes.length, 1), first: words })
}

/** Writes the new decisions, if there are any. Nothing is written for a plan with errors. */
export async function saveLock(planning: Planning, io: Io): Promise<boolean> {
  const { lockFile, stale, lock, findings } = planning
  if (lockFile === undefined || !stale || hasErrors(findings)) return false
  const { writeLock } = await import('../plan/lock-file.ts')
  await writeOutput(lockFile, writeLock(lock), io, { replace: true })
  io.stderr(`${lockFile} is written; ${summaryOf(planning)}\n`)
  return true
}

/** `new: rhoso1, rhoso2; changed: rhoso1/storage vlan`. */
function summaryOf({ changes }: Planning): string {
  const kinds: readonly (readonly [string, readonly Change[]])[] = [
    ['new', changes.filter(({ from }) => from === undefined)],
    ['changed', changes.filter(({ from, to }) => from !== undefined && to !== undefined)],
    ['gone', changes.filter(({ to }) => to === undefined)],
  ]
  const some = kinds.filter(([, own]) => own.length > 0)
  return some.map(([kind, own]) => `${kind}: ${firstOf(own.map(subjectOf))}`).join('; ') || 'the slot table changed'
}

function subjectOf({ cloud, network, what }: Change): string {
  const owner = network === undefined ? cloud : `${cloud}/${network}`
  return what === 'cloud' || what === 'network' ? owner : `${owner} ${what}`
}

function firstOf(names: readonly string[]): string {
  const more = names.length - 3
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** For commands that cannot go on: the plan's errors, as a failure. */
export function failOnErrors({ findings }: Planning): void {
  if (hasErrors(findings)) throw new Failure(findings, 1)
}
