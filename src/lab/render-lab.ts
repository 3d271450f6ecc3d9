/** Renders a lab into its folder: keeps existing secrets, and writes nothing while files have manual edits. */
import { Failure } from '../errors/failure.ts'
import type { Lab } from './lab.ts'
import { ensureSecrets, type SecretOptions } from './secrets.ts'
import { compareTree, editedFindings, type TreeChange } from './tree-changes.ts'
import { treeFiles } from './tree-files.ts'
import { createTreeReader, readManifest, writeTree } from './tree-store.ts'

export interface RenderOptions extends Pick<SecretOptions, 'makeSshKey'> {
  readonly now: number
  /** Overwrite files that were edited by hand. */
  readonly overwrite?: boolean
  /** Compute the changes and write nothing. */
  readonly dryRun?: boolean
}

export interface RenderResult {
  readonly changes: readonly TreeChange[]
  /** Names of the secrets that were generated now. */
  readonly made: readonly string[]
}

export async function renderLab(lab: Lab, folder: string, options: RenderOptions): Promise<RenderResult> {
  const existing = createTreeReader(folder)
  const secrets = await ensureSecrets(lab, { ...options, existing })
  const files = treeFiles({ lab, secrets, folder, existing })
  const changes = compareTree(files, existing, readManifest(folder))
  if (options.dryRun) return { changes, made: secrets.made }
  const edited = editedFindings(changes)
  if (edited.length > 0 && !options.overwrite) throw new Failure(edited, 1)
  writeTree(folder, changes)
  return { changes, made: secrets.made }
}
