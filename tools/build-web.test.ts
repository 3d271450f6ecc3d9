/** Checks what the page of the console loads: its size, its packages, and that it has none of the program's code. */
import { gzipSync } from 'node:zlib'
import type { Metafile, OutputFile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleWeb } from './build-web.ts'

const BUDGET = 60 * 1024

let files: readonly OutputFile[] = []
let inputs: Metafile['inputs'] = {}

beforeAll(async () => {
  const { outputFiles, metafile } = await bundleWeb({ outdir: 'dist/web', write: false, metafile: true })
  files = outputFiles ?? []
  inputs = metafile?.inputs ?? {}
})

describe('the page of the console', () => {
  it('has at most 60 KB of compressed JavaScript', () => {
    const scripts = files.filter(({ path }) => path.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(0)
    const size = scripts.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0)
    expect(size).toBeLessThanOrEqual(BUDGET)
  })

  it('shares with the program only the routes and the fold of events', () => {
    const shared = Object.keys(inputs).filter((source) => source.startsWith('src/'))
    expect(shared.toSorted()).toEqual(['src/console/routes.ts', 'src/run/run-view.ts'])
  })

  it('loads dagre only for the graph of stages', () => {
    const main = files.find(({ path }) => path.endsWith('/main.js'))
    expect(main?.text).toBeDefined()
    expect(main?.text).not.toContain('rankdir')
    expect(files.some(({ path, text }) => path.endsWith('.js') && text.includes('rankdir'))).toBe(true)
  })

  it('names no outside resource', () => {
    for (const { path, text } of files.filter(({ path: name }) => /\.(js|css)$/.test(name))) {
      const addresses = text.match(/(?:https?:)?\/\/[a-z][\w.-]+\.[a-z]{2,}/gi) ?? []
      // Names of XML namespaces, which no browser loads.
      expect({ path, outside: addresses.filter((address) => !address.endsWith('//www.w3.org')) }).toEqual({
        path,
        outside: [],
      })
    }
  })
})
