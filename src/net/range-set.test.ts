import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { createAllocator } from './allocator.ts'
import { findOverlaps } from './overlaps.ts'
import { type Range, rangesOverlap } from './range.ts'
import {
  firstFree,
  freeRanges,
  overlappingRanges,
  type RangeSet,
  rangeSet,
  setContains,
  setSize,
  subtract,
} from './range-set.ts'

const runs = { numRuns: count({ test: 500, soak: 20_000 }) }
const range = fc
  .tuple(fc.constantFrom(4 as const, 6 as const), fc.nat(60), fc.nat(12))
  .map(([family, from, length]): Range => ({ family, first: BigInt(from), last: BigInt(from + length) }))
const ranges = fc.array(range, { maxLength: 12 })
const universe = [4 as const, 6 as const].flatMap((family) =>
  Array.from({ length: 80 }, (_, value) => ({ family, value: BigInt(value) })),
)
const within = (all: readonly Range[], { family, value }: { family: number; value: bigint }): boolean =>
  all.some((range) => range.family === family && range.first <= value && value <= range.last)
const contained = (set: RangeSet) => universe.filter((address) => setContains(set, address))

describe('a set of ranges', () => {
  it('contains exactly the addresses of its ranges', () => {
    fc.assert(
      fc.property(ranges, (all) => {
        const set = rangeSet(all)
        expect(contained(set)).toEqual(universe.filter((address) => within(all, address)))
        expect(setSize(set)).toBe(BigInt(universe.filter((address) => within(all, address)).length))
      }),
      runs,
    )
  })

  it('subtracts like a set of addresses', () => {
    fc.assert(
      fc.property(ranges, ranges, (a, b) => {
        const difference = subtract(rangeSet(a), rangeSet(b))
        expect(contained(difference)).toEqual(universe.filter((address) => within(a, address) && !within(b, address)))
        expect(rangeSet(difference)).toEqual(difference)
      }),
      runs,
    )
  })

  it('finds the lowest free addresses of a size, and the ranges that overlap another', () => {
    fc.assert(
      fc.property(ranges, range, fc.integer({ min: 1, max: 6 }), (all, inside, size) => {
        const set = rangeSet(all)
        const fits = (first: bigint): boolean => {
          const run = Array.from({ length: size }, (_, step) => ({
            family: inside.family,
            value: first + BigInt(step),
          }))
          return run.every((address) => address.value <= inside.last && !within(all, address))
        }
        const first = universe.find(
          (address) => address.value >= inside.first && address.value <= inside.last && fits(address.value),
        )
        expect(firstFree(inside, set, size)?.first).toBe(first?.value)
        expect(overlappingRanges(set, inside)).toEqual(set.filter((range) => rangesOverlap(range, inside)))
        expect(
          setSize(freeRanges(inside, set)) +
            setSize(overlappingRanges(set, inside).flatMap((range) => subtract([range], subtract([range], [inside])))),
        ).toBe(inside.last - inside.first + 1n)
      }),
      runs,
    )
  })
})

describe('findOverlaps', () => {
  it('reports every overlapping pair and no other', () => {
    fc.assert(
      fc.property(ranges, (all) => {
        const named = all.map((range, id) => ({ ...range, id }))
        const key = (a: number, b: number): string => [a, b].sort((x, y) => x - y).join()
        const expected = new Set<string>()
        for (const a of named)
          for (const b of named) if (a.id < b.id && rangesOverlap(a, b)) expected.add(key(a.id, b.id))
        const { pairs, more } = findOverlaps(named)
        expect(pairs).toHaveLength(expected.size)
        expect(new Set(pairs.map(([a, b]) => key(a.id, b.id)))).toEqual(expected)
        expect(more).toBe(false)
      }),
      runs,
    )
  })

  it('omits allowed pairs, and stops at the limit and says so', () => {
    const all = Array.from({ length: 10 }, (_, id) => ({ family: 4 as const, first: 0n, last: 9n, id }))
    expect(findOverlaps(all, { allowed: () => true }).pairs).toEqual([])
    const cut = findOverlaps(all, { limit: 5 })
    expect(cut.pairs).toHaveLength(5)
    expect(cut.more).toBe(true)
  })
})

describe('an allocator', () => {
  const sizes = fc.constantFrom(1n, 5n, 31n, 32n, 33n, 64n, 100n, 1n << 70n)
  const step = fc.oneof(
    fc.constant({ kind: 'next' as const }),
    fc.nat(70).map((at) => ({ kind: 'take' as const, at: BigInt(at) })),
  )

  it('allocates the lowest free address, each once, whatever is taken in between', () => {
    fc.assert(
      fc.property(sizes, ranges, fc.array(step, { maxLength: 60 }), (size, excluded, steps) => {
        const range: Range = { family: 6, first: 3n, last: 3n + size - 1n }
        const allocator = createAllocator(range, excluded)
        const taken = new Set<bigint>()
        const free = (value: bigint): boolean =>
          value >= range.first && value <= range.last && !taken.has(value) && !within(excluded, { family: 6, value })
        for (const step of steps) {
          if (step.kind === 'next') {
            let lowest: bigint | undefined = range.first
            while (lowest !== undefined && !free(lowest)) lowest = lowest < range.last ? lowest + 1n : undefined
            expect(allocator.next()).toBe(lowest)
            if (lowest !== undefined) taken.add(lowest)
          } else {
            const possible = free(step.at)
            expect(allocator.take(step.at)).toBe(possible)
            if (possible) taken.add(step.at)
          }
        }
        const usable = setSize(subtract([range], rangeSet(excluded)))
        expect(allocator.free()).toBe(usable - BigInt(taken.size))
      }),
      runs,
    )
  })
})
