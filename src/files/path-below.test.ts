import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resolveBelow } from './path-below.ts'

let base: string
let folder: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'stackloom-below-')))
  folder = path.join(base, 'tree')
  mkdirSync(path.join(folder, 'a/b'), { recursive: true })
  mkdirSync(path.join(base, 'outside'))
  writeFileSync(path.join(base, 'outside/file'), 'x')
  symlinkSync('../outside', path.join(folder, 'link'))
  symlinkSync('../../outside/file', path.join(folder, 'a/file'))
  symlinkSync('missing', path.join(folder, 'dangling'))
})
afterEach(() => rmSync(base, { recursive: true }))

describe('resolveBelow', () => {
  it('returns a path below the folder or nothing, for any text', () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b', 'link', 'file', 'dangling', '/', '\\', '\0', '...', 'x y')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.constantFrom('/', ''), (parts, separator) => {
        const name = parts.join(separator)
        const resolved = resolveBelow(folder, name)
        if (resolved === undefined) return
        expect(resolved.startsWith(`${folder}/`)).toBe(true)
        expect(path.relative(folder, resolved)).toBe(name)
        expect(name).not.toMatch(/^(link|dangling)(\/|$)|^a\/file(\/|$)/)
      }),
      { numRuns: 500 },
    )
  })

  it.each(['a/b/new', 'a/b', 'new/deep/file', '...'])('accepts %s', (name) => {
    expect(resolveBelow(folder, name)).toBe(path.join(folder, name))
  })

  it.each(['../tree/a', '/etc/passwd', 'link/file', 'a/file', 'dangling', '', '.', 'a/../a'])('refuses %j', (name) => {
    expect(resolveBelow(folder, name)).toBeUndefined()
  })

  it('follows a link that is the folder itself', () => {
    symlinkSync('tree', path.join(base, 'alias'))
    expect(resolveBelow(path.join(base, 'alias'), 'a/b')).toBe(path.join(folder, 'a/b'))
  })
})
