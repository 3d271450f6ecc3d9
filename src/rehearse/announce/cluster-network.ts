/**
 * Describes the network over which the nodes of a rehearsal reach the API server and each other, beside the networks of the
 * site. Pure.
 */
import type { MachinePlug } from '../switch/switch-commands.ts'
import { type NodeNic, type RehearsedNode, SWITCH_MTU, type Switch } from '../topology.ts'

/** The range for benchmarks, which no site has. */
const PREFIX = '198.18.0.'
export const API_ADDRESS = `${PREFIX}1`
const CLUSTER_NIC = 'cluster0'
const ROLE = 'cluster'
const VLAN = 1
const FIRST_NODE = 10

export interface ClusterNode {
  readonly name: string
  readonly address: string
  readonly nic: NodeNic
}

export function planClusterNodes(nodes: readonly RehearsedNode[]): readonly ClusterNode[] {
  return nodes.map(({ name }, index) => ({
    name,
    address: `${PREFIX}${FIRST_NODE + index}`,
    nic: { name: CLUSTER_NIC, mac: `52:54:00:5d:00:${index.toString(16).padStart(2, '0')}`, port: `n${index}c` },
  }))
}

export function clusterSwitch(nodes: readonly ClusterNode[]): Switch {
  const ports = nodes.map(({ name, nic }) => ({
    name: nic.port,
    node: name,
    nic: nic.name,
    vlans: [],
    native: VLAN,
    mtu: SWITCH_MTU,
  }))
  return { role: ROLE, ports }
}

/** The machine with the API server. */
export const controlPlug: MachinePlug = {
  kind: 'machine',
  name: 'api',
  role: ROLE,
  vlan: VLAN,
  addresses: [`${API_ADDRESS}/24`],
}
