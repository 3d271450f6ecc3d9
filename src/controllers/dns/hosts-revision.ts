/**
 * Editions: how the pods of a DNSMasq are told its hosts. The parts of some earlier state, and what has changed since.
 *
 * Pure. A change is a line in front of the others, so it is one small write however many hosts there are, and a pod that
 * has the edition before reads that line alone. When the changes grow long, or come in hundreds, the parts are written
 * anew. An edition can be read back from its files: whoever runs next goes on where the last one ended.
 */
import { SHARDS, type Shard, type ShardedHosts, shardFileName, shardNumber } from './shards.ts'

export interface HostsRevision {
  readonly number: number
  /** Who has this edition, or a later one, needs the changes alone. */
  readonly reaches: number
  readonly parts: readonly Pick<Shard, 'file' | 'text'>[]
  /** A line for each address that changed, newest first: the edition, then the address with its names of now. */
  readonly changes: string
  /** What it comes to: the line of every address, by shard. */
  readonly lines: readonly ReadonlyMap<string, string>[]
}

/** So many changes are told one by one. */
const MAX_LISTED_CHANGES = 64
/** So long the changes may be, in characters, and so much of them stays when the parts are written anew. */
const MAX_CHANGES_LENGTH = 24_000
const KEPT_CHANGES_LENGTH = 4_000

/** The edition that says what is wanted: the one before where it says so already. `first` numbers one without a past. */
export function nextRevision(
  before: HostsRevision | undefined,
  { shards }: ShardedHosts,
  first: number,
): HostsRevision {
  const lines = shards.map((shard) => shard.lines)
  if (!before) return { number: first, reaches: first, parts: shards, changes: '', lines }
  const number = before.number + 1
  const fresh = lines.flatMap((now, at) => diffLines(before.lines[at] ?? new Map(), now))
  if (fresh.length === 0) return before
  if (fresh.length > MAX_LISTED_CHANGES) return { number, reaches: number, parts: shards, changes: '', lines }
  const changes = fresh.map((line) => `${number} ${line}\n`).join('') + before.changes
  if (changes.length <= MAX_CHANGES_LENGTH) return { ...before, number, changes, lines }
  return { number, ...newestChanges(changes, number), parts: shards, lines }
}

/** The lines of now that are others than before; the bare address where there is none any more. */
function diffLines(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] {
  if (before === now) return []
  const changes: string[] = []
  for (const [ip, line] of now) if (before.get(ip) !== line) changes.push(line)
  for (const ip of before.keys()) if (!now.has(ip)) changes.push(ip)
  return changes
}

/** The newest changes that have room, whole editions of them: those of half an edition would be no state at all. */
function newestChanges(changes: string, number: number): Pick<HostsRevision, 'changes' | 'reaches'> {
  const all = changes.split(/(?<=\n)/)
  let length = 0
  const tooMuch = all.find((one) => (length += one.length) > KEPT_CHANGES_LENGTH)
  const reaches = tooMuch === undefined ? number : revisionOfChange(tooMuch)
  return { changes: all.filter((one) => revisionOfChange(one) > reaches).join(''), reaches }
}

const revisionOfChange = (change: string): number => Number.parseInt(change, 10)

/** What the reloader reads beside the parts: what wakes it, what has changed, and which parts belong to it. */
export function revisionFiles({ number, reaches, changes, parts }: HostsRevision): Readonly<Record<string, string>> {
  return {
    number: `${number}\n`,
    changes: `${number} ${reaches}\n${changes}`,
    parts: `${parts.map(({ file }) => file).join(' ')}\n`,
  }
}

/** The edition that these files are, or undefined where they do not fit together. */
export function readRevision(
  files: Readonly<Record<string, string>>,
  partOf: (number: number) => Readonly<Record<string, string>>,
): HostsRevision | undefined {
  const [header = ''] = (files['changes'] ?? '').split('\n', 1)
  const changes = files['changes']?.slice(header.length + 1) ?? ''
  const [number, reaches] = header.split(' ').map(Number)
  const names = (files['parts'] ?? '').split(/\s/).filter(Boolean)
  if (!number || !reaches || names.length !== SHARDS) return undefined
  const parts: Pick<Shard, 'file' | 'text'>[] = []
  for (const [at, file] of names.entries()) {
    const text = partOf(at)[file]
    if (text === undefined || shardFileName(at, text) !== file) return undefined
    parts.push({ file, text })
  }
  return { number, reaches, parts, changes, lines: applyChanges(parts, changes) }
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
