/** Renders a lab into its folder: secrets kept or made, changes shown, a person's edits left alone. */
import { Failure } from '../errors/failure.ts'
import type { Lab } from './lab.ts'
import { ensureSecrets, type SecretOptions } from './secrets.ts'
import { compareTree, editedFindings, type TreeChange } from './tree-changes.ts'
import { treeFiles } from './tree-files.ts'
import { createTreeReader, readManifest, writeTree } from './tree-store.ts'

export interface RenderOptions extends Pick<SecretOptions, 'makeSshKey'> {
  readonly now: number
  /** Lose what was edited by hand. */
  readonly overwrite?: boolean
  /** Only look. */
  readonly dryRun?: boolean
}

export interface RenderResult {
  readonly changes: readonly TreeChange[]
  /** Secrets that were made now, in words. */
  readonly made: readonly string[]
}

export async function renderLab(lab: Lab, folder: string, settings: RenderOptions): Promise<RenderResult> {
  const existing = createTreeReader(folder)
  const secrets = await ensureSecrets(lab, { ...settings, existing })
  const files = treeFiles({ lab, secrets, folder, existing })
  const changes = compareTree(files, existing, readManifest(folder))
  const edited = editedFindings(changes)
  if (settings.dryRun) return { changes, made: secrets.made }
  if (edited.length > 0 && !settings.overwrite) throw new Failure(edited, 1)
  writeTree(folder, changes)
  return { changes, made: secrets.made }
}
