/**
 * Computes revisions of published hosts: the parts of an earlier state, and the changes since then.
 *
 * Pure. A change is a line in front of the others: one small write however many hosts there are. When the list of changes
 * becomes long, the parts are written again. A revision can be read back from its files, so that a new leader continues.
 */
import { SHARDS, type Shard, type ShardedHosts, shardFileName, shardNumber } from './shards.ts'

export interface HostsRevision {
  readonly number: number
  /** A pod that has this revision or a later one needs only the changes. */
  readonly base: number
  readonly parts: readonly Pick<Shard, 'file' | 'text'>[]
  /** A line per changed address, newest first: the revision, then the address with its current names. */
  readonly changes: string
  /** The result: the line of every address, by shard. */
  readonly lines: readonly ReadonlyMap<string, string>[]
}

/** With more changes at once, the parts are written. */
const MAX_LISTED_CHANGES = 64
/** In characters: when the changes become longer, the parts are written and only the newest changes are kept. */
const MAX_CHANGES_LENGTH = 24_000
const KEPT_CHANGES_LENGTH = 4_000

/** The revision with these hosts; the previous one if nothing changed. `firstNumber` is used when there is none. */
export function nextRevision(
  previous: HostsRevision | undefined,
  { shards }: ShardedHosts,
  firstNumber: number,
): HostsRevision {
  const lines = shards.map((shard) => shard.lines)
  if (!previous) return { number: firstNumber, base: firstNumber, parts: shards, changes: '', lines }
  const number = previous.number + 1
  const changed = lines.flatMap((current, index) => diffLines(previous.lines[index] ?? new Map(), current))
  if (changed.length === 0) return previous
  if (changed.length > MAX_LISTED_CHANGES) return { number, base: number, parts: shards, changes: '', lines }
  const changes = changed.map((line) => `${number} ${line}\n`).join('') + previous.changes
  if (changes.length <= MAX_CHANGES_LENGTH) return { ...previous, number, changes, lines }
  return { number, ...newestChanges(changes, number), parts: shards, lines }
}

/** The lines that are new or different; the address alone where its line was removed. */
function diffLines(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  if (before === after) return []
  const changes: string[] = []
  for (const [ip, line] of after) if (before.get(ip) !== line) changes.push(line)
  for (const ip of before.keys()) if (!after.has(ip)) changes.push(ip)
  return changes
}

/** The newest changes that fit, in whole revisions: part of a revision would be a state that never existed. */
function newestChanges(changes: string, number: number): Pick<HostsRevision, 'changes' | 'base'> {
  const lines = changes.split(/(?<=\n)/)
  let length = 0
  const firstDropped = lines.find((line) => (length += line.length) > KEPT_CHANGES_LENGTH)
  const base = firstDropped === undefined ? number : revisionOfChange(firstDropped)
  return { changes: lines.filter((line) => revisionOfChange(line) > base).join(''), base }
}

const revisionOfChange = (change: string): number => Number.parseInt(change, 10)

/** The files of the index ConfigMap: the one whose change wakes the reloader, the changes, and the names of the parts. */
export function revisionFiles({ number, base, changes, parts }: HostsRevision): Readonly<Record<string, string>> {
  return {
    number: `${number}\n`,
    changes: `${number} ${base}\n${changes}`,
    parts: `${parts.map(({ file }) => file).join(' ')}\n`,
  }
}

/** The revision in these files; undefined where they do not fit together. */
export function readRevision(
  files: Readonly<Record<string, string>>,
  readPart: (number: number) => Readonly<Record<string, string>>,
): HostsRevision | undefined {
  const [header = ''] = (files['changes'] ?? '').split('\n', 1)
  const changes = files['changes']?.slice(header.length + 1) ?? ''
  const [number, base] = header.split(' ').map(Number)
  const names = (files['parts'] ?? '').split(/\s/).filter(Boolean)
  if (!number || !base || names.length !== SHARDS) return undefined
  const parts: Pick<Shard, 'file' | 'text'>[] = []
  for (const [index, file] of names.entries()) {
    const text = readPart(index)[file]
    if (text === undefined || shardFileName(index, text) !== file) return undefined
    parts.push({ file, text })
  }
  return { number, base, parts, changes, lines: applyChanges(parts, changes) }
}

function applyChanges(parts: HostsRevision['parts'], changes: string): readonly ReadonlyMap<string, string>[] {
  const lines = parts.map(
    ({ text }) => new Map(splitLines(text).map((line): [string, string] => [lineAddress(line), line])),
  )
  for (const change of splitLines(changes).toReversed()) {
    const line = change.slice(change.indexOf(' ') + 1)
    const ip = lineAddress(line)
    const shard = lines[shardNumber(ip)]
    if (line === ip) shard?.delete(ip)
    else shard?.set(ip, line)
  }
  return lines
}

function splitLines(text: string): readonly string[] {
  return text.split('\n').filter(Boolean)
}

function lineAddress(line: string): string {
  return line.split(' ', 1)[0] ?? ''
}
