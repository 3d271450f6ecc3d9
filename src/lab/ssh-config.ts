/** `ssh -F ssh/config node1`: the nodes by name, with the lab's key and its own known hosts. */
import type { Lab } from './lab.ts'
import { banner, type TreeFile } from './tree.ts'

/** Paths in it are absolute, because ssh counts relative ones from where it was started. */
export function sshConfigFile(lab: Lab, folder: string): TreeFile {
  const hosts = lab.nodes.map(
    (node) => `Host ${node.name}
  HostName ${node.address}
`,
  )
  return {
    path: 'ssh/config',
    text: `${banner()}${hosts.join('')}Host *
  User ${lab.user}
  IdentityFile "${folder}/ssh/id_ed25519"
  IdentitiesOnly yes
  UserKnownHostsFile "${folder}/ssh/known_hosts"
  StrictHostKeyChecking accept-new
  BatchMode yes
  ConnectTimeout 10
`,
  }
}
