/** SL82xx: the rendered tree of a lab, and its secrets. */
import { problem } from '../../errors/finding.ts'

export const editedFile = problem<{ file: string; diff: string }>({
  code: 'SL8201',
  severity: 'error',
  title: 'A rendered file was edited by hand',
  message: ({ file, diff }) => `${file} was edited since it was rendered, and would be overwritten:\n${diff}`,
  remedy: () => 'move the change into the lab file, or discard it with --overwrite',
  description: `\`.stackloom/manifest.json\` has the checksum of every rendered file. A file that matches neither its
checksum nor the new content was edited by hand. Nothing is written until you decide.`,
  example: { file: 'kolla/globals.yml', diff: '- enable_heat: "no"\n+ enable_heat: "yes"' },
})

export const groupMissing = problem<{ groups: readonly string[] }>({
  code: 'SL8202',
  severity: 'error',
  title: 'The inventory lacks groups',
  message: ({ groups }) =>
    `the inventory has no group ${groups.slice(0, 8).join(', ')}${groups.length > 8 ? ` and ${groups.length - 8} more` : ''}`,
  remedy: () => 'render again: the rendered inventory has every group, including those of disabled services',
  description: `Prechecks require the group of every service, whether the service is enabled or not.`,
  example: { groups: ['tls-backend'] },
})

export const ineffectiveVariables = problem<{ place: string }>({
  code: 'SL8203',
  severity: 'error',
  title: 'Variables are set where they have no effect',
  message: ({ place }) => `${place} has no effect: Kolla's defaults override it`,
  remedy: () => 'move the variables to host_vars of each node (openstack.hostVars in the lab file)',
  description: `In Ansible's order of precedence, group variables of the inventory and its group_vars/all are below the
playbook's group_vars/all, where Kolla keeps its defaults.`,
  example: { place: '[compute:vars] in kolla/multinode' },
})

export const forbiddenTerraform = problem<{ what: string; why: string }>({
  code: 'SL8204',
  severity: 'error',
  title: 'Terraform is used for something else than the cloud',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'keep only resources of the cloud in terraform/openstack; Lima manages the VMs',
  description: `A \`null_resource\` with a provisioner runs commands that no plan shows. No Terraform provider can create
isolated networks on macOS, so only Lima creates VMs.`,
  example: { what: 'null_resource "wait"', why: 'its commands are in no plan' },
})

export const secretTracked = problem<{ file: string }>({
  code: 'SL8205',
  severity: 'error',
  title: 'A secret is tracked by git',
  message: ({ file }) => `git tracks ${file}, which contains a secret`,
  remedy: ({ file }) => `run git rm --cached ${file}, and replace the secret: it remains in the history`,
  description: `The rendered .gitignore excludes every secret. A file that was added before, or with --force, is still
tracked.`,
  example: { file: 'kolla/passwords.yml' },
})

export const secretReadable = problem<{ file: string; mode: string }>({
  code: 'SL8206',
  severity: 'error',
  title: 'Other users can read a secret',
  message: ({ file, mode }) => `${file} has the mode ${mode}`,
  remedy: ({ file }) => `chmod 600 ${file}`,
  description: `Files with secrets are written with the mode 0600. ssh refuses a key that other users can read.`,
  example: { file: 'ssh/id_ed25519', mode: '0644' },
})

export const unreadableSecret = problem<{ file: string; why: string }>({
  code: 'SL8207',
  severity: 'error',
  title: 'An existing secret cannot be used',
  message: ({ file, why }) => `${file} exists and cannot be used: ${why}`,
  remedy: ({ file }) => `repair ${file}, or remove it: then it is generated again, and the cloud needs a reconfigure`,
  description: `Rendering keeps existing secrets. It never replaces one that it cannot read, because the running cloud
still uses it.`,
  example: { file: 'kolla/passwords.yml', why: 'it is not a mapping' },
})
