/** Whether a folder holds a rendered tree. Apart from the rest of the tree, because `lab check` asks nothing more. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { STATE_FOLDER } from './tree.ts'

/** The checksum of every file as it was last written. */
export const MANIFEST = `${STATE_FOLDER}/manifest.json`

export function isRendered(folder: string): boolean {
  return existsSync(path.join(folder, MANIFEST))
}
