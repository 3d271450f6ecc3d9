/** Loads the files of the built page into memory, from `web/` beside the program or from `dist/web` of a checkout. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Assets } from './app.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
}

/** Empty for a checkout without a build. */
export function loadAssets(start: string = import.meta.dirname): Assets {
  const folder = findFolder(start)
  if (folder === undefined) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = types[path.extname(name)]
      if (type === undefined) return []
      const body = new Uint8Array(readFileSync(path.join(folder, name)))
      return [[`/${name.split(path.sep).join('/')}`, { type, body }] as const]
    }),
  )
}

function findFolder(folder: string): string | undefined {
  const found = ['web', path.join('dist', 'web')]
    .map((name) => path.join(folder, name))
    .find((candidate) => existsSync(path.join(candidate, 'index.html')) && existsSync(path.join(candidate, 'main.js')))
  if (found !== undefined) return found
  const above = path.dirname(folder)
  return above === folder ? undefined : findFolder(above)
}
