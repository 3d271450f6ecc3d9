import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseIni } from './parse.ts'
import { type IniOption, writeIni } from './write.ts'

function written(options: readonly IniOption[]): string {
  const result = writeIni(options)
  if (result.kind === 'refused') throw new Error(result.findings.map((finding) => finding.message).join())
  return result.text
}

const options = fc.array(
  fc.record({
    section: fc.constantFrom('DEFAULT', 'libvirt', ' odd ', 'a]b'),
    key: fc.constantFrom('debug', 'alias', 'log-dir', 'x y'),
    value: fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('"', "'", ' ', 'a', '\t', '#', '[', '=', '\n', '$') }),
    ),
  }),
)

describe('writeIni', () => {
  it('writes plain, readable lines', () => {
    const text = written([
      { section: 'DEFAULT', key: 'debug', value: 'true' },
      { section: 'pci', key: 'alias', value: 'a' },
      { section: 'pci', key: 'alias', value: 'b\nc' },
      { section: 'vnc', key: 'empty', value: '' },
    ])
    expect(text).toBe('[DEFAULT]\ndebug = true\n\n[pci]\nalias = a\nalias = b\n    c\n\n[vnc]\nempty =\n')
  })

  it('writes a header as comments', () => {
    const result = writeIni([{ section: 'a', key: 'b', value: 'c' }], { header: ['Generated.'] })
    expect(result).toEqual({ kind: 'written', text: '# Generated.\n\n[a]\nb = c\n' })
  })

  it.each([
    ['a value with an empty line', { section: 'a', key: 'b', value: '1\n\n2' }],
    ['a value with a line break at its end', { section: 'a', key: 'b', value: 'secret\n' }],
    ['a value with a carriage return', { section: 'a', key: 'b', value: 'x\r' }],
    ['a key with =', { section: 'a', key: 'b=c', value: '' }],
    ['a key that starts a comment', { section: 'a', key: '#b', value: '' }],
    ['no section', { section: '', key: 'b', value: '' }],
  ])('rejects %s and never shows the value', (_, option) => {
    const result = writeIni([option])
    expect(result.kind).toBe('refused')
    expect(JSON.stringify(result)).not.toContain('secret')
  })

  it('is read back to exactly what was written, and written again to the same bytes', () => {
    fc.assert(
      fc.property(options, (wanted) => {
        const result = writeIni(wanted)
        if (result.kind === 'refused') return
        const read = parseIni(result.text)
        expect(read.errors).toEqual([])
        expect(read.assignments.map(({ section, key, value }) => ({ section, key, value }))).toEqual(wanted)
        expect(written(read.assignments)).toBe(result.text)
      }),
    )
  })
})
