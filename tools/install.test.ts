import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isOutdated } from './install.mjs'

const lock = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '2.0.0', optional: true },
  },
}
const installed = (packages: Readonly<Record<string, { readonly version: string }>>) => ({ packages })

describe('the installed packages', () => {
  it('are up to date without optional packages of other platforms', () => {
    expect(isOutdated(lock, installed({ 'node_modules/a': { version: '1.0.0' } }))).toBe(false)
  })

  it('are outdated when a package is missing, superfluous or of another version', () => {
    expect(isOutdated(lock, installed({}))).toBe(true)
    expect(isOutdated(lock, installed({ 'node_modules/a': { version: '1.0.1' } }))).toBe(true)
    const more = { 'node_modules/a': { version: '1.0.0' }, 'node_modules/c': { version: '1.0.0' } }
    expect(isOutdated(lock, installed(more))).toBe(true)
  })
})

it('the lock file lists the packages of every platform, which npm ci requires', () => {
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
