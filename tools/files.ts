/** Lists the files of the checkout. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** Every file below `folder`, as paths from `root` with forward slashes, sorted. */
export function filesBelow(root: string, folder: string): readonly string[] {
  const top = path.join(root, folder)
  if (!existsSync(top)) return []
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort()
}
