/** Decides which files of the tree contain secrets, and renders the .gitignore that excludes them. */
import type { TreeFile } from './tree.ts'

/** Secrets that tools write during a deployment. */
const TOOL_SECRETS: readonly string[] = [
  'kolla/clouds.yaml',
  'kolla/admin-openrc.sh',
  'kolla/admin-openrc-system.sh',
  'kolla/public-openrc.sh',
  'kolla/public-openrc-system.sh',
  'terraform/openstack/terraform.tfstate',
]

const SECRET = [
  /^kolla\/passwords\.yml$/,
  /^kolla\/certificates\/.*(key|haproxy.*)\.?(pem|key)$/,
  /^kolla\/config\/.*(key\.pem|\.keyring)$/,
  /^ceph\/keyrings\//,
  /^ssh\/id_ed25519$/,
  /\.tfstate(\.backup)?$/,
]

export function isSecretPath(file: string): boolean {
  return SECRET.some((pattern) => pattern.test(file)) || TOOL_SECRETS.includes(file)
}

/** Files that tools write have the modes that the tools choose. */
export function isWrittenByTool(file: string): boolean {
  return TOOL_SECRETS.includes(file) || file.includes('.tfstate')
}

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
