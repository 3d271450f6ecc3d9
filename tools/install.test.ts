import { spawnSync } from 'node:child_process'
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

// npm fills in a hash only for what it downloads, and the registry of the build has Linux packages only.
it('the lock file has a hash of every package but builds of development tools for other platforms than Linux', () => {
  interface Locked {
    readonly integrity?: string
    readonly optional?: boolean
    readonly dev?: boolean
    readonly link?: boolean
    readonly os?: readonly string[]
    readonly cpu?: readonly string[]
  }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  const unverified = Object.entries(packages).filter(([name, { integrity, optional, dev, link, os, cpu = [] }]) => {
    const isLinux = (!os || os.includes('linux')) && (cpu.includes('x64') || cpu.includes('arm64') || cpu.length === 0)
    return name !== '' && !link && !integrity?.startsWith('sha512-') && !(optional && dev && !isLinux)
  })
  expect(unverified.map(([name]) => name)).toEqual([])
})

describe('the image', () => {
  const text = readFileSync('Containerfile', 'utf8')
  const [, check = ''] = /^RUN (case "\$NODE_IMAGE" .*)$/m.exec(text) ?? []

  it('has no base image but the one that is given', () => {
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(bases).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}'])
    expect(text).toMatch(/^ARG NODE_IMAGE$/m)
  })

  it.each([
    [`node:20-slim@sha256:${'a'.repeat(64)}`, 0],
    ['node:20-slim', 1],
    ['', 1],
  ])('is built from %j only with a digest', (image, status) => {
    const env = { PATH: process.env['PATH'], NODE_IMAGE: image }
    expect(spawnSync('sh', ['-c', check], { env }).status).toBe(status)
  })
})
