import { describe, expect, it } from 'vitest'
import { readYaml, readYamlStream } from './read.ts'

const text = `# a site
metadata: {name: lab}
spec:
  clouds:
  - name: rhoso1   # the first
    networks: &nets
      internalapi: {vlan: 20}
  - name: rhoso2
    networks: *nets
`

function codes(input: string | Uint8Array): readonly string[] {
  return readYaml(input, 'f').findings.map((finding) => finding.code)
}

describe('readYaml', () => {
  it('returns the value, and the location of every value and key', () => {
    const { value, findings, locate, locateKey } = readYaml(text, 'site.yaml')
    expect(findings).toEqual([])
    expect(value).toMatchObject({ spec: { clouds: [{ name: 'rhoso1' }, { name: 'rhoso2' }] } })
    expect(locate(['metadata', 'name'])).toEqual({ file: 'site.yaml', line: 2, column: 18 })
    expect(locateKey(['metadata', 'name'])).toEqual({ file: 'site.yaml', line: 2, column: 12 })
    expect(locate(['spec', 'clouds', 0, 'name'])).toEqual({ file: 'site.yaml', line: 5, column: 11 })
    expect(locate(['spec', 'clouds', 1])).toEqual({ file: 'site.yaml', line: 8, column: 5 })
  })

  it('follows an alias to where the value is written', () => {
    const { locate } = readYaml(text, 'site.yaml')
    const place = locate(['spec', 'clouds', 1, 'networks', 'internalapi', 'vlan'])
    expect(place).toEqual({ file: 'site.yaml', line: 7, column: 27 })
  })

  it('finds values behind a merge key', () => {
    const reading = readYaml('a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n', 'f')
    expect(reading.value).toEqual({ a: { x: 1 }, b: { x: 1, y: 2 } })
    expect(reading.locate(['b', 'x'])).toEqual({ file: 'f', line: 1, column: 11 })
  })

  it('locates a missing value at its closest parent', () => {
    const { locate } = readYaml(text, 'f')
    expect(locate(['spec', 'clouds', 1, 'nothing', 'here'])).toEqual({ file: 'f', line: 8, column: 5 })
    expect(locate(['spec', 'clouds', 7])).toEqual(locate(['spec', 'clouds']))
  })

  it('reads YAML 1.2: no, on and 12:30 are text, 0o7 is octal', () => {
    expect(readYaml('[no, on, 12:30, 0o7]', 'f').value).toEqual(['no', 'on', '12:30', 7])
  })

  it('reports the first syntax error only, because the parser misreads what follows', () => {
    const { findings } = readYaml('a: {b: 1\nc:\n- d: {e: f\n  g: [h\ni: j\n', 'f')
    expect(findings.map(({ code }) => code)).toEqual(['SL1012'])
    expect(readYaml('a: 1\na: 2\na: 3\n', 'f').findings).toHaveLength(2)
  })

  it.each([
    ['a tab as indentation', 'a:\n\tb: 1\n', 'SL1012', 2, 1],
    ['an unclosed bracket', 'a: [1, 2\nb: 3\n', 'SL1012', 2, 1],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'SL1013', 3, 1],
    ['an unknown tag', 'a: !secret x\n', 'SL1012', 1, 4],
    ['a second document', 'a: 1\n---\nb: 2\n', 'SL1012', 3, 1],
    ['an alias without anchor', 'a: 1\nb: *c\n', 'SL1014', 2, 4],
    ['an alias inside its anchor', 'a: &a\n- *a\n', 'SL1015', 2, 3],
    ['a merge of a scalar', 'a: &a 1\nb: {<<: *a}\n', 'SL1012', 2, 9],
    ['a merge of itself', 'a: &a\n- *a\nb:\n  <<: *a\n', 'SL1015', 2, 3],
    ['a mapping as a key', '? {a: 1}\n: 2\n', 'SL1012', 1, 3],
    ['an escape character', 'a: 1\nb: \u001b[0m\n', 'SL1011', 2, 4],
    ['bytes that are not UTF-8', new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]), 'SL1010', 1, 4],
    ['UTF-16', new Uint8Array(Buffer.from('\ufeffa: 1', 'utf16le')), 'SL1010', 1, 1],
  ])('rejects %s with its location', (_, input, code, line, column) => {
    const [first, ...others] = readYaml(input, 'f').findings
    expect(first).toMatchObject({ code, where: { file: 'f', line, column } })
    expect(others.filter((other) => other.code !== code)).toEqual([])
  })

  it('rejects an alias bomb without expanding it', () => {
    const levels = Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`)
    expect(codes(`a0: &a0 x\n${levels.join('\n')}\n`)).toEqual(['SL1015'])
  })

  it.each([
    ['brackets', '['.repeat(50_000)],
    ['closed brackets', '['.repeat(5000) + ']'.repeat(5000)],
    ['dashes', '- '.repeat(20_000)],
    ['braces', '{a: '.repeat(50_000)],
  ])('rejects %s that is nested too deeply', (_, input) => {
    expect(codes(input)).toContain('SL1015')
  })

  it('ignores a byte order mark and CRLF', () => {
    const { value, locate } = readYaml(new TextEncoder().encode('\ufeffa: 1\r\nb: 2\r\n'), 'f')
    expect(value).toEqual({ a: 1, b: 2 })
    expect(locate(['b'])).toEqual({ file: 'f', line: 2, column: 4 })
  })

  it('returns null for an empty text, and omits empty documents of a stream', () => {
    expect(readYaml('', 'f')).toMatchObject({ value: null, findings: [] })
    expect(readYaml('# only a comment\n', 'f')).toMatchObject({ value: null, findings: [] })
    expect(readYamlStream('---\n---\na: 1\n---\n# no\n---\nb: 2\n', 'f').map((reading) => reading.value)).toEqual([
      { a: 1 },
      { b: 2 },
    ])
  })

  it('does not let a key reach the prototype', () => {
    const { value } = readYaml('__proto__: {polluted: true}\n', 'f')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.keys(value as object)).toEqual(['__proto__'])
  })
})
