/** Names of Secrets that the NodeSet API and the Role/Node API both use by default. */

/** The private key by which Ansible logs in to nodes. */
export const SSH_SECRET = 'dataplane-ansible-ssh-private-key-secret'

/** What nova-compute of a cell reads, as nova-operator publishes it. */
export function computeConfigSecret(cell: string): string {
  return `nova-${cell}-compute-config`
}

/** The cell of such a Secret. */
export function readComputeCell(secret: string): string | undefined {
  return /^nova-(.+)-compute-config$/.exec(secret)?.[1]
}

/** The key by which nova-compute hosts reach each other to migrate instances. */
export const MIGRATION_SECRET = 'nova-migration-ssh-key'
