/** How this program is started again as another process: the bundle by its entry, a checkout through tsx. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export function selfCommand(folder = import.meta.dirname): readonly string[] {
  const bundled = path.join(folder, 'entry.js')
  if (existsSync(bundled)) return [process.execPath, bundled]
  const source = path.resolve(folder, '..', 'cli', 'entry.ts')
  const loader = createRequire(import.meta.url).resolve('tsx')
  return [process.execPath, '--import', pathToFileURL(loader).href, source]
}
