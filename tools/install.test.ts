import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { outdated } from './install.mjs'

const lock = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', optional: true },
  },
}
const installed = (packages: Readonly<Record<string, { readonly version: string }>>) => ({ packages })

describe('what is installed', () => {
  it('is right with every package of the lock file, optional ones of other platforms left out', () => {
    expect(outdated(lock, installed({ 'node_modules/a': { version: '1.0.0' } }))).toBe(false)
  })

  it('is outdated when a package is missing, has another version, or is too many', () => {
    expect(outdated(lock, installed({}))).toBe(true)
    expect(outdated(lock, installed({ 'node_modules/a': { version: '1.0.1' } }))).toBe(true)
    const more = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/c': { version: '1.0.0' } }
    expect(outdated(lock, installed(more))).toBe(true)
  })
})

it('the lock file names the packages of every platform, without which npm ci refuses to start', () => {
  interface Locked {
    readonly optionalDependencies?: Readonly<Record<string, string>>
  }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  const missing = Object.entries(packages).flatMap(([name, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (key) => !packages[`node_modules/${key}`] && !packages[`${name}/node_modules/${key}`],
    ),
  )
  expect(missing).toEqual([])
})
