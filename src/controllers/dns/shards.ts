/**
 * Everything that one DNSMasq serves, spread over a fixed number of shards.
 *
 * Pure. One line per address with all of its names, whoever named them: dnsmasq drops what a second file repeats, and
 * forgets it with the first. A line stays in the shard that its address chooses, so that a change concerns one or two.
 */
import { createHash } from 'node:crypto'
import { linesOf } from './hosts.ts'

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

export interface Served {
  readonly shards: readonly Shard[]
  /** Of everything together. */
  readonly hash: string
}

/** Remembers what each text said, and what each shard was made of: only what changed is worked on. */
export interface Sharder {
  readonly serve: (sources: readonly HostSource[]) => Served
}

export function createSharder(): Sharder {
  let read = new Map<string, Contribution>()
  let made: readonly Made[] = []
  return {
    serve: (sources) => {
      const ordered = [...sources].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      const next = new Map<string, Contribution>()
      for (const { name, text } of ordered) {
        const known = read.get(name)
        next.set(name, known?.text === text ? known : contributionOf(text, known))
      }
      read = next
      const contributions = [...next.values()]
      made = Array.from({ length: SHARDS }, (_, number) => {
        const from = contributions.flatMap(({ perShard }) => perShard[number] ?? [])
        const before = made[number]
        return before && sameParts(before.from, from) ? before : { from, shard: shardOf(number, from) }
      })
      const shards = made.map(({ shard }) => shard)
      return { shards, hash: hashOf(shards.map(({ file }) => file).join(' ')) }
    },
  }
}

/** One address of one source, with its names, each once. */
interface Named {
  readonly ip: string
  readonly line: string
  readonly shard: number
}

/** What one source says about the addresses of one shard. */
interface ShardPart {
  readonly text: string
  readonly named: readonly Named[]
}

interface Contribution {
  readonly text: string
  /** What each line of the text says: most of a changed text was there before, and reading addresses takes time. */
  readonly read: ReadonlyMap<string, readonly Named[]>
  readonly perShard: readonly ShardPart[]
}

interface Made {
  readonly from: readonly ShardPart[]
  readonly shard: Shard
}

function contributionOf(text: string, before: Contribution | undefined): Contribution {
  const perShard = Array.from({ length: SHARDS }, (): Named[] => [])
  const read = new Map<string, readonly Named[]>()
  for (const line of text.split('\n')) {
    const named = before?.read.get(line) ?? namedIn(line)
    read.set(line, named)
    for (const one of named) perShard[one.shard]?.push(one)
  }
  return { text, read, perShard: perShard.map((named) => ({ text: textOf(named), named })) }
}

function namedIn(text: string): readonly Named[] {
  return linesOf(text).map(({ ip, names }) => ({ ip, line: lineOf(ip, names), shard: shardNumber(ip) }))
}

function lineOf(ip: string, names: readonly string[]): string {
  return `${ip} ${[...new Set(names)].join(' ')}`
}

function textOf(named: readonly { readonly line: string }[]): string {
  return named.map(({ line }) => `${line}\n`).join('')
}

/** FNV-1a: any function would do that is quick, spreads neighbours, and never changes. */
export function shardNumber(ip: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < ip.length; at += 1) hash = Math.imul(hash ^ ip.charCodeAt(at), 0x01000193)
  return (hash >>> 8) % SHARDS
}

function shardOf(number: number, from: readonly ShardPart[]): Shard {
  const lines = new Map<string, string>()
  for (const { named } of from) {
    for (const { ip, line } of named) {
      const known = lines.get(ip)
      lines.set(ip, known === undefined ? line : merged(ip, known, line))
    }
  }
  const text = [...lines.values()].map((line) => `${line}\n`).join('')
  return { file: fileOf(number, text), text, lines }
}

function merged(ip: string, one: string, other: string): string {
  return lineOf(
    ip,
    [one, other].flatMap((line) => line.slice(ip.length + 1).split(' ')),
  )
}

export function fileOf(number: number, text: string): string {
  return `${String(number).padStart(2, '0')}.${hashOf(text)}`
}

function sameParts(a: readonly ShardPart[], b: readonly ShardPart[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index] || one.text === b[index]?.text)
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
