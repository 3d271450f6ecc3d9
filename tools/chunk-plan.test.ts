import { describe, expect, it } from 'vitest'
import { chunkPlan, type Sources } from './chunk-plan.ts'

/** `a: 'b c*'` is a file that imports b, and c on demand. */
function sources(files: Readonly<Record<string, string>>): Sources {
  const imports = (words: string) =>
    words
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ({
        path: word.replace('*', ''),
        kind: word.endsWith('*') ? 'dynamic-import' : 'import-statement',
      }))
  return Object.fromEntries(Object.entries(files).map(([file, words]) => [file, { imports: imports(words) }]))
}

const freeFor = (part: string, files: Readonly<Record<string, string>>, companies: readonly RegExp[] = []) =>
  chunkPlan(sources(files), 'entry', companies).get(part)?.toSorted()

describe('what a part may reach for nothing', () => {
  it('is what the program has loaded before it demands a command, but never the entry itself', () => {
    expect(freeFor('plan', { entry: 'main', main: 'errors plan*', errors: '', plan: '' })).toEqual(['errors', 'main'])
  })

  it('is no file that it reaches itself', () => {
    expect(freeFor('plan', { entry: 'main', main: 'errors plan*', errors: '', plan: 'errors' })).toEqual(['main'])
  })

  it('is what all ways to it have in common, however long they are', () => {
    const files = {
      entry: 'lab* plan*',
      lab: 'yaml net write*',
      plan: 'yaml more*',
      more: 'write*',
      write: '',
      yaml: '',
      net: '',
    }
    expect(freeFor('write', files)).toEqual(['yaml'])
  })

  it('comes to an end where parts demand each other', () => {
    expect(freeFor('b', { entry: 'a*', a: 'x b*', b: 'y a*', x: '', y: '' })).toEqual(['a', 'x'])
    expect(freeFor('a', { entry: 'a*', a: 'x b*', b: 'y a*', x: '', y: '' })).toEqual([])
  })

  it('is a whole company of small files with what they import, for a part that needs one of them', () => {
    const files = {
      entry: 'ip* init*',
      ip: 'net/range',
      init: '',
      'net/range': '',
      'net/cidr': 'text',
      text: '',
    }
    expect(freeFor('ip', files, [/^net/])).toEqual(['net/cidr', 'text'])
    expect(freeFor('init', files, [/^net/])).toEqual([])
  })

  it('is every company that it gets to through another one', () => {
    const files = {
      entry: 'lab*',
      lab: 'yaml/read',
      'yaml/read': '',
      'yaml/write': 'net/range',
      'net/range': '',
      'net/cidr': '',
      'plan/ledger': '',
    }
    expect(freeFor('lab', files, [/^net/, /^yaml/, /^plan/])).toEqual(['net/cidr', 'net/range', 'yaml/write'])
  })
})
