/** SL82xx: the rendered tree of a lab, and its secrets. */
import { problem } from '../../errors/finding.ts'

export const editedFile = problem<{ file: string; diff: string }>({
  code: 'SL8201',
  severity: 'error',
  message: ({ file, diff }) => `${file} was edited since it was rendered, and would be overwritten:\n${diff}`,
  remedy: () => 'move the change into the lab file, or discard it with --overwrite',
})

export const groupMissing = problem<{ groups: readonly string[] }>({
  code: 'SL8202',
  severity: 'error',
  message: ({ groups }) =>
    `the inventory has no group ${groups.slice(0, 8).join(', ')}${groups.length > 8 ? ` and ${groups.length - 8} more` : ''}`,
  remedy: () => 'render again: the rendered inventory has every group, including those of disabled services',
})

export const ineffectiveVariables = problem<{ place: string }>({
  code: 'SL8203',
  severity: 'error',
  message: ({ place }) => `${place} has no effect: Kolla's defaults override it`,
  remedy: () => 'move the variables to host_vars of each node (openstack.hostVars in the lab file)',
})

export const forbiddenTerraform = problem<{ what: string; why: string }>({
  code: 'SL8204',
  severity: 'error',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'keep only resources of the cloud in terraform/openstack; Lima manages the VMs',
})

export const secretTracked = problem<{ file: string }>({
  code: 'SL8205',
  severity: 'error',
  message: ({ file }) => `git tracks ${file}, which contains a secret`,
  remedy: ({ file }) => `run \`git rm --cached ${file}\`, and replace the secret: it remains in the history`,
})

export const secretReadable = problem<{ file: string; mode: string }>({
  code: 'SL8206',
  severity: 'error',
  message: ({ file, mode }) => `${file} has the mode ${mode}`,
  remedy: ({ file }) => `chmod 600 ${file}`,
})

export const unreadableSecret = problem<{ file: string; why: string }>({
  code: 'SL8207',
  severity: 'error',
  message: ({ file, why }) => `${file} exists and cannot be used: ${why}`,
  remedy: ({ file }) => `repair ${file}, or remove it: then it is generated again, and the cloud needs a reconfigure`,
})

export const unusablePath = problem<{ path: string; part: string }>({
  code: 'SL8208',
  severity: 'error',
  message: ({ path, part }) =>
    `${JSON.stringify(path)} contains ${JSON.stringify(part)}, which ssh cannot take as text`,
  remedy: () => 'choose another folder with --out',
})
