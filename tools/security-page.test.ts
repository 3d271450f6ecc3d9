import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const page = readFileSync('SECURITY.md', 'utf8')
/** The files of tests, each with the names of tests in quotes that follow it, up to the next file or cell. */
const references = [...page.matchAll(/`([\w./-]+\.test\.ts)`(?:: ("[^|`]*"))?/g)].map(([, file = '', names = '']) => ({
  file,
  names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = '']) => name),
}))

describe('SECURITY.md', () => {
  it('names tests that exist', () => {
    expect(references.length).toBeGreaterThan(50)
    const missing = references.flatMap(({ file, names }) => {
      const text = readFileSync(file, 'utf8')
      return names.filter((name) => !text.includes(`'${name}'`)).map((name) => `${file}: ${name}`)
    })
    expect(missing).toEqual([])
  })
})
