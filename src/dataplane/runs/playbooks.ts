/**
 * Stackloom's own playbooks: files of the package's `playbooks/` folder, sent as the text of a run.
 *
 * They are files and not code because the people who run a data plane read and judge Ansible; they are sent inline so
 * that a run carries all that it does, whichever image or machine runs it.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The services of phase 0, in their order. */
export const phase0Playbooks = [
  'configure-network',
  'validate-network',
  'install-os',
  'configure-os',
  'run-os',
] as const

/** Takes services off a node. */
export const DECOMMISSION_PLAYBOOK = 'decommission'

/** `name`: of phase 0, of a step of a service, or the one that takes services off. */
export function readPlaybook(name: string, folder = findPlaybooksFolder(import.meta.dirname)): Promise<string> {
  return readFile(path.join(folder, `${name}.yaml`), 'utf8')
}

/** Where Ansible finds the plugin that tells what happens in a run. */
export function callbackFolder(): string {
  return path.join(findPlaybooksFolder(import.meta.dirname), 'callback')
}

/** This file runs from `src/` and, bundled, from `dist/`: the playbooks are beside one of the folders above. */
function findPlaybooksFolder(folder: string): string {
  const candidate = path.join(folder, 'playbooks')
  if (existsSync(path.join(candidate, 'run-os.yaml'))) return candidate
  const above = path.dirname(folder)
  if (above === folder) throw new Error('the package has no playbooks/ folder')
  return findPlaybooksFolder(above)
}
