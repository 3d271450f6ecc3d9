/**
 * Formats the commands for the switches to which the NICs of the nodes are connected: one bridge per segment, because not
 * every kernel has VLAN devices. A VLAN interface of a node is a cable to the bridge of its segment. Pure.
 */
import { inNetwork, type NodeLayout, type SandboxNode } from './node-layout.ts'

type CommandLine = readonly string[]

/** A switch and a VLAN on it, which is absent for untagged frames. */
export interface Segment {
  readonly on: string
  readonly vlan?: number
}

/** The bridge of a segment, at most 15 characters. */
export function segmentBridge({ switches }: NodeLayout, { on, vlan }: Segment): string {
  return `seg${switches.indexOf(on)}${vlan === undefined ? '' : `v${vlan}`}`
}

/** The end of a node's cable on the switch. */
function switchPort(layout: NodeLayout, node: SandboxNode, segment: Segment): string {
  return `p${layout.nodes.indexOf(node)}-${segmentBridge(layout, segment).slice('seg'.length)}`
}

/** The NICs of all nodes; VLANs are added when a policy asks for them. */
export function switchCommands(layout: NodeLayout): readonly CommandLine[] {
  return layout.switches.flatMap((on) => [
    ...segmentCommands(layout, { on }),
    ...layout.nodes.flatMap((node) => {
      const nic = node.nics[on]
      return nic === undefined ? [] : cableCommands(layout, node, { on }, nic)
    }),
  ])
}

export function segmentCommands(layout: NodeLayout, segment: Segment): readonly CommandLine[] {
  const onSwitch = inNetwork(layout.switchNamespace)
  const bridge = segmentBridge(layout, segment)
  return [
    [...onSwitch, 'ip', 'link', 'add', bridge, 'type', 'bridge'],
    [...onSwitch, 'ip', 'link', 'set', bridge, 'mtu', String(MAX_MTU), 'up'],
  ]
}

/** The switches carry every frame that a node may send. */
const MAX_MTU = 9216

/** Connects an interface of a node to the bridge of a segment. */
export function cableCommands(
  layout: NodeLayout,
  node: SandboxNode,
  segment: Segment,
  name: string,
): readonly CommandLine[] {
  const onSwitch = inNetwork(layout.switchNamespace)
  const port = switchPort(layout, node, segment)
  const peer = ['peer', 'name', name, 'netns', node.networkNamespace]
  return [
    [...onSwitch, 'ip', 'link', 'add', port, 'mtu', String(MAX_MTU), 'type', 'veth', ...peer],
    [...onSwitch, 'ip', 'link', 'set', port, 'master', segmentBridge(layout, segment), 'up'],
    [...inNetwork(node.networkNamespace), 'ip', 'link', 'set', name, 'up'],
  ]
}
