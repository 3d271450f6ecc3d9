/** SL82xx: the rendered tree of a lab, and its secrets. */
import { problem } from '../../errors/finding.ts'

export const editedFile = problem<{ file: string; diff: string }>({
  code: 'SL8201',
  severity: 'error',
  title: 'A rendered file was edited by hand',
  message: ({ file, diff }) => `${file} was edited since it was rendered, and would be overwritten:\n${diff}`,
  remedy: () => 'move the change into the lab file, or render with --overwrite to lose it',
  description: `Every rendered file's checksum is kept in \`.stackloom/manifest.json\`. A file that differs from both what was
written and what would be written now was edited by a person. Nothing is written until that is decided.`,
  example: { file: 'kolla/globals.yml', diff: '- enable_heat: "no"\n+ enable_heat: "yes"' },
})

export const groupMissing = problem<{ groups: readonly string[] }>({
  code: 'SL8202',
  severity: 'error',
  title: 'The inventory lacks groups',
  message: ({ groups }) =>
    `the inventory has no group ${groups.slice(0, 8).join(', ')}${groups.length > 8 ? ` and ${groups.length - 8} more` : ''}`,
  remedy: () => 'render again: the rendered inventory has every group, also of services that are off',
  description: `Prechecks validate that the group of every service exists, whether the service is enabled or not.`,
  example: { groups: ['tls-backend'] },
})

export const ineffectiveVariables = problem<{ place: string }>({
  code: 'SL8203',
  severity: 'error',
  title: 'Variables stand where they have no effect',
  message: ({ place }) => `${place} loses against Kolla's own defaults: what it says has no effect`,
  remedy: () => 'move the variables to host_vars of each node (openstack.hostVars in the lab file)',
  description: `Ansible's order of precedence puts group variables of the inventory file and group_vars/all of the inventory
below the playbook's group_vars/all, where Kolla keeps all its defaults.`,
  example: { place: '[compute:vars] in kolla/multinode' },
})

export const forbiddenTerraform = problem<{ what: string; why: string }>({
  code: 'SL8204',
  severity: 'error',
  title: 'Terraform does what it must not do here',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'Terraform owns what is inside the cloud, from terraform/openstack; Lima owns the VMs',
  description: `A \`null_resource\` with a provisioner hides commands from the plan. There is no Terraform provider that can
make isolated networks on macOS, so VMs are Lima's alone.`,
  example: { what: 'null_resource "wait"', why: 'its commands are in no plan' },
})

export const secretTracked = problem<{ file: string }>({
  code: 'SL8205',
  severity: 'error',
  title: 'A secret is tracked by git',
  message: ({ file }) => `git tracks ${file}, which holds a secret`,
  remedy: ({ file }) => `git rm --cached ${file}, and make the secret anew: it stays in the history`,
  description: `The rendered .gitignore keeps every secret out. A file that was added before, or by force, is still tracked.`,
  example: { file: 'kolla/passwords.yml' },
})

export const secretReadable = problem<{ file: string; mode: string }>({
  code: 'SL8206',
  severity: 'error',
  title: 'A secret can be read by others',
  message: ({ file, mode }) => `${file} has the mode ${mode}`,
  remedy: ({ file }) => `chmod 600 ${file}`,
  description: `Files with secrets are written with the mode 0600. ssh refuses a key that others can read.`,
  example: { file: 'ssh/id_ed25519', mode: '0644' },
})

export const unreadableSecret = problem<{ file: string; why: string }>({
  code: 'SL8207',
  severity: 'error',
  title: 'A kept secret cannot be read',
  message: ({ file, why }) => `${file} is there and cannot be used: ${why}`,
  remedy: ({ file }) => `repair ${file}, or remove it: it is then made anew, and the cloud needs a reconfigure`,
  description: `Secrets are kept from one rendering to the next. One that cannot be read is never replaced silently: the
running cloud still uses it.`,
  example: { file: 'kolla/passwords.yml', why: 'it is not a mapping' },
})
