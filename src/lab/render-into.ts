/** Renders a lab into its folder: secrets kept or made, changes shown, a person's edits left alone. */
import { Failure } from '../errors/failure.ts'
import type { Lab } from './lab.ts'
import { gatherSecrets, type SecretSettings } from './secrets.ts'
import { editedFindings, type TreeChange, treeChanges } from './tree-changes.ts'
import { treeFiles } from './tree-files.ts'
import { readManifest, treeReader, writeTree } from './tree-store.ts'

export interface RenderSettings extends Pick<SecretSettings, 'makeSshKey'> {
  readonly now: number
  /** Lose what was edited by hand. */
  readonly overwrite?: boolean
  /** Only look. */
  readonly dryRun?: boolean
}

export interface Rendering {
  readonly changes: readonly TreeChange[]
  /** Secrets that were made now, in words. */
  readonly made: readonly string[]
}

export async function renderInto(lab: Lab, folder: string, settings: RenderSettings): Promise<Rendering> {
  const existing = treeReader(folder)
  const secrets = await gatherSecrets(lab, { ...settings, existing })
  const files = treeFiles({ lab, secrets, folder, existing })
  const changes = treeChanges(files, existing, readManifest(folder))
  const edited = editedFindings(changes)
  if (settings.dryRun) return { changes, made: secrets.made }
  if (edited.length > 0 && !settings.overwrite) throw new Failure(edited, 1)
  writeTree(folder, changes)
  return { changes, made: secrets.made }
}
