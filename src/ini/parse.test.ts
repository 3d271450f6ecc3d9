import { describe, expect, it } from 'vitest'
import { parseIni } from './parse.ts'

function values(text: string): readonly (readonly [string, string, string])[] {
  return parseIni(text).assignments.map(({ section, key, value }) => [section, key, value] as const)
}

function errors(text: string): readonly string[] {
  return parseIni(text).errors.map(({ kind, line }) => `${line} ${kind}`)
}

describe('parseIni', () => {
  it('keeps every assignment in order with its line, including repeated options', () => {
    expect(parseIni('[pci]\nalias = a\n# more\nalias = b\n').assignments).toEqual([
      { section: 'pci', key: 'alias', value: 'a', line: 2 },
      { section: 'pci', key: 'alias', value: 'b', line: 4 },
    ])
  })

  it('splits at the first = or :, whichever comes first', () => {
    expect(values('[a]\nurl = http://x:1\nb: c = d\n')).toEqual([
      ['a', 'url', 'http://x:1'],
      ['a', 'b', 'c = d'],
    ])
  })

  it('recognises comments only at the start of a line', () => {
    expect(values('[a]\n; no\n# no\nurl = rabbit://u:p#1;x@h\n')).toEqual([['a', 'url', 'rabbit://u:p#1;x@h']])
  })

  it('joins indented lines to the value above, until an empty line, a comment or a line that is not indented', () => {
    expect(values('[a]\nx = 1\n  2\n\t3\ny =\n  4\n')).toEqual([
      ['a', 'x', '1\n2\n3'],
      ['a', 'y', '\n4'],
    ])
    expect(errors('[a]\nx = 1\n\n  2\n')).toEqual(['4 stray-continuation', '4 no-separator'])
    expect(errors('[a]\nx = 1\n# c\n  y = 2\n')).toEqual(['4 stray-continuation'])
  })

  it('removes one pair of equal quotes', () => {
    expect(values('[a]\nb = "x"\nc = \'\'y\'\'\nd = "z\'\ne = "\nf = ""\n').map(([, , value]) => value)).toEqual([
      'x',
      "'y'",
      '"z\'',
      '',
      '',
    ])
  })

  it('treats CRLF and a single CR as line ends, and a byte order mark as a character', () => {
    expect(values('[a]\r\nb = 1\rc = 2')).toEqual([
      ['a', 'b', '1'],
      ['a', 'c', '2'],
    ])
    expect(errors('\ufeff[a]\n')).toEqual(['1 no-separator'])
  })

  it('reports the line of an option without a section, and the line where oslo.config notices it', () => {
    expect(parseIni('\na = 1\n\n').errors).toEqual([{ kind: 'no-section', line: 2, noticed: 3, text: 'a' }])
  })

  it('continues after an error to find the others, and reports one indented block as one error', () => {
    const text = '  [DEFAULT]\n  debug = true\n[x\n[]\n= 1\nword\n'
    expect(errors(text)).toEqual([
      '1 stray-continuation',
      '3 unclosed-section',
      '4 empty-section',
      '5 empty-key',
      '6 no-separator',
    ])
    expect(values(text)).toEqual([['DEFAULT', 'debug', 'true']])
  })
})
