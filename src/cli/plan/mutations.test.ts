/** Site files with a few bytes wrong: whatever happens to a file, its owner gets findings with places, never a crash. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../../test/counts.ts'
import { testIo } from '../../../test/io.ts'
import { readSite } from '../../site/read.ts'
import { main } from '../main.ts'

const examples = path.join(import.meta.dirname, '../../../examples')
const files = ['small', 'two-clouds', 'networking-2023', 'every-service'].map((name) =>
  readFileSync(path.join(examples, `${name}.yaml`)),
)

/** Bytes that mean something to YAML or to UTF-8 come up more often than chance would have it. */
const byte = fc.oneof(
  fc.integer({ min: 0, max: 255 }),
  fc.constantFrom(...Buffer.from('{}[]:,-#&*!|>\'"%@`\n\t \\0129.~<='), 0, 0x80, 0xc3, 0xe2, 0xff, 0xfe),
)

const mutation = fc.record({
  kind: fc.constantFrom('change', 'insert', 'remove', 'repeat', 'cut'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.integer({ min: 1, max: 40 }),
  byte,
})
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never

function mutate(bytes: Buffer, { kind, at, length, byte: value }: Mutation): Buffer {
  const from = Math.floor(at * bytes.length)
  const [before, after] = [bytes.subarray(0, from), bytes.subarray(from)]
  if (kind === 'cut') return before
  if (kind === 'remove') return Buffer.concat([before, after.subarray(length)])
  if (kind === 'repeat') return Buffer.concat([before, after.subarray(0, length), after])
  const one = Buffer.from([value])
  return Buffer.concat([before, one, kind === 'insert' ? after : after.subarray(1)])
}

const broken = fc
  .tuple(fc.constantFrom(...files), fc.array(mutation, { minLength: 1, maxLength: 3 }))
  .map(([file, mutations]) => mutations.reduce(mutate, file))

describe('a site file with wrong bytes', { timeout: 240_000 }, () => {
  it('is read, or refused with a location for every reason', () => {
    fc.assert(
      fc.property(broken, (bytes) => {
        const { site, findings } = readSite(bytes, 'site.yaml')
        if (!site) expect(findings.length).toBeGreaterThan(0)
        for (const finding of findings) {
          expect(finding.where).toMatchObject({ file: 'site.yaml' })
          expect(finding).not.toHaveProperty('where.line', 0)
        }
      }),
      { numRuns: count({ test: 500, soak: 10_000 }) },
    )
  })

  it('never crashes the program or shows a stack trace', async () => {
    await fc.assert(
      fc.asyncProperty(broken, async (bytes) => {
        const io = testIo({ stdin: Readable.from([bytes]) })
        expect([0, 1, 2]).toContain(await main(['plan', '-f', '-'], io))
        expect(io.err()).not.toContain('SL1000')
        expect(io.err()).not.toMatch(/\n\s+at .*:\d+/)
      }),
      { numRuns: count({ test: 150, soak: 10_000 }) },
    )
  })
})
