/** What the built program loads, by esbuild's own account of its chunks: no stopwatch, no noise. */
import type { Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildOptions, buildProgram, withoutIdleRequire } from './build.ts'

let outputs: Metafile['outputs'] = {}

beforeAll(async () => {
  const { metafile } = await buildProgram('test', { write: false, metafile: true })
  outputs = metafile?.outputs ?? {}
})

/** The source file that a chunk starts with, whether it is loaded at once or on demand. */
const startOf = (chunk: Metafile['outputs'][string]): string | undefined => chunk.entryPoint?.replace(/^on-demand:/, '')

/** The chunk that starts with this source file. */
function chunkOf(source: string): string {
  const found = Object.entries(outputs).find(([, one]) => startOf(one) === source)
  if (!found) throw new Error(`no chunk starts with ${source}`)
  return found[0]
}

/** A chunk and all that comes with it, as long as nobody calls `import()`. */
function loadedWith(chunk: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(chunk)) return seen
  seen.add(chunk)
  for (const { path, kind } of outputs[chunk]?.imports ?? []) {
    if (kind === 'import-statement' && outputs[path]) loadedWith(path, seen)
  }
  return seen
}

function sourcesOf(chunk: string): readonly string[] {
  return [...loadedWith(chunk)].flatMap((one) => Object.keys(outputs[one]?.inputs ?? {}))
}

const packageOf = (source: string): string | undefined => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]

describe('the built program', () => {
  it('answers --help with commander and colours, and no other package', () => {
    const packages = new Set(sourcesOf(chunkOf('src/cli/entry.ts')).map(packageOf))
    packages.delete(undefined)
    expect(packages).toEqual(new Set(['commander', 'picocolors']))
  })

  it('answers --help without loading a command or the folders that do the work', () => {
    const own = sourcesOf(chunkOf('src/cli/entry.ts')).filter((source) => !packageOf(source))
    expect(own.filter((source) => !/^src\/(cli\/[^/]+\.ts|cli\/output\/|errors\/)/.test(source))).toEqual([])
  })

  it('loads one command without any other', () => {
    const commands = Object.values(outputs).flatMap((chunk) => {
      const start = startOf(chunk)
      return start && /^src\/cli\/[^/]+\/(command|respond)\.ts$/.test(start) ? [start] : []
    })
    expect(commands.length).toBeGreaterThan(1)
    const entangled = commands.flatMap((command) =>
      sourcesOf(chunkOf(command))
        .filter((source) => commands.includes(source) && source !== command)
        .map((source) => `${command} loads ${source}`),
    )
    expect(entangled).toEqual([])
  })

  it('checks a lab without loading what renders or drives one', () => {
    const sources = sourcesOf(chunkOf('src/cli/lab/command.ts'))
    expect(sources).toContain('src/lab/check/check-lab.ts')
    expect(
      sources.filter((source) =>
        /^src\/(exec|pki|run)\/|^src\/lab\/(tree-files|render-into|drive\/(?!names))/.test(source),
      ),
    ).toEqual([])
  })

  it('comes in few files: each costs a command more time than what most of them hold', () => {
    const files = (...parts: readonly string[]): number =>
      new Set(['src/cli/entry.ts', ...parts].flatMap((part) => [...loadedWith(chunkOf(part))])).size
    expect(files()).toBeLessThanOrEqual(2)
    expect(files('src/cli/lab/command.ts')).toBeLessThanOrEqual(11)
    expect(files('src/cli/lab/command.ts', 'src/lab/render-lab.ts')).toBeLessThanOrEqual(14)
  })

  it('gives a require of its own only to chunks that use it, and moves no line', () => {
    const banner = buildOptions('test').banner?.['js'] ?? ''
    expect(withoutIdleRequire(`${banner}\nexport const a = 1\n`)).toBe('\nexport const a = 1\n')
    const used = `${banner}\nexport const a = require('events')\n`
    expect(withoutIdleRequire(used)).toBe(used)
  })
})
