/**
 * Reads the built-in playbooks: files of the package's `playbooks/` folder, sent as the text of a run.
 *
 * They are files because the people who run a data plane read and review Ansible; they are sent inline so that a run
 * contains everything that it does, whichever image or machine executes it.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The built-in services of phase 0, in their order. */
export const phase0Playbooks = [
  'configure-network',
  'validate-network',
  'install-os',
  'configure-os',
  'run-os',
] as const

/** Removes services from a node. */
export const DECOMMISSION_PLAYBOOK = 'decommission'
/** Takes a node that is deleted out of OVN. */
export const LEAVE_OVN_PLAYBOOK = 'leave-ovn'

export async function readPlaybook(name: string, folder = findPlaybooksFolder(import.meta.dirname)): Promise<string> {
  const text = await readFile(path.join(folder, `${name}.yaml`), 'utf8')
  const imports = [...text.matchAll(IMPORTED_TASKS)]
  const files = await Promise.all(imports.map(([, , file = '']) => readFile(path.join(folder, file), 'utf8')))
  return text.replace(IMPORTED_TASKS, (_, indent: string) => (files.shift() ?? '').replace(/^(?=.)/gm, indent))
}

/** Tasks that several playbooks share; a run has no folder to import them from. */
const IMPORTED_TASKS = /^( *)- ansible\.builtin\.import_tasks: (\S+)\n/gm

/** The folder of the Ansible callback plugin that writes the events of a run. */
export function callbackFolder(): string {
  return path.join(findPlaybooksFolder(import.meta.dirname), 'callback')
}

/** This file runs from `src/` and, bundled, from `dist/`: the playbooks are beside one of the parent folders. */
function findPlaybooksFolder(folder: string): string {
  const candidate = path.join(folder, 'playbooks')
  if (existsSync(path.join(candidate, 'run-os.yaml'))) return candidate
  const parent = path.dirname(folder)
  if (parent === folder) throw new Error('the package has no playbooks/ folder')
  return findPlaybooksFolder(parent)
}
