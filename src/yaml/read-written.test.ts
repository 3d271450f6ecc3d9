import * as fc from 'fast-check'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { readWritten } from './read-written.ts'
import { writeYaml } from './write.ts'

const text = fc.oneof(
  fc.constantFrom('a', 'a:b', 'yes', '10.0.0.1', '"', '- a', 'a: b', '12', 'null', '', ' ', '#', '[]', '__proto__'),
  fc.string(),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  record: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
}))

test('reads what was written, or leaves it to a YAML parser', () => {
  fc.assert(
    fc.property(value, (written) => {
      const read = readWritten(writeYaml(written))
      if (read !== undefined) expect(JSON.stringify(read)).toBe(JSON.stringify(written))
    }),
  )
})

test('reads records, lists of records and quoted texts itself', () => {
  const written = { a: { b: [{ c: 'x', d: ['10.0.0.1', '12'] }, { c: '- y: z' }] }, 'f:g': [], h: {}, i: -3, '1': true }
  expect(readWritten(writeYaml(written))).toEqual(written)
})

test('leaves a text unread that is nested too deeply to be walked', () => {
  const lines = Array.from({ length: 5000 }, (_, depth) => `${' '.repeat(2 * depth)}a:`)
  expect(readWritten(`${lines.join('\n')} b\n`)).toBeUndefined()
})

test('never reads a changed text as something else than a YAML parser does', () => {
  const lines = writeYaml({ a: { b: [{ c: 'x', d: ['10.0.0.1', '12'] }], e: '- y: z' }, f: [], g: 4 }).split('\n')
  const piece = fc.constantFrom('', ' ', '  ', '- ', ': ', '"', '#', 'a', '1', '[]', '{}', '&a ', '*a', '|', 'null')
  fc.assert(
    fc.property(fc.nat(lines.length - 1), fc.nat(12), fc.nat(3), piece, (row, column, removed, added) => {
      const line = lines[row] ?? ''
      const changed = line.slice(0, column) + added + line.slice(column + removed)
      const whole = lines.with(row, changed).join('\n')
      const read = readWritten(whole)
      if (read !== undefined) expect(load(whole)).toEqual(read)
    }),
    { numRuns: 1000 },
  )
})
