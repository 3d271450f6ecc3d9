/** Checks what the built program loads by esbuild's metafile, without timing anything. */
import type { Metafile } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildProgram } from './build.ts'

let outputs: Metafile['outputs'] = {}

beforeAll(async () => {
  const { metafile } = await buildProgram('test', { write: false, metafile: true })
  outputs = metafile?.outputs ?? {}
})

/** The source file that a chunk starts with, whether it is loaded at once or on demand. */
const entryPoint = (chunk: Metafile['outputs'][string]): string | undefined =>
  chunk.entryPoint?.replace(/^on-demand:/, '')

/** The chunk that starts with this source file. */
function findChunk(source: string): string {
  const found = Object.entries(outputs).find(([, one]) => entryPoint(one) === source)
  if (!found) throw new Error(`no chunk starts with ${source}`)
  return found[0]
}

/** A chunk and everything that it imports statically. */
function staticImports(chunk: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(chunk)) return seen
  seen.add(chunk)
  for (const { path, kind } of outputs[chunk]?.imports ?? []) {
    if (kind === 'import-statement' && outputs[path]) staticImports(path, seen)
  }
  return seen
}

function sourceFiles(chunk: string): readonly string[] {
  return [...staticImports(chunk)].flatMap((one) => Object.keys(outputs[one]?.inputs ?? {}))
}

const packageName = (source: string): string | undefined => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]

describe('the built program', () => {
  it('loads only commander and picocolors for --help', () => {
    const packages = new Set(sourceFiles(findChunk('src/cli/entry.ts')).map(packageName))
    packages.delete(undefined)
    expect(packages).toEqual(new Set(['commander', 'picocolors']))
  })

  it('loads no command and no other folder for --help', () => {
    const sources = sourceFiles(findChunk('src/cli/entry.ts')).filter((source) => !packageName(source))
    expect(sources.filter((source) => !/^src\/(cli\/[^/]+\.ts|cli\/output\/|errors\/)/.test(source))).toEqual([])
  })

  it('loads one command without any other', () => {
    const commands = Object.values(outputs).flatMap((chunk) => {
      const start = entryPoint(chunk)
      return start && /^src\/cli\/[^/]+\/(command|respond)\.ts$/.test(start) ? [start] : []
    })
    expect(commands.length).toBeGreaterThan(1)
    const loadedTogether = commands.flatMap((command) =>
      sourceFiles(findChunk(command))
        .filter((source) => commands.includes(source) && source !== command)
        .map((source) => `${command} loads ${source}`),
    )
    expect(loadedTogether).toEqual([])
  })

  it('loads neither the renderer nor the driver to check a lab', () => {
    const sources = sourceFiles(findChunk('src/cli/lab/command.ts'))
    expect(sources).toContain('src/lab/check/check-lab.ts')
    expect(
      sources.filter((source) =>
        /^src\/(exec|pki|run)\/|^src\/lab\/(tree-files|render-lab|drive\/(?!names|stage\.))/.test(source),
      ),
    ).toEqual([])
  })

  it('has few chunks: opening a file takes longer than parsing most of them', () => {
    const files = (...parts: readonly string[]): number =>
      new Set(['src/cli/entry.ts', ...parts].flatMap((part) => [...staticImports(findChunk(part))])).size
    expect(files()).toBeLessThanOrEqual(2)
    expect(files('src/cli/lab/command.ts')).toBeLessThanOrEqual(11)
    expect(files('src/cli/lab/command.ts', 'src/lab/render-lab.ts')).toBeLessThanOrEqual(14)
  })
})
