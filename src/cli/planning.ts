/**
 * Plans from files: reads the site file, its lock and the slot table, then plans, checks the documents and judges the
 * findings. The first step of every command with a site file; also writes the lock.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { Failure, failure } from '../errors/failure.ts'
import { type FileLocation, type Finding, finding, hasErrors } from '../errors/finding.ts'
import { type Change, diffLocks } from '../plan/changes.ts'
import { lockChanged, lockOutdated } from '../plan/findings/lock.ts'
import type { LedgerEntry } from '../plan/ledger.ts'
import { emptyLock, type Lock, lockedSlots } from '../plan/lock.ts'
import type { Plan } from '../plan/plan.ts'
import { planCodes, planSite } from '../plan/planner.ts'
import { findRelease } from '../plan/release/releases.ts'
import { builtInTable, findBuiltInTable } from '../plan/slots/built-in-crds.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { readWrittenLock, writeLock } from '../plan/written-lock.ts'
import * as renderProblems from '../render/findings.ts'
import { judge } from '../site/accept.ts'
import { readValidSite } from '../site/read-valid.ts'
import type { Path, Site } from '../site/site.ts'
import type { SiteReading } from '../site/site-reading.ts'
import { readInput, replaceOutput } from './files.ts'
import type { Io } from './io.ts'
import { siteFileOption } from './site-file.ts'

export interface PlanningOptions {
  readonly file: string
  /** The lock's file, if it is not beside the site file. */
  readonly lock?: string
  /** Fail instead of adding decisions. */
  readonly locked?: boolean
  /** Another release than the site's or the lock's: `live`, a release, a file or folder with CRDs. */
  readonly crd?: string
  readonly allowMove?: readonly string[]
  readonly forget?: readonly string[]
}

export interface Planning {
  readonly plan: Plan
  /** The lock that was read. */
  readonly before: Lock
  /** The lock to write. */
  readonly lock: Lock
  /** From the lock that was read to the lock to write. */
  readonly changes: readonly Change[]
  /** The text of the lock that was read; undefined when there was no file. */
  readonly lockText: string | undefined
  /** Where the lock is written; undefined for a site from stdin. */
  readonly lockFile: string | undefined
  /** Whether the two locks differ. */
  readonly stale: boolean
  /** Everything that reading, planning and rendering found, judged. */
  readonly findings: readonly Finding[]
  readonly locate: (path: Path) => FileLocation
}

/** The codes that checks of the rendered objects report. */
const renderCodes = Object.values(renderProblems).map(({ code }) => code)

/** The options of every command with a site file. */
export function withPlanningOptions(command: Command): Command {
  return command
    .addOption(siteFileOption('site file, - for stdin'))
    .option('--lock <file>', 'lock file, if it is not beside the site file')
    .option('--locked', 'fail if the lock lacks a decision, instead of adding it')
}

/** What a command may add to the planning. */
export interface PlanningParts {
  /** The site file, where it was read before or is changed. */
  readonly text?: string | Uint8Array
  /** The slot table of a live cluster, for `--crd live`. */
  readonly liveSlots?: () => Promise<SlotTable>
  /** The known release that the cluster has, for a site and a lock that name none. */
  readonly clusterRelease?: () => Promise<string | undefined>
  /** What the cluster holds. */
  readonly live?: (site: Site) => Promise<readonly LedgerEntry[]>
}

export async function planFromFiles(options: PlanningOptions, io: Io, parts: PlanningParts = {}): Promise<Planning> {
  const reading = await readSite(parts.text ?? (await readInput(options.file, io, 'stackloom init')), options.file)
  const { site, locate } = reading
  if (!site) throw new Failure(reading.findings, 2)
  const lockFile = findLockFile(options)
  const { lock: before, text: lockText } = await readLockFile(lockFile, site.name, io)
  const planned = planSite({
    site,
    lock: before,
    slots: await readSlots(options, site, before, io, parts),
    locate,
    findings: reading.findings,
    allowMove: options.allowMove ?? [],
    forget: options.forget ?? [],
    ...(parts.live && { live: await parts.live(site) }),
  })
  const { plan, lock } = planned
  const changes = diffLocks(before, lock)
  const stale = JSON.stringify(lock) !== JSON.stringify(before)
  const found = [...planned.findings, ...(await checkDocuments(plan, locate))]
  // A plan with errors has no documents, so nothing is known of acceptances for them.
  const codes = hasErrors(plan.findings) ? planCodes : new Set([...planCodes, ...renderCodes])
  const judged = judge(found, site.accept, { locate, judges: (code) => codes.has(code) })
  const findings = options.locked && stale ? [...judged, outdatedFinding(changes, plan, locate)] : judged
  return { plan: { ...plan, findings }, before, lock, changes, lockText, lockFile, stale, findings, locate }
}

async function readSite(text: string | Uint8Array, file: string): Promise<SiteReading> {
  return readValidSite(text, file) ?? (await import('../site/read.ts')).readSite(text, file)
}

