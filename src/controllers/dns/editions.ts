/**
 * Editions: how the pods of a DNSMasq are told its hosts. The parts of some earlier state, and what has changed since.
 *
 * Pure. A change is a line in front of the others, so it is one small write however many hosts there are, and a pod that
 * has the edition before reads that line alone. When the changes grow long, or come in hundreds, the parts are written
 * anew. An edition can be read back from its files: whoever runs next goes on where the last one ended.
 */
import { fileOf, type Served, SHARDS, type Shard, shardNumber } from './shards.ts'

/** One address with its names of now; without names it is gone. */
interface HostChange {
  readonly edition: number
  readonly ip: string
  readonly line: string
}

export interface Edition {
  readonly number: number
  /** Who has this edition, or a later one, needs the changes alone. */
  readonly reaches: number
  readonly parts: readonly Pick<Shard, 'file' | 'text'>[]
  /** Newest first. */
  readonly changes: readonly HostChange[]
  /** What it comes to: the line of every address, by shard. */
  readonly lines: readonly ReadonlyMap<string, string>[]
}

/** So many changes are told one by one. */
const AT_ONCE = 64
/** So long the changes may be, in characters, and so much of them stays when the parts are written anew. */
const ROOM = 24_000
const KEPT = 4_000

/** The edition that says what is wanted: the one before where it says so already. `first` numbers one without a past. */
export function nextEdition(before: Edition | undefined, { shards }: Served, first: number): Edition {
  const lines = shards.map((one) => one.lines)
  if (!before) return { number: first, reaches: first, parts: shards, changes: [], lines }
  const number = before.number + 1
  const fresh = lines.flatMap((now, at) => changesBetween(before.lines[at] ?? new Map(), now, number))
  if (fresh.length === 0) return before
  if (fresh.length > AT_ONCE) return { number, reaches: number, parts: shards, changes: [], lines }
  const changes = [...fresh, ...before.changes]
  if (lengthOf(changes) <= ROOM) return { ...before, number, changes, lines }
  const { kept, reaches } = newestOf(changes, number)
  return { number, reaches, parts: shards, changes: kept, lines }
}

function changesBetween(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  edition: number,
): readonly HostChange[] {
  if (before === now) return []
  const changes: HostChange[] = []
  for (const [ip, line] of now) if (before.get(ip) !== line) changes.push({ edition, ip, line })
  for (const ip of before.keys()) if (!now.has(ip)) changes.push({ edition, ip, line: ip })
  return changes
}

function lengthOf(changes: readonly HostChange[]): number {
  return changes.reduce((sum, one) => sum + textOfChange(one).length, 0)
}

/** The newest changes that have room, whole editions of them: those of half an edition would be no state at all. */
function newestOf(
  changes: readonly HostChange[],
  number: number,
): { readonly kept: readonly HostChange[]; readonly reaches: number } {
  let length = 0
  let reaches = number
  for (const one of changes) {
    length += textOfChange(one).length
    if (length > KEPT) {
      reaches = one.edition
      break
    }
  }
  return { kept: changes.filter((one) => one.edition > reaches), reaches }
}

const textOfChange = ({ edition, line }: HostChange): string => `${edition} ${line}\n`

/** What the reloader reads beside the parts: what wakes it, what has changed, and which parts belong to it. */
export function filesOf({ number, reaches, changes, parts }: Edition): Readonly<Record<string, string>> {
  return {
    number: `${number}\n`,
    changes: `${number} ${reaches}\n${changes.map(textOfChange).join('')}`,
    parts: `${parts.map(({ file }) => file).join(' ')}\n`,
  }
}

/** The edition that these files are, or undefined where they do not fit together. */
export function readEdition(
  files: Readonly<Record<string, string>>,
  partOf: (number: number) => Readonly<Record<string, string>>,
): Edition | undefined {
  const [header = '', ...rest] = (files['changes'] ?? '').split('\n')
  const [number, reaches] = header.split(' ').map(Number)
  const names = (files['parts'] ?? '').split(/\s/).filter(Boolean)
  if (!number || !reaches || names.length !== SHARDS) return undefined
  const parts: Pick<Shard, 'file' | 'text'>[] = []
  for (const [at, file] of names.entries()) {
    const text = partOf(at)[file]
    if (text === undefined || fileOf(at, text) !== file) return undefined
    parts.push({ file, text })
  }
  const changes = rest.filter(Boolean).map(changeOf)
  return { number, reaches, parts, changes, lines: linesAfter(parts, changes) }
}

function changeOf(text: string): HostChange {
  const [edition = ''] = text.split(' ', 1)
  const line = text.slice(edition.length + 1)
  return { edition: Number(edition), ip: addressOf(line), line }
}

function linesAfter(
  parts: Edition['parts'],
  changes: readonly HostChange[],
): readonly ReadonlyMap<string, string>[] {
  const lines = parts.map(
    ({ text }) =>
      new Map(
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => [addressOf(line), line]),
      ),
  )
  for (const { ip, line } of changes.toReversed()) {
    const shard = lines[shardNumber(ip)]
    if (line === ip) shard?.delete(ip)
    else shard?.set(ip, line)
  }
  return lines
}

function addressOf(line: string): string {
  return line.split(' ', 1)[0] ?? ''
}
