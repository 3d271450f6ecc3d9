import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readData } from './data.ts'

describe('readData', () => {
  it('reads a file of data/ from the source', () => {
    expect(readData('README.md')).toBe(readFileSync('data/README.md', 'utf8'))
  })

  it('names the file that is missing', () => {
    expect(() => readData('no/such.json')).toThrow('the package has no data/no/such.json')
  })
})
