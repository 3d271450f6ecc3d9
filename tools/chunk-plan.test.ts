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

const freeFor = (part: string, files: Readonly<Record<string, string>>, groups: readonly (readonly string[])[] = []) =>
  chunkPlan(sources(files), 'entry', groups).get(part)?.toSorted()

describe('the chunk plan of a part', () => {
  it('has what is loaded before the part is demanded, but never the entry', () => {
    expect(freeFor('plan', { entry: 'main', main: 'errors plan*', errors: '', plan: '' })).toEqual(['errors', 'main'])
  })

  it('leaves out files that the part imports', () => {
    expect(freeFor('plan', { entry: 'main', main: 'errors plan*', errors: '', plan: 'errors' })).toEqual(['main'])
  })

  it('has what all paths to the part have in common', () => {
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

  it('terminates when parts demand each other', () => {
    expect(freeFor('b', { entry: 'a*', a: 'x b*', b: 'y a*', x: '', y: '' })).toEqual(['a', 'x'])
    expect(freeFor('a', { entry: 'a*', a: 'x b*', b: 'y a*', x: '', y: '' })).toEqual([])
  })

  it('has the whole group of a file that the part needs, with its imports', () => {
    const files = {
      entry: 'ip* init*',
      ip: 'net/range',
      init: '',
      'net/range': '',
      'net/cidr': 'text',
      text: '',
    }
    expect(freeFor('ip', files, [['net/']])).toEqual(['net/cidr', 'text'])
    expect(freeFor('init', files, [['net/']])).toEqual([])
  })

  it('has groups that are reached through another group', () => {
    const files = {
      entry: 'lab*',
      lab: 'yaml/read',
      'yaml/read': '',
      'yaml/write': 'net/range',
      'net/range': '',
      'net/cidr': '',
      'plan/ledger': '',
    }
    expect(freeFor('lab', files, [['net/'], ['yaml/'], ['plan/']])).toEqual(['net/cidr', 'net/range', 'yaml/write'])
  })

  it('refuses a group that names files which are not there', () => {
    expect(() => freeFor('ip', { entry: 'ip*', ip: '' }, [['net/']])).toThrow('net/')
  })
})
