/**
 * The whole tree of a lab, from the lab and its secrets. Pure: the same input gives the same files.
 */
import { namedConfFile, zoneFiles } from './bind.ts'
import { cephConfFiles } from './ceph/conf.ts'
import { cephSpecFile } from './ceph/spec.ts'
import { keyringFiles } from './ceph.ts'
import { configFiles } from './kolla/config-files.ts'
import { cephGlobalsFiles, globalsFile } from './kolla/globals.ts'
import { hostVarsFiles } from './kolla/host-vars.ts'
import { inventoryFile } from './kolla/inventory.ts'
import type { Lab } from './lab.ts'
import { instanceFile } from './lima/instance.ts'
import { networksFile } from './lima/networks.ts'
import { readmeFile } from './readme.ts'
import { scriptFiles } from './scripts.ts'
import { gitignoreFile } from './secret-paths.ts'
import type { CephSecrets, LabSecrets } from './secrets.ts'
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
    ...kollaFiles(lab),
    { path: 'kolla/passwords.yml', text: passwords, secret: true },
    ...certificates,
    namedConfFile(lab),
    ...zoneFiles(lab, existing),
    ...(ceph ? cephFiles(lab, ceph, cephReady) : []),
    ...terraformFiles(lab),
    sshConfigFile(lab, folder),
    { path: 'ssh/id_ed25519', text: ssh.private_key, secret: true },
    { path: 'ssh/id_ed25519.pub', text: `${ssh.public_key}\n` },
    ...scriptFiles(lab),
  ]
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** What Kolla-Ansible reads, beside passwords and certificates: all of it counts for the stage `deploy`. */
export function kollaFiles(lab: Lab): readonly TreeFile[] {
  return [globalsFile(lab), inventoryFile(lab), ...hostVarsFiles(lab), ...configFiles(lab)]
}

/** What phase 2 is made of: all of it counts for the stage `ceph`. */
export function cephFiles(lab: Lab, { fsid, keys }: CephSecrets, ready: boolean): readonly TreeFile[] {
  return [cephSpecFile(lab), ...cephConfFiles(lab, fsid), ...keyringFiles(keys), ...cephGlobalsFiles(lab, ready)]
}
