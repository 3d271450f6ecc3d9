/**
 * A rendered file: where it stands in the tree, what is in it, and how it is to be kept. Pure data.
 */

export interface TreeFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly text: string
  /** Holds a secret: 0600, in .gitignore, never shown. */
  readonly secret?: true
  readonly executable?: true
}

/** Where the driver keeps what it knows: not part of what is rendered, never in git. */
export const STATE_FOLDER = '.stackloom'

/** The head of a rendered file: where it comes from, so that nobody edits the wrong place. */
export function banner(...lines: readonly string[]): string {
  return ['Rendered by stackloom from the lab file; edit that one.', ...lines].map((line) => `# ${line}\n`).join('')
}
