/**
 * Plans the nodes of a sandbox with pods: names, addresses, folders, namespaces and cgroups, all derived from the sandbox's
 * folder, so that two sandboxes never share one. Pure.
 */
import { createHash } from 'node:crypto'
import path from 'node:path'
import { type SandboxFolder, socketPath } from '../folder.ts'

/** A node as it is asked for. */
export interface NodeRequest {
  readonly name: string
  /** By the switch that each is connected to, such as the role of the NIC in the site file. */
  readonly nics: Readonly<Record<string, string>>
}

export interface SandboxNode extends NodeRequest {
  /** On the node network. */
  readonly address: string
  /** Addresses of its pods on the pod network. */
  readonly podCidr: string
  readonly folder: string
  /** The socket of its containerd. */
  readonly socket: string
  /** Below the root of every hierarchy. */
  readonly cgroup: string
  /** Its end of the cable to the control plane, as the control plane names it. */
  readonly port: string
  readonly networkNamespace: string
  readonly mountNamespace: string
}

export interface NodeLayout {
  readonly nodes: readonly SandboxNode[]
  readonly switches: readonly string[]
  /** The namespace of the switches. */
  readonly switchNamespace: string
  /** The parent of the nodes' cgroups. */
  readonly cgroup: string
}

/** The network of the nodes and the control plane; site files use none of these ranges. */
export const CONTROL_ADDRESS = '10.89.0.1'
export const NODE_PREFIX_LENGTH = 24
export const POD_RANGE = '10.244.0.0/16'

/** A folder in memory that only the programs of the sandbox see. */
export const RUN_FOLDER = '/run/stackloom'

const FIRST_NODE_HOST = 10

export function planNodes(sandbox: SandboxFolder, requests: readonly NodeRequest[]): NodeLayout {
  const cgroup = parentCgroup(sandbox)
  const nodes = requests.map(({ name, nics }, index): SandboxNode => {
    const folder = path.join(sandbox.nodes, name)
    return {
      name,
      nics,
      address: `10.89.0.${FIRST_NODE_HOST + index}`,
      podCidr: `10.244.${index + 1}.0/24`,
      folder,
      socket: nodeSocket(folder),
      cgroup: `${cgroup}/${name}`,
      port: `node${index}`,
      networkNamespace: path.join(RUN_FOLDER, name, 'net'),
      mountNamespace: path.join(RUN_FOLDER, name, 'mnt'),
    }
  })
  const switches = [...new Set(requests.flatMap(({ nics }) => Object.keys(nics)))]
  return { nodes, switches, switchNamespace: path.join(RUN_FOLDER, '.switch', 'net'), cgroup }
}

/** Of containerd. */
export function nodeSocket(folder: string): string {
  return socketPath(path.join(folder, 'containerd.sock'))
}

/** The script that creates the nodes: `setup-script.ts`. */
export function setupFile(folder: SandboxFolder): string {
  return path.join(folder.nodes, 'setup.sh')
}

/** The configuration of CoreDNS. */
export function corefilePath(folder: SandboxFolder): string {
  return path.join(folder.nodes, 'Corefile')
}

/** The parent of all cgroups of a sandbox, in every hierarchy. */
export function parentCgroup({ root }: SandboxFolder): string {
  return `/stackloom-${createHash('sha256').update(root).digest('hex').slice(0, 12)}`
}

/** Runs a program on a node, from inside the sandbox. Not `ip netns exec`: that hides the cgroups behind a new /sys. */
export function onNode({ networkNamespace, mountNamespace }: SandboxNode): readonly string[] {
  return ['nsenter', `--net=${networkNamespace}`, `--mount=${mountNamespace}`, '--']
}

/** Runs a program in the network of a node, with the files of the sandbox. */
export function inNetwork(networkNamespace: string): readonly string[] {
  return ['nsenter', `--net=${networkNamespace}`, '--']
}
