import { describe, expect, it } from 'vitest'
import { chunkPlan, type Sources } from './chunk-plan.ts'

/** Sources that are too large to be loaded by a part that does not need them. */
const LARGE = 1_000_000

/** `a: 'b c*'` is a file that imports b, and c on demand. */
function sources(files: Readonly<Record<string, string>>, sizes: Readonly<Record<string, number>>): Sources {
  const imports = (words: string) =>
    words
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => ({
        path: word.replace('*', ''),
        kind: word.endsWith('*') ? 'dynamic-import' : 'import-statement',
      }))
  return Object.fromEntries(
    Object.entries(files).map(([file, words]) => [file, { bytes: sizes[file] ?? LARGE, imports: imports(words) }]),
  )
}

interface Settings {
  readonly groups?: readonly (readonly string[])[]
  readonly sizes?: Readonly<Record<string, number>>
}

const freeFor = (
  part: string,
  files: Readonly<Record<string, string>>,
  { groups = [], sizes = {} }: Settings = {},
): readonly string[] | undefined => chunkPlan(sources(files, sizes), 'entry', groups).get(part)?.toSorted()

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
    expect(freeFor('ip', files, { groups: [['net/']] })).toEqual(['net/cidr', 'text'])
    expect(freeFor('init', files, { groups: [['net/']] })).toEqual([])
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
    expect(freeFor('lab', files, { groups: [['net/'], ['yaml/'], ['plan/']] })).toEqual([
      'net/cidr',
      'net/range',
      'yaml/write',
    ])
  })

  it('refuses a group that names files which are not there', () => {
    expect(() => freeFor('ip', { entry: 'ip*', ip: '' }, { groups: [['net/']] })).toThrow('net/')
  })

  it('has small files that other parts load together with the files that it needs', () => {
    const files = { entry: 'ip* plan* dns*', ip: 'range', plan: 'range cidr', dns: 'range cidr', range: '', cidr: '' }
    expect(freeFor('ip', files, { sizes: { cidr: 100 } })).toEqual(['cidr'])
    expect(freeFor('ip', files)).toEqual([])
  })

  it('has no small file that imports a large one', () => {
    const files = { entry: 'ip* plan*', ip: 'range', plan: 'range cidr', range: '', cidr: 'table', table: '' }
    expect(freeFor('ip', files, { sizes: { range: 100, cidr: 100 } })).toEqual([])
  })

  it('has no file of a part that shares nothing with it', () => {
    const files = { entry: 'ip* init*', ip: 'range', init: 'starter', range: '', starter: '' }
    expect(freeFor('init', files, { sizes: { ip: 1, init: 1, range: 1, starter: 1 } })).toEqual([])
  })
})
