/**
 * The whole tree of a lab, from the lab and its secrets. Pure: the same input gives the same files.
 */
import { namedConf, zoneFiles } from './bind/zones.ts'
import { cephConfFiles } from './ceph/conf.ts'
import { cephSpecFile } from './ceph/spec.ts'
import { keyringFiles } from './ceph/users.ts'
import { gitignoreFile } from './gitignore.ts'
import { configFiles } from './kolla/config-files.ts'
import { cephGlobalsFiles, globalsFile } from './kolla/globals.ts'
import { hostVarsFiles } from './kolla/host-vars.ts'
import { inventoryFile } from './kolla/inventory.ts'
import { type Lab, usesCeph } from './lab.ts'
import { instanceFile } from './lima/instance.ts'
import { networksFile } from './lima/networks.ts'
import { readmeFile } from './readme.ts'
import { scriptFiles } from './scripts.ts'
import type { LabSecrets } from './secrets.ts'
import { sshConfigFile } from './ssh-config.ts'
import { terraformFiles } from './terraform/resources.ts'
import type { TreeFile } from './tree.ts'

export interface TreeInput {
  readonly lab: Lab
  readonly secrets: LabSecrets
  /** The tree's absolute folder: ssh wants it. */
  readonly folder: string
  /** What the tree has already: zone serials go on from there, and phase 2 stays on once it is. */
  readonly existing: (path: string) => string | undefined
}

export function treeFiles({ lab, secrets, folder, existing }: TreeInput): readonly TreeFile[] {
  const { ssh, passwords, certificates, ceph } = secrets
  const cephReady = existing('kolla/globals.d/20-ceph.yml') !== undefined
  const files: readonly TreeFile[] = [
    gitignoreFile(),
    readmeFile(lab),
    networksFile(lab),
    ...lab.nodes.map((node) => instanceFile(lab, node, ssh.public_key)),
    globalsFile(lab),
    inventoryFile(lab),
    ...hostVarsFiles(lab),
    ...configFiles(lab),
    { path: 'kolla/passwords.yml', text: passwords, secret: true },
    ...certificates,
    namedConf(lab),
    ...zoneFiles(lab, existing),
    ...(usesCeph(lab) && ceph
      ? [cephSpecFile(lab), ...cephConfFiles(lab, ceph.fsid), ...keyringFiles(ceph.keys)]
      : []),
    ...cephGlobalsFiles(lab, cephReady),
    ...terraformFiles(lab),
    sshConfigFile(lab, folder),
    { path: 'ssh/id_ed25519', text: ssh.private_key, secret: true },
    { path: 'ssh/id_ed25519.pub', text: `${ssh.public_key}\n` },
    ...scriptFiles(lab),
  ]
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}
