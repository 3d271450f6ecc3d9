/** What git never sees: every secret, and what tools leave behind. */
import type { TreeFile } from './tree.ts'

/** Written by tools during a deployment; secrets, all of them. */
export const toolSecrets = [
  'kolla/clouds.yaml',
  'kolla/admin-openrc.sh',
  'kolla/admin-openrc-system.sh',
  'kolla/public-openrc.sh',
  'kolla/public-openrc-system.sh',
  'terraform/openstack/terraform.tfstate',
] as const

const PATTERNS = [
  '# Secrets',
  'kolla/passwords.yml',
  'kolla/certificates/',
  'kolla/config/nova/nova-libvirt/',
  'kolla/config/**/*.keyring',
  'kolla/clouds.yaml',
  'kolla/*-openrc*.sh',
  'ceph/keyrings/',
  'ssh/id_ed25519',
  'terraform/**/*.tfstate*',
  'terraform/**/*.tfvars',
  '# What tools leave behind',
  '.stackloom/',
  'ssh/known_hosts',
  'ssh/config',
  'terraform/**/.terraform/',
  'terraform/**/images/',
]

export function gitignoreFile(): TreeFile {
  return { path: '.gitignore', text: `${PATTERNS.join('\n')}\n` }
}
