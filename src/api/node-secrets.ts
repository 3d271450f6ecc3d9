/** Names of Secrets that the NodeSet API and the Role/Node API both use by default. */

/** The private key by which Ansible logs in to nodes. */
export const SSH_SECRET = 'dataplane-ansible-ssh-private-key-secret'

/** The key by which nova-compute hosts reach each other to migrate instances. */
export const MIGRATION_SECRET = 'nova-migration-ssh-key'
