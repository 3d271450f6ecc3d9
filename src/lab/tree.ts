/** Defines a file of the rendered tree, and how to tell that a folder holds a rendered tree. */
import { existsSync } from 'node:fs'
import path from 'node:path'

export interface TreeFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly text: string
  /** Contains a secret: the mode is 0600, git ignores it, and it is never printed. */
  readonly secret?: true
  readonly executable?: true
}

/** Reads a file of the tree; undefined when it does not exist. */
export type ReadExisting = (path: string) => string | undefined

/** State of the driver. It is not rendered and never in git. */
export const STATE_FOLDER = '.stackloom'

/** Checksums of all files as they were last written. */
export const MANIFEST = `${STATE_FOLDER}/manifest.json`

export function isRendered(folder: string): boolean {
  return existsSync(path.join(folder, MANIFEST))
}

/** The first lines of a rendered file. */
export function banner(...lines: readonly string[]): string {
  return ['Rendered by stackloom from the lab file; edit that one.', ...lines].map((line) => `# ${line}\n`).join('')
}
