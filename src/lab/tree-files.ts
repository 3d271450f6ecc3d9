/** Renders the whole tree of a lab from the lab and its secrets. Pure: the same input gives the same files. */
import { namedConfFile, zoneFiles } from './bind.ts'
import { cephConfFiles, cephSpecFile, keyringFiles } from './ceph.ts'
import { configFiles } from './kolla/config-files.ts'
import { cephGlobalsFiles, globalsFile } from './kolla/globals.ts'
import { hostVarsFiles, inventoryFile } from './kolla/inventory.ts'
import type { Lab } from './lab.ts'
import { instanceFile } from './lima/instance.ts'
import { networksFile } from './lima/networks.ts'
import { readmeFile } from './readme.ts'
import { scriptFiles } from './scripts.ts'
import { gitignoreFile } from './secret-paths.ts'
import type { CephSecrets, LabSecrets } from './secrets.ts'
import { sshConfigFile } from './ssh.ts'
import { terraformFiles } from './terraform/resources.ts'
import type { ReadExisting, TreeFile } from './tree.ts'

export interface TreeInput {
  readonly lab: Lab
  readonly secrets: LabSecrets
  /** Absolute folder of the tree, for the SSH configuration. */
  readonly folder: string
  /** Reads the existing tree: zone serials continue from it, and Ceph stays enabled. */
  readonly existing: ReadExisting
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

/** What Kolla-Ansible reads, without passwords and certificates. All of it is input of the stage `deploy`. */
export function kollaFiles(lab: Lab): readonly TreeFile[] {
  return [globalsFile(lab), inventoryFile(lab), ...hostVarsFiles(lab), ...configFiles(lab)]
}

/** The files of phase 2. All of them are inputs of the stage `ceph`. */
export function cephFiles(lab: Lab, { fsid, keys }: CephSecrets, ready: boolean): readonly TreeFile[] {
  return [cephSpecFile(lab), ...cephConfFiles(lab, fsid), ...keyringFiles(keys), ...cephGlobalsFiles(lab, ready)]
}
