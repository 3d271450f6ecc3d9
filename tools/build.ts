/** Builds the program: one entry, split chunks, so that a command loads only what it needs. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

/** CommonJS dependencies inside an ESM bundle still call require. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);"

export function buildOptions(version: string): BuildOptions {
  return {
    entryPoints: { entry: 'src/cli/entry.ts' },
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: 'linked',
    minifySyntax: true,
    minifyWhitespace: true,
    define: { STACKLOOM_VERSION: JSON.stringify(version) },
    banner: { js: REQUIRE },
    logLevel: 'warning',
  }
}

/**
 * The bundler puts the banner into every chunk, and one of them uses it. A command loads dozens, and a require of its
 * own costs each of them time. The line stays, empty: source maps count lines.
 */
export function withoutIdleRequire(chunk: string): string {
  if (!chunk.startsWith(REQUIRE)) return chunk
  const code = chunk.slice(REQUIRE.length)
  return /\brequire\b/.test(code) ? chunk : code
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  rmSync('dist', { recursive: true, force: true })
  await build(buildOptions(version))
  for (const name of readdirSync('dist').filter((file) => file.endsWith('.js'))) {
    const file = path.join('dist', name)
    writeFileSync(file, withoutIdleRequire(readFileSync(file, 'utf8')))
  }
}
