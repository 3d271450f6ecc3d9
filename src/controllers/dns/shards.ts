/**
 * Everything that one DNSMasq serves, spread over a fixed number of shards.
 *
 * Pure. One line per address with all of its names, whoever named them: dnsmasq drops what a second file repeats, and
 * forgets it with the first. A line stays in the shard that its address chooses, so that a change concerns one or two.
 */
import { createHash } from 'node:crypto'
import { parseHosts } from './hosts-file.ts'

/** Also the number of ConfigMaps that a pod names: fixed, because the pod's template must not change with its hosts. */
export const SHARDS = 16

/** Hosts from one place. */
export interface HostSource {
  readonly name: string
  readonly text: string
}

export interface Shard {
  /** `07.3fa9…`: number and hash of the text. */
  readonly file: string
  readonly text: string
  /** The same by address. */
  readonly lines: ReadonlyMap<string, string>
}

export interface ShardedHosts {
  readonly shards: readonly Shard[]
  /** Of everything together. */
  readonly hash: string
}

/** Remembers what each text said, and what each shard was made of: only what changed is worked on. */
export interface Sharder {
  readonly shard: (sources: readonly HostSource[]) => ShardedHosts
}

export function createSharder(): Sharder {
  let read = new Map<string, ParsedSource>()
  let made: readonly BuiltShard[] = []
  return {
    shard: (sources) => {
      const ordered = [...sources].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      const next = new Map<string, ParsedSource>()
      for (const { name, text } of ordered) {
        const known = read.get(name)
        next.set(name, known?.text === text ? known : parseSource(text, known))
      }
      read = next
      const contributions = [...next.values()]
      made = Array.from({ length: SHARDS }, (_, number) => {
        const from = contributions.flatMap(({ perShard }) => perShard[number] ?? [])
        const before = made[number]
        return before && areSameParts(before.from, from) ? before : { from, shard: buildShard(number, from) }
      })
      const shards = made.map(({ shard }) => shard)
      return { shards, hash: shortHash(shards.map(({ file }) => file).join(' ')) }
    },
  }
}

/** One address of one source, with its names, each once. */
interface HostEntry {
  readonly ip: string
  readonly line: string
  readonly shard: number
}

/** What one source says about the addresses of one shard. */
interface SourcePart {
  readonly text: string
  readonly named: readonly HostEntry[]
}

interface ParsedSource {
  readonly text: string
  /** What each line of the text says: most of a changed text was there before, and reading addresses takes time. */
  readonly read: ReadonlyMap<string, readonly HostEntry[]>
  readonly perShard: readonly SourcePart[]
}

interface BuiltShard {
  readonly from: readonly SourcePart[]
  readonly shard: Shard
}

function parseSource(text: string, before: ParsedSource | undefined): ParsedSource {
  const perShard = Array.from({ length: SHARDS }, (): HostEntry[] => [])
  const read = new Map<string, readonly HostEntry[]>()
  for (const line of text.split('\n')) {
    const named = before?.read.get(line) ?? parseLine(line)
    read.set(line, named)
    for (const one of named) perShard[one.shard]?.push(one)
  }
  return { text, read, perShard: perShard.map((named) => ({ text: joinLines(named), named })) }
}

function parseLine(text: string): readonly HostEntry[] {
  return parseHosts(text).map(({ ip, names }) => ({ ip, line: formatLine(ip, names), shard: shardNumber(ip) }))
}

function formatLine(ip: string, names: readonly string[]): string {
  return `${ip} ${[...new Set(names)].join(' ')}`
}

function joinLines(named: readonly { readonly line: string }[]): string {
  return named.map(({ line }) => `${line}\n`).join('')
}

/** FNV-1a: any function would do that is quick, spreads neighbours, and never changes. */
export function shardNumber(ip: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < ip.length; at += 1) hash = Math.imul(hash ^ ip.charCodeAt(at), 0x01000193)
  return (hash >>> 8) % SHARDS
}

function buildShard(number: number, from: readonly SourcePart[]): Shard {
  const lines = new Map<string, string>()
  for (const { named } of from) {
    for (const { ip, line } of named) {
      const known = lines.get(ip)
      lines.set(ip, known === undefined ? line : mergeLines(ip, known, line))
    }
  }
  const text = [...lines.values()].map((line) => `${line}\n`).join('')
  return { file: shardFileName(number, text), text, lines }
}

function mergeLines(ip: string, one: string, other: string): string {
  return formatLine(
    ip,
    [one, other].flatMap((line) => line.slice(ip.length + 1).split(' ')),
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

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
