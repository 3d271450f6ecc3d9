/**
 * Everything that one DNSMasq serves, in the parts in which it reaches its pods.
 *
 * Pure. One line per address with all of its names, whoever named them: dnsmasq drops what a second file repeats, and
 * forgets it with the first. A line stays in the part that its address chooses, so that a change rewrites one or two
 * small parts. A part's file has its content's hash in its name, and the index says which files are one state: the
 * reloader waits until it has them all.
 */
import { createHash } from 'node:crypto'
import { type HostLine, linesOf } from './hosts.ts'

/** Also the number of ConfigMaps that a pod names: fixed, because the pod's template must not change with its hosts. */
export const SHARDS = 16

/** Hosts from one place. */
export interface HostSource {
  readonly name: string
  readonly text: string
}

export interface Shard {
  /** `07.3fa9…`: number and hash. */
  readonly file: string
  readonly text: string
}

export interface Served {
  readonly shards: readonly Shard[]
  /** The names of all files, in one line: the reloader's shell reads it at once. */
  readonly index: string
  /** Of everything together. */
  readonly hash: string
}

/** Remembers what each text said, and what each part was made of: only what changed is worked on. */
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
        next.set(name, known?.text === text ? known : contributionOf(text))
      }
      read = next
      const parts = [...next.values()].map(({ perShard }) => perShard)
      made = Array.from({ length: SHARDS }, (_, number) => {
        const from = parts.map((perShard) => perShard[number] ?? '')
        const before = made[number]
        return before && sameTexts(before.from, from) ? before : { from, shard: shardOf(number, from) }
      })
      const shards = made.map(({ shard }) => shard)
      const index = `${shards.map(({ file }) => file).join(' ')}\n`
      return { shards, index, hash: hashOf(index) }
    },
  }
}

interface Contribution {
  readonly text: string
  readonly perShard: readonly string[]
}

interface Made {
  readonly from: readonly string[]
  readonly shard: Shard
}

function contributionOf(text: string): Contribution {
  const perShard: string[][] = Array.from({ length: SHARDS }, () => [])
  for (const { ip, names } of linesOf(text)) perShard[shardNumber(ip)]?.push(`${ip} ${names.join(' ')}\n`)
  return { text, perShard: perShard.map((lines) => lines.join('')) }
}

/** FNV-1a: any function would do that is quick, spreads neighbours, and never changes. */
function shardNumber(ip: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < ip.length; at += 1) hash = Math.imul(hash ^ ip.charCodeAt(at), 0x01000193)
  return (hash >>> 8) % SHARDS
}

function shardOf(number: number, from: readonly string[]): Shard {
  const names = new Map<string, Set<string>>()
  for (const line of from.flatMap(linesOf)) addTo(names, line)
  const text = [...names].map(([ip, all]) => `${ip} ${[...all].join(' ')}\n`).join('')
  return { file: `${String(number).padStart(2, '0')}.${hashOf(text)}`, text }
}

function addTo(all: Map<string, Set<string>>, { ip, names }: HostLine): void {
  const known = all.get(ip)
  if (!known) all.set(ip, new Set(names))
  else for (const name of names) known.add(name)
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
