/**
 * Distributes everything that a DNSMasq serves over a fixed number of shards.
 *
 * Pure. One line per address with the names of all sources: dnsmasq ignores a record that a second file repeats, and
 * forgets it with the first. The address determines the shard, so that a change affects one or two.
 */
import { shortHash } from '../kit/writes.ts'
import { parseHosts } from './hosts-file.ts'

/** Also the number of ConfigMaps that a pod mounts: fixed, because the pod template must not change with the hosts. */
export const SHARDS = 16

export interface HostSource {
  readonly name: string
  readonly text: string
}

export interface Shard {
  /** `07.3fa9…`: number and hash of the text. */
  readonly file: string
  readonly text: string
  /** By address. */
  readonly lines: ReadonlyMap<string, string>
}

export interface ShardedHosts {
  readonly shards: readonly Shard[]
  /** Of all shards. */
  readonly hash: string
}

/** Remembers each parsed source and each built shard, so that only what changed is computed. */
export interface Sharder {
  readonly shard: (sources: readonly HostSource[]) => ShardedHosts
}

export function createSharder(): Sharder {
  let parsed = new Map<string, ParsedSource>()
  let built: readonly BuiltShard[] = []
  return {
    shard: (sources) => {
      const ordered = [...sources].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      const next = new Map<string, ParsedSource>()
      for (const { name, text } of ordered) {
        const known = parsed.get(name)
        next.set(name, known?.text === text ? known : parseSource(text, known))
      }
      parsed = next
      built = Array.from({ length: SHARDS }, (_, number) => {
        const parts = [...next.values()].flatMap(({ perShard }) => perShard[number] ?? [])
        const before = built[number]
        return before && areSameParts(before.parts, parts) ? before : { parts, shard: buildShard(number, parts) }
      })
      const shards = built.map(({ shard }) => shard)
      return { shards, hash: shortHash(shards.map(({ file }) => file).join(' ')) }
    },
  }
}

/** An address of a source with its distinct names. */
interface HostEntry {
  readonly ip: string
  readonly line: string
  readonly shard: number
}

/** The entries of a source that belong to a shard. */
interface SourcePart {
  readonly text: string
  readonly entries: readonly HostEntry[]
}

interface ParsedSource {
  readonly text: string
  /** The entries of each line: most lines of a changed text did not change, and parsing addresses is slow. */
  readonly byLine: ReadonlyMap<string, readonly HostEntry[]>
  readonly perShard: readonly SourcePart[]
}

interface BuiltShard {
  readonly parts: readonly SourcePart[]
  readonly shard: Shard
}

function parseSource(text: string, before: ParsedSource | undefined): ParsedSource {
  const perShard = Array.from({ length: SHARDS }, (): HostEntry[] => [])
  const byLine = new Map<string, readonly HostEntry[]>()
  for (const line of text.split('\n')) {
    const entries = before?.byLine.get(line) ?? parseLine(line)
    byLine.set(line, entries)
    for (const entry of entries) perShard[entry.shard]?.push(entry)
  }
  return { text, byLine, perShard: perShard.map((entries) => ({ text: joinLines(entries), entries })) }
}

function parseLine(text: string): readonly HostEntry[] {
  return parseHosts(text).map(({ ip, names }) => ({ ip, line: formatLine(ip, names), shard: shardNumber(ip) }))
}

function formatLine(ip: string, names: readonly string[]): string {
  return `${ip} ${[...new Set(names)].join(' ')}`
}

function joinLines(entries: readonly HostEntry[]): string {
  return entries.map(({ line }) => `${line}\n`).join('')
}

/** FNV-1a: fast, spreads neighbouring addresses, and must never change. */
export function shardNumber(ip: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < ip.length; index += 1) hash = Math.imul(hash ^ ip.charCodeAt(index), 0x01000193)
  return (hash >>> 8) % SHARDS
}

function buildShard(number: number, parts: readonly SourcePart[]): Shard {
  const lines = new Map<string, string>()
  for (const { entries } of parts) {
    for (const { ip, line } of entries) {
      const known = lines.get(ip)
      lines.set(ip, known === undefined ? line : mergeLines(ip, known, line))
    }
  }
  const text = [...lines.values()].map((line) => `${line}\n`).join('')
  return { file: shardFileName(number, text), text, lines }
}

function mergeLines(ip: string, first: string, second: string): string {
  return formatLine(
    ip,
    [first, second].flatMap((line) => line.slice(ip.length + 1).split(' ')),
  )
}

export function shardFileName(number: number, text: string): string {
  return `${String(number).padStart(2, '0')}.${shortHash(text)}`
}

function areSameParts(a: readonly SourcePart[], b: readonly SourcePart[]): boolean {
  return (
    a.length === b.length && a.every((shardPart, index) => shardPart === b[index] || shardPart.text === b[index]?.text)
  )
}
