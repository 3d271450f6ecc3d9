import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { parseHosts } from './hosts-file.ts'
import { createSharder, type HostSource, SHARDS, type ShardedHosts } from './shards.ts'

const source = (name: string, ...lines: string[]): HostSource => ({
  name,
  text: lines.map((line) => `${line}\n`).join(''),
})
const pairs = ({ shards }: ShardedHosts): readonly string[] =>
  shards.flatMap(({ text }) => parseHosts(text).flatMap(({ ip, names }) => names.map((name) => `${name} ${ip}`)))
const changed = (before: ShardedHosts, after: ShardedHosts): number =>
  after.shards.filter(({ file }, at) => file !== before.shards[at]?.file).length

describe('createSharder', () => {
  it('has one line per address with the names of all sources in order', () => {
    const { shards } = createSharder().shard([
      source('b', '172.17.0.80 b.example.com'),
      source('a', '172.17.0.80 a.example.com', '172.017.0.81 no', '# 172.17.0.82 comment', 'FD00::0:1 six'),
    ])
    const text = shards.map((shard) => shard.text).join('')
    expect(text.split('\n').filter(Boolean).sort()).toEqual([
      '172.017.0.81 no',
      '172.17.0.80 a.example.com b.example.com',
      'fd00::1 six',
    ])
  })

  it('names files by their number and the hash of their text', () => {
    const { shards } = createSharder().shard([source('a', '10.0.0.1 a')])
    expect(shards).toHaveLength(SHARDS)
    expect(shards.every(({ file }) => /^\d\d\.[0-9a-f]{16}$/.test(file))).toBe(true)
  })

  it('changes only the shard whose address gains or loses a name', () => {
    const sharder = createSharder()
    const many = Array.from({ length: 1000 }, (_, at) => `10.0.${at >> 8}.${at & 255} host-${at}`)
    const before = sharder.shard([source('a', ...many), source('b', '10.9.9.9 moving')])
    const after = sharder.shard([source('a', ...many), source('b', '10.9.9.10 moving')])
    expect(changed(before, after)).toBeLessThanOrEqual(2)
    expect(changed(before, after)).toBeGreaterThan(0)
  })

  it('does not depend on earlier calls and has exactly the names of the sources (property)', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const line = fc.tuple(fc.integer({ min: 1, max: 9 }), name).map(([last, host]) => `10.0.0.${last} ${host}`)
    const world = fc.uniqueArray(fc.record({ name: fc.constantFrom('x', 'y', 'z'), lines: fc.array(line) }), {
      selector: ({ name: sourceName }) => sourceName,
    })
    fc.assert(
      fc.property(fc.array(world, { minLength: 1, maxLength: 5 }), (worlds) => {
        const sharder = createSharder()
        for (const sources of worlds) {
          const hostSources = sources.map(({ name: sourceName, lines }) => source(sourceName, ...lines))
          const served = sharder.shard(hostSources)
          expect(served).toEqual(createSharder().shard(hostSources))
          const expected = sources.flatMap(({ lines }) => lines.map((line) => line.split(' ').reverse().join(' ')))
          expect([...pairs(served)].sort()).toEqual([...new Set(expected)].sort())
        }
      }),
      { numRuns: count({ test: 30, soak: 1_000 }) },
    )
  })
})
