/** Formats the commands that create the namespaces of the nodes, with their files, cgroups and cables. Pure. */
import path from 'node:path'
import { cgroupCommand } from './cgroups.ts'
import {
  CONTROL_ADDRESS,
  inNetwork,
  NODE_PREFIX_LENGTH,
  type NodeLayout,
  onNode,
  RUN_FOLDER,
  type SandboxNode,
} from './node-layout.ts'
import { switchCommands } from './segment-switch.ts'

export type CommandLine = readonly string[]

const CONTROL_BRIDGE = 'nodes'

/** Folders of this machine to which a node writes; each node gets a copy in memory. */
const PRIVATE_FOLDERS = ['/etc', '/opt', '/var/lib', '/var/log']

/** Folders of the node that are kept when the sandbox stops, by their folder below the node's. */
const KEPT_FOLDERS: readonly (readonly [folder: string, target: string])[] = [
  ['kubelet', '/var/lib/kubelet'],
  ['cni', '/etc/cni'],
  ['plugins', '/opt/cni/bin'],
  ['volumes', '/var/lib/stackloom/volumes'],
]

/** Everything that must exist before the first program of the sandbox starts. Runs in new namespaces with an empty /run. */
export function setupCommands(
  sandboxRoot: string,
  layout: NodeLayout,
  cgroups: readonly string[],
): readonly CommandLine[] {
  return [
    ['ip', 'link', 'set', 'lo', 'up'],
    ['ip', 'link', 'add', CONTROL_BRIDGE, 'type', 'bridge'],
    ['ip', 'address', 'add', `${CONTROL_ADDRESS}/${NODE_PREFIX_LENGTH}`, 'dev', CONTROL_BRIDGE],
    ['ip', 'link', 'set', CONTROL_BRIDGE, 'up'],
    ...createNamespace(path.dirname(layout.switchNamespace)),
    ...layout.nodes.flatMap((node) => nodeCommands(sandboxRoot, node, layout, cgroups)),
    ...switchCommands(layout),
  ]
}

function createNamespace(folder: string): readonly CommandLine[] {
  const net = path.join(folder, 'net')
  return [
    ['mkdir', '-p', folder],
    ['touch', net],
    ['unshare', `--net=${net}`, 'ip', 'link', 'set', 'lo', 'up'],
  ]
}

/**
 * Creates a mount namespace, which a process keeps: the kernel sometimes refuses to keep one by a mount, because it compares ids
 * that different processors give out of order.
 */
const HOLD_MOUNTS = `
unshare --mount sh -c 'touch "$1.ready"; exec sleep infinity' sh "$1" &
until [ -e "$1.ready" ]; do
  kill -0 $! || exit 1
  sleep 0.01
done
ln -s "/proc/$!/ns/mnt" "$1"`

function nodeCommands(
  sandboxRoot: string,
  node: SandboxNode,
  { nodes, cgroup }: NodeLayout,
  cgroups: readonly string[],
): readonly CommandLine[] {
  const others = nodes.filter((other) => other !== node)
  const ip = (...words: readonly string[]): CommandLine => [...inNetwork(node.networkNamespace), 'ip', ...words]
  return [
    ...createNamespace(path.dirname(node.networkNamespace)),
    ['sh', '-c', HOLD_MOUNTS, 'sh', node.mountNamespace],
    ...fileCommands(sandboxRoot, node).map((command) => [...onNode(node), ...command]),
    ...cgroups.flatMap((hierarchy) => [cgroup, node.cgroup].map((group) => cgroupCommand(hierarchy, group))),
    ['ip', 'link', 'add', node.port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', node.networkNamespace],
    ['ip', 'link', 'set', node.port, 'master', CONTROL_BRIDGE, 'up'],
    ip('address', 'add', `${node.address}/${NODE_PREFIX_LENGTH}`, 'dev', 'eth0'),
    ip('link', 'set', 'eth0', 'up'),
    ip('route', 'add', 'default', 'via', CONTROL_ADDRESS),
    ...others.map((other) => ip('route', 'add', other.podCidr, 'via', other.address)),
    ['ip', 'route', 'add', node.podCidr, 'via', node.address],
    [...inNetwork(node.networkNamespace), 'sh', '-c', 'echo 1 >/proc/sys/net/ipv4/ip_forward'],
  ]
}

/** Gives a node its own view of the files: nothing that it writes appears on this machine outside of its folder. */
function fileCommands(sandboxRoot: string, { folder }: SandboxNode): readonly CommandLine[] {
  const scratch = path.join(RUN_FOLDER, '.files')
  const original = path.join(scratch, 'sandbox')
  return [
    ['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/run'],
    ['mkdir', '-p', original],
    ['mount', '--bind', sandboxRoot, original],
    ...PRIVATE_FOLDERS.flatMap((target) => {
      const [upper, work] = ['upper', 'work'].map((kind) => path.join(scratch, kind, target))
      return [
        ['mkdir', '-p', upper ?? '', work ?? ''],
        ['mount', '-t', 'overlay', '-o', `lowerdir=${target},upperdir=${upper},workdir=${work}`, 'overlay', target],
      ]
    }),
    // The sandbox itself may be in one of the folders that were replaced.
    ['mount', '--bind', original, sandboxRoot],
    ...KEPT_FOLDERS.flatMap(([name, target]) => [
      ['mkdir', '-p', path.join(folder, name), target],
      ['mount', '--bind', path.join(folder, name), target],
    ]),
  ]
}
