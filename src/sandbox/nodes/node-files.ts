/** Writes the configuration of the nodes into their folders. */
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ProgramPaths } from '../build/ensure-programs.ts'
import type { SandboxFolder } from '../folder.ts'
import { auditPolicy, auditPolicyPath } from './audit-log.ts'
import { findCgroupHierarchies } from './cgroups.ts'
import { corefile } from './cluster-dns.ts'
import { containerdConfig } from './container-runtime.ts'
import { kubeProxyConfig } from './kube-proxy.ts'
import { kubeletConfig } from './kubelet.ts'
import { kubeletCertificate } from './node-certificates.ts'
import { corefilePath, type NodeLayout, nodeSocket, type SandboxNode, setupFile } from './node-layout.ts'
import { setupCommands } from './node-namespace.ts'
import { volumeFolders } from './node-volumes.ts'
import { cniFiles, cniPlugins } from './pod-network.ts'
import { setupScript } from './setup-script.ts'

export interface NodeFilesInput {
  readonly folder: SandboxFolder
  readonly layout: NodeLayout
  readonly programs: Partial<ProgramPaths>
  /** The kubeconfig of a certificate, with the API server as the nodes reach it. */
  readonly kubeconfig: (certificate: string) => Promise<string>
}

export async function writeNodeFiles(input: NodeFilesInput): Promise<void> {
  const { folder, layout, kubeconfig } = input
  await mkdir(folder.nodes, { recursive: true, mode: 0o700 })
  for (const node of layout.nodes) await writeOneNode(node, input)
  await writePrivate(path.join(folder.nodes, 'coredns.kubeconfig'), await kubeconfig('coredns'))
  await writeFile(corefilePath(folder), corefile(path.join(folder.nodes, 'coredns.kubeconfig')))
  await writeFile(auditPolicyPath(folder), `${JSON.stringify(auditPolicy, null, 2)}\n`)
  const commands = setupCommands(folder.root, layout, await findCgroupHierarchies())
  await writeFile(setupFile(folder), setupScript(commands), { mode: 0o700 })
  // Read by the commands that load images, and by the actor that configures the interfaces of nodes.
  await writeFile(folder.nodeRecord, `${JSON.stringify(layout, null, 2)}\n`)
}

async function writeOneNode(node: SandboxNode, { folder, programs, kubeconfig }: NodeFilesInput): Promise<void> {
  const inside = (name: string): string => path.join(node.folder, name)
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
  const files = new Map([
    ['containerd.toml', containerdConfig(node)],
    ['kubelet.json', json(kubeletConfig(node, path.join(folder.pki, 'ca.crt')))],
    ['kubelet.kubeconfig', await kubeconfig(kubeletCertificate(node.name))],
    ['kube-proxy.json', json(kubeProxyConfig(node))],
    ['kube-proxy.kubeconfig', await kubeconfig('kube-proxy')],
    // Pods know the names of the cluster only.
    ['resolv.conf', ''],
    ...[...cniFiles(node, await kubeconfig('multus'))].map(([name, text]) => [`cni/${name}`, text] as const),
  ])
  for (const [name, text] of files) {
    await mkdir(path.dirname(inside(name)), { recursive: true })
    await writePrivate(inside(name), text)
  }
  await rm(inside('plugins'), { recursive: true, force: true })
  await mkdir(inside('plugins'))
  for (const [plugin, program] of Object.entries(cniPlugins)) {
    const file = programs[program]
    if (!file) throw new Error(`${program} is not built`)
    await symlink(file, path.join(inside('plugins'), plugin))
  }
  for (const name of volumeFolders) await mkdir(path.join(inside('volumes'), name), { recursive: true })
}

async function writePrivate(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
}

/** Of programs that were killed; those with a long path are outside of the folder. */
export async function removeSockets(sandbox: Pick<SandboxFolder, 'nodes'>): Promise<void> {
  const entries = await readdir(sandbox.nodes, { withFileTypes: true }).catch(() => [])
  const nodes = entries.filter((entry) => entry.isDirectory())
  await Promise.all(nodes.map(({ name }) => rm(nodeSocket(path.join(sandbox.nodes, name)), { force: true })))
}
