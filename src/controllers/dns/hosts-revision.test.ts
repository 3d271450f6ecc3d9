import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { type HostsRevision, nextRevision, readRevision, revisionFiles } from './hosts-revision.ts'
import { createSharder, type ShardedHosts } from './shards.ts'

const served = (...lines: string[]): ShardedHosts =>
  createSharder().shard([{ name: 'a', text: lines.map((line) => `${line}\n`).join('') }])
const linesOf = ({ lines }: HostsRevision): readonly string[] => lines.flatMap((line) => [...line.values()]).sort()
const many = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `10.0.${(from + at) >> 7}.${(from + at) & 127} host-${from + at}`)

describe('an edition', () => {
  it('is one line more than the one before, where a host moved', () => {
    const first = nextRevision(undefined, served('10.0.0.1 a', '10.0.0.2 b'), 7)
    const second = nextRevision(first, served('10.0.0.3 a', '10.0.0.2 b'), 99)
    expect(revisionFiles(second)['number']).toBe('8\n')
    const [header, ...changes] = revisionFiles(second)['changes']?.trim().split('\n') ?? []
    expect(header).toBe('8 7')
    expect(changes.sort()).toEqual(['8 10.0.0.1', '8 10.0.0.3 a'])
    expect(revisionFiles(second)['parts']).toBe(revisionFiles(first)['parts'])
  })

  it('is the one before where nothing changed', () => {
    const first = nextRevision(undefined, served('10.0.0.1 a'), 1)
    expect(nextRevision(first, served('10.0.0.1 a'), 1)).toBe(first)
  })

  it('has its parts anew where hundreds changed: nobody is told them one by one', () => {
    const first = nextRevision(undefined, served('10.0.0.1 a'), 1)
    const second = nextRevision(first, served(...many(0, 300)), 1)
    expect(second).toMatchObject({ number: 2, reaches: 2, changes: '' })
    expect(second.parts).not.toEqual(first.parts)
  })

  it('has its parts anew when the changes grow long, and tells the last ones nevertheless', () => {
    let edition = nextRevision(undefined, served('10.0.0.1 a'), 1)
    const parts = edition.parts
    while (edition.parts === parts)
      edition = nextRevision(edition, served(...many(edition.number, edition.number + 1)), 1)
    expect(edition.number).toBeGreaterThan(200)
    expect(edition.reaches).toBeLessThan(edition.number)
    expect(edition.reaches).toBeGreaterThan(1)
    const told = edition.changes
      .split('\n')
      .filter(Boolean)
      .map((one) => Number(one.split(' ')[0]))
    expect(told[0]).toBe(edition.number)
    expect(told.at(-1)).toBe(edition.reaches + 1)
  })

  it('is nothing that can be gone on with where its files do not fit together', () => {
    const edition = nextRevision(undefined, served('10.0.0.1 a'), 1)
    expect(readRevision({}, () => ({}))).toBeUndefined()
    expect(readRevision(revisionFiles(edition), () => ({}))).toBeUndefined()
    expect(readRevision({ ...revisionFiles(edition), parts: 'x\n' }, () => ({}))).toBeUndefined()
  })

  it('comes to what is wanted, and is the same when it is read back, whatever came before', () => {
    const line = fc.tuple(fc.integer({ min: 1, max: 200 }), fc.constantFrom('a', 'b', 'c'))
    const state = fc.uniqueArray(line, { selector: ([last]) => last, maxLength: 150 })
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 8 }), (states) => {
        let edition: HostsRevision | undefined
        for (const pairs of states) {
          const lines = pairs.map(([last, name]) => `10.0.0.${last} ${name}`)
          edition = nextRevision(edition, served(...lines), 1)
          expect(linesOf(edition)).toEqual([...lines].sort())
          const { parts } = edition
          const read = readRevision(revisionFiles(edition), (at) => ({
            [parts[at]?.file ?? '']: parts[at]?.text ?? '',
          }))
          expect(read && linesOf(read)).toEqual([...lines].sort())
          expect(read && revisionFiles(read)).toEqual(revisionFiles(edition))
        }
      }),
      { numRuns: count({ test: 30, soak: 1_000 }) },
    )
  })
})
