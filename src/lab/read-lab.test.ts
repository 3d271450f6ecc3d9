import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { count } from '../../test/counts.ts'
import { labText } from '../../test/lab.ts'
import { isFileLocation } from '../errors/finding.ts'
import { readLab } from './read-lab.ts'

const base = labText()

/** One change of a file: cut, copy or insert text, or replace a word. */
const mutation = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), offset: fc.nat(base.length), length: fc.nat(40) }),
  fc.record({
    kind: fc.constant('insert' as const),
    offset: fc.nat(base.length),
    text: fc.string({ maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('word' as const),
    offset: fc.nat(base.length),
    text: fc.constantFrom(
      'null',
      '-1',
      '[]',
      '{}',
      '99999999',
      '::',
      '10.0.0.0/8',
      '"',
      '&a',
      '*a',
      'true',
      '{{ x }}',
      '\t',
    ),
  }),
  fc.record({ kind: fc.constant('copy' as const), offset: fc.nat(base.length), length: fc.nat(200) }),
)

function apply(text: string, change: typeof mutation extends fc.Arbitrary<infer T> ? T : never): string {
  const head = text.slice(0, change.offset)
  const tail = text.slice(change.offset)
  if (change.kind === 'cut') return head + tail.slice(change.length)
  if (change.kind === 'copy') return head + tail.slice(0, change.length) + tail
  if (change.kind === 'insert') return head + change.text + tail
  return head + tail.replace(/[\w./"-]+/, change.text)
}

describe('readLab', () => {
  it('returns a lab or findings with positions for any text, and never throws', () => {
    const runs = count({ test: 250, soak: 5000 })
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        const { lab, findings } = readLab(mutations.reduce(apply, base), 'lab.yaml')
        if (!lab) expect(findings.length).toBeGreaterThan(0)
        for (const { where } of findings)
          if (!where || !isFileLocation(where) || where.line < 1 || where.column < 1) throw new Error('no position')
      }),
      { numRuns: runs },
    )
  }, 600_000)

  it('names a misspelt field and the closest known one', () => {
    const { findings } = readLab(base.replace('networks:', 'netwroks:'), 'lab.yaml')
    expect(findings.map((finding) => finding.message).join()).toContain('networks')
  })
})
