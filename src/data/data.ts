/**
 * Reads the files of `data/`: tables that are generated from upstream and too long to be code.
 *
 * Knows where the folder is, not what is in its files.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The text of `data/<name>`, such as `crds/today/slots.json`. */
export function readData(name: string): string {
  return readFileSync(dataPath(name), 'utf8')
}

/** Where `data/<name>` is, for programs that read it themselves. */
export function dataPath(name: string): string {
  return findData(import.meta.dirname, name)
}

/** The build copies `data/` into `dist/`, beside the chunks; the source finds it at the root of the repository. */
function findData(folder: string, name: string): string {
  const candidate = path.join(folder, 'data', name)
  if (existsSync(candidate)) return candidate
  const above = path.dirname(folder)
  if (above === folder) throw new Error(`the package has no data/${name}`)
  return findData(above, name)
}
