/** Bundles the page of the console: one script, one style sheet and the HTML that loads them. */
import { cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { type BuildOptions, type BuildResult, build } from 'esbuild'

export function bundleWeb(more: BuildOptions): Promise<BuildResult> {
  return build({
    entryPoints: [
      { in: 'web/main.tsx', out: 'main' },
      { in: 'web/style/main.css', out: 'main' },
    ],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    minify: true,
    sourcemap: 'linked',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    chunkNames: '[name]-[hash]',
    logLevel: 'warning',
    ...more,
  })
}

export async function buildWeb(folder: string): Promise<void> {
  await bundleWeb({ outdir: folder })
  mkdirSync(folder, { recursive: true })
  for (const name of ['index.html', 'icon.svg']) cpSync(path.join('web', name), path.join(folder, name))
}
