/** Builds the program: one entry, split chunks, so that a command loads only what it needs. */
import { readFileSync, rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

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
    // CommonJS dependencies inside an ESM bundle still call require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  rmSync('dist', { recursive: true, force: true })
  await build(buildOptions(version))
}
