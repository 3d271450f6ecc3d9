import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from './round-trip.ts'
import { splitLines } from './watch-stream.ts'

async function* cut(bytes: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  let at = 0
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
    await Promise.resolve()
  }
}

describe('splitLines', () => {
  it('returns the same lines however the network splits them, and marks an unfinished one', async () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')))
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(lines, fc.string({ unit: 'grapheme-ascii' }), sizes, async (whole, rest, chunks) => {
        const last = rest.replaceAll('\n', '')
        const bytes = Buffer.from(whole.map((line) => `${line}\n`).join('') + last)
        const seen: { line: string; complete: boolean }[] = []
        for await (const splitLine of splitLines(cut(bytes, chunks))) seen.push(splitLine)
        const expected = whole.map((line) => ({ line, complete: true }))
        expect(seen).toEqual(last === '' ? expected : [...expected, { line: last, complete: false }])
      }),
    )
  })
})

describe('parseRetryAfter', () => {
  it.each([
    ['3', 3000],
    ['0', 0],
    ['Thu, 01 Jan 1970 00:00:10 GMT', 9000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('reads %s as %s ms', (value, expected) => {
    expect(parseRetryAfter(value === undefined ? {} : { 'retry-after': value }, 1000)).toBe(expected)
  })
})
