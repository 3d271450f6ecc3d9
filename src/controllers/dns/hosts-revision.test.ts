import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { type HostsRevision, nextRevision, readRevision, revisionFiles } from './hosts-revision.ts'
import { createSharder, type ShardedHosts } from './shards.ts'

const shardLines = (...lines: string[]): ShardedHosts =>
  createSharder().shard([{ name: 'a', text: lines.map((line) => `${line}\n`).join('') }])
const sortedLines = ({ lines }: HostsRevision): readonly string[] => lines.flatMap((line) => [...line.values()]).sort()
const many = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => {
    const n = from + index
    return `10.0.${n >> 7}.${n & 127} host-${n}`
  })

describe('nextRevision', () => {
  it('adds a line per changed address', () => {
    const first = nextRevision(undefined, shardLines('10.0.0.1 a', '10.0.0.2 b'), 7)
    const second = nextRevision(first, shardLines('10.0.0.3 a', '10.0.0.2 b'), 99)
    expect(revisionFiles(second)['number']).toBe('8\n')
    const [header, ...changes] = revisionFiles(second)['changes']?.trim().split('\n') ?? []
    expect(header).toBe('8 7')
    expect(changes.sort()).toEqual(['8 10.0.0.1', '8 10.0.0.3 a'])
    expect(revisionFiles(second)['parts']).toBe(revisionFiles(first)['parts'])
  })

  it('returns the previous revision when nothing changed', () => {
    const first = nextRevision(undefined, shardLines('10.0.0.1 a'), 1)
    expect(nextRevision(first, shardLines('10.0.0.1 a'), 1)).toBe(first)
  })

  it('writes the parts again when hundreds of hosts change', () => {
    const first = nextRevision(undefined, shardLines('10.0.0.1 a'), 1)
    const second = nextRevision(first, shardLines(...many(0, 300)), 1)
    expect(second).toMatchObject({ number: 2, base: 2, changes: '' })
    expect(second.parts).not.toEqual(first.parts)
  })

  it('writes the parts again when the changes become long, and keeps the newest changes', () => {
    let revision = nextRevision(undefined, shardLines('10.0.0.1 a'), 1)
    const parts = revision.parts
    while (revision.parts === parts)
      revision = nextRevision(revision, shardLines(...many(revision.number, revision.number + 1)), 1)
    expect(revision.number).toBeGreaterThan(200)
    expect(revision.base).toBeLessThan(revision.number)
    expect(revision.base).toBeGreaterThan(1)
    const numbers = revision.changes
      .split('\n')
      .filter(Boolean)
      .map((line) => Number(line.split(' ')[0]))
    expect(numbers[0]).toBe(revision.number)
    expect(numbers.at(-1)).toBe(revision.base + 1)
  })

  it('cannot be read from files that do not fit together', () => {
    const revision = nextRevision(undefined, shardLines('10.0.0.1 a'), 1)
    expect(readRevision({}, () => ({}))).toBeUndefined()
    expect(readRevision(revisionFiles(revision), () => ({}))).toBeUndefined()
    expect(readRevision({ ...revisionFiles(revision), parts: 'x\n' }, () => ({}))).toBeUndefined()
  })

  it('has the given hosts and is the same when read back, whatever came before (property)', () => {
    const line = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.constantFrom('a', 'b', 'c'))
    const state = fc.uniqueArray(line, { selector: ([last]) => last, maxLength: 150 })
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 8 }), (states) => {
        let revision: HostsRevision | undefined
        for (const pairs of states) {
          const lines = pairs.map(([last, name]) => `10.0.0.${last} ${name}`)
          revision = nextRevision(revision, shardLines(...lines), 1)
          expect(sortedLines(revision)).toEqual([...lines].sort())
          const { parts } = revision
          const read = readRevision(revisionFiles(revision), (index) => ({
            [parts[index]?.file ?? '']: parts[index]?.text ?? '',
          }))
          expect(read && sortedLines(read)).toEqual([...lines].sort())
          expect(read && revisionFiles(read)).toEqual(revisionFiles(revision))
        }
      }),
      { numRuns: count({ test: 30, soak: 1_000 }) },
    )
  })
})