/** For commands on a cluster: a site file in the current folder is not used implicitly, the cluster may be another one. */
export async function planNamedFile(
  { file, lock }: { readonly file?: string; readonly lock?: string },
  io: Io,
): Promise<Plan | undefined> {
  if (file === undefined) return undefined
  const planning = await planFromFiles({ file, ...(lock !== undefined && { lock }) }, io)
  failOnErrors(planning)
  return planning.plan
}

async function checkDocuments(plan: Plan, locate: Planning['locate']): Promise<readonly Finding[]> {
  const { lintDocuments } = await import('../render/lints.ts')
  return lintDocuments(plan, locate)
}

/** `site.yaml` has `site.lock.yaml` beside it; a site from stdin has none unless `--lock` names one. */
export function findLockFile({ file, lock }: Pick<PlanningOptions, 'file' | 'lock'>): string | undefined {
  if (lock !== undefined) return lock
  if (file === '-') return undefined
  const { dir, name, ext } = path.parse(file)
  return path.join(dir, `${name}.lock${ext || '.yaml'}`)
}

interface LockFile {
  readonly lock: Lock
  readonly text: string | undefined
}

async function readLockFile(file: string | undefined, site: string, io: Io): Promise<LockFile> {
  if (file === undefined || !existsSync(path.resolve(io.cwd, file))) return { lock: emptyLock(site), text: undefined }
  const text = Buffer.from(await readInput(file, io)).toString('utf8')
  const written = readWrittenLock(text)
  if (written) return { lock: written, text }
  const { readLock } = await import('../plan/lock-file.ts')
  const { lock, findings } = readLock(text, file)
  if (!lock) throw new Failure(findings, 2)
  return { lock, text }
}

/** The release of the command line, of the site file, of the lock, of the cluster, or the default one. */
async function readSlots(
  { crd }: PlanningOptions,
  { cluster }: Site,
  before: Lock,
  io: Io,
  { liveSlots, clusterRelease }: PlanningParts,
): Promise<SlotTable> {
  if (crd !== undefined) {
    const { slotTableFrom } = await import('./slot-source.ts')
    return slotTableFrom(crd, io, liveSlots ?? (() => Promise.reject(new TypeError('this command has no cluster'))))
  }
  const { release } = cluster
  // The planner reports a name that is not known.
  if (release !== undefined) return builtInTable(findRelease(release)?.name)
  return findBuiltInTable(before.crd) ?? lockedSlots(before) ?? builtInTable(await clusterRelease?.())
}

/** At the first cloud that the lock lacks something of: services for reviews show a finding at the lines that changed. */
function outdatedFinding(changes: readonly Change[], { clouds }: Plan, locate: Planning['locate']): Finding {
  const isGone = ({ to, what }: Change): boolean => to === undefined || (what === 'cloud' && to === 'leaving')
  const decisions = changes.filter((change) => !isGone(change))
  const missing = decisions.map((change) =>
    isWhole(change) ? describeSubject(change) : `${describeSubject(change)} ${change.to}`,
  )
  const left = changes.filter(isGone).map(describeSubject)
  const cloud = clouds.find(({ name }) => name === decisions[0]?.cloud)
  return finding(
    lockOutdated,
    { missing: changes.length === 0 ? 'the slot table' : listFirst(missing), left: listFirst(left) },
    { where: locate(cloud?.from.path ?? ['spec', 'clouds']) },
  )
}

/** Writes the lock if it changed and the plan has no errors; fails if another process wrote it after it was read. */
export async function saveLock(planning: Planning, io: Io): Promise<boolean> {
  const { lockFile, lockText, stale, lock, findings, changes } = planning
  if (lockFile === undefined || !stale || hasErrors(findings)) return false
  if (!(await replaceOutput(lockFile, lockText, writeLock(lock), io)))
    throw failure(lockChanged, { file: lockFile }, { exitCode: 1 })
  io.stderr(`${lockFile} is written; ${summarize(changes)}\n`)
  return true
}

/** `new: rhoso1, rhoso2; changed: rhoso1/storage vlan`. */
function summarize(changes: readonly Change[]): string {
  const kinds: readonly (readonly [string, readonly Change[]])[] = [
    ['new', changes.filter(({ from }) => from === undefined)],
    ['changed', changes.filter(({ from, to }) => from !== undefined && to !== undefined)],
    ['gone', changes.filter(({ to }) => to === undefined)],
  ]
  const parts = kinds
    .filter(([, ofKind]) => ofKind.length > 0)
    .map(([kind, ofKind]) => `${kind}: ${listFirst(ofKind.map(describeSubject))}`)
  return parts.join('; ') || 'the slot table changed'
}

function describeSubject(change: Change): string {
  const { cloud, network, what } = change
  const owner = network === undefined ? cloud : `${cloud}/${network}`
  return isWhole(change) ? owner : `${owner} ${what}`
}

function isWhole({ what }: Change): boolean {
  return what === 'cloud' || what === 'network'
}

function listFirst(names: readonly string[]): string {
  const more = names.length - 3
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** For commands that cannot go on: the errors of the plan, as a failure. */
export function failOnErrors({ findings }: Planning): void {
  if (hasErrors(findings)) throw new Failure(findings, 1)
}
