/** Parses the interfaces of nodes from NodeNetworkState or, if no state was read, from policies. */
import type { KubeObject } from '../../api/object.ts'
import { getList, getNumber, getString } from '../../api/raw-object.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContaining, formatCidr } from '../../net/cidr.ts'
import { selectedNodes } from '../../verify/readiness/node-policy.ts'
import type { ClusterState } from '../cluster-state.ts'
import { attachments } from './attachments.ts'

export const POLICY = 'nmstate.io/NodeNetworkConfigurationPolicy'
export const STATE = 'nmstate.io/NodeNetworkState'

export interface NodeInterface {
  readonly name: string
  readonly type: string | undefined
  /** The bridge or bond that contains it. */
  readonly controller: string | undefined
  readonly addresses: readonly string[]
  /** The subnets of its addresses. */
  readonly subnets: readonly string[]
}

export type Interfaces = ReadonlyMap<string, NodeInterface>

/** By node, then by interface name. */
export function interfacesByNode(cluster: ClusterState): ReadonlyMap<string, Interfaces> {
  const found = new Map<string, Map<string, NodeInterface>>()
  const add = (node: string, entries: readonly NodeInterface[]): void => {
    const known = found.get(node) ?? new Map<string, NodeInterface>()
    for (const entry of entries) if (!known.has(entry.name)) known.set(entry.name, entry)
    found.set(node, known)
  }
  for (const state of cluster.all(STATE))
    add(state.metadata.name, parseInterfaces(getList(state, 'status', 'currentState', 'interfaces')))
  for (const policy of cluster.all(POLICY)) {
    const present = desiredInterfaces(policy).filter(({ state }) => state !== 'absent')
    for (const node of selectedNodes(policy, cluster.context)) {
      // A reported state takes precedence over policies.
      if (!cluster.get(STATE, node)) add(node, present)
    }
  }
  return found
}

export interface KnownInterfaces {
  /** An interface that may be meant: of the same VLAN, and not in use for a network. */
  readonly closest: (name: string) => string | undefined
  /** Whether no node is known to have it. */
  readonly isMissing: (name: string) => boolean
}

export function knownInterfaces(cluster: ClusterState): KnownInterfaces {
  const names = new Set([...cluster.derive(interfacesByNode).values()].flatMap((interfaces) => [...interfaces.keys()]))
  // Policies do not list every NIC, but every VLAN must be in a policy.
  const hasStates = cluster.all(STATE).length > 0
  const masters = new Set(cluster.derive(attachments).map(({ read }) => read.master))
  return {
    closest: (name) =>
      closestMatch(
        name,
        [...names].filter((other) => vlanSuffix(other) === vlanSuffix(name) && !masters.has(other)),
      ),
    isMissing: (name) => names.size > 0 && !names.has(name) && (hasStates || name.includes('.')),
  }
}

/** Another VLAN is another network. */
function vlanSuffix(name: string): string | undefined {
  return /\.(\d+)$/.exec(name)?.[1]
}

export interface DesiredInterface extends NodeInterface {
  readonly state: string
}

/** The desired interfaces of a policy. */
export function desiredInterfaces(policy: KubeObject): readonly DesiredInterface[] {
  const list = getList(policy, 'spec', 'desiredState', 'interfaces')
  const read = new Map(parseInterfaces(list).map((nodeInterface) => [nodeInterface.name, nodeInterface]))
  return list.flatMap((iface) => {
    const known = read.get(getString(iface, 'name') ?? '')
    return known ? [{ ...known, state: getString(iface, 'state') ?? 'up' }] : []
  })
}

function parseInterfaces(list: readonly unknown[]): readonly NodeInterface[] {
  const controllers = new Map<string, string>()
  for (const iface of list) {
    const name = getString(iface, 'name') ?? ''
    for (const port of getList(iface, 'bridge', 'port')) controllers.set(getString(port, 'name') ?? '', name)
    for (const port of getList(iface, 'link-aggregation', 'port'))
      if (typeof port === 'string') controllers.set(port, name)
  }
  return list.flatMap((iface) => {
    const name = getString(iface, 'name')
    if (name === undefined) return []
    const entries = ['ipv4', 'ipv6'].flatMap((family) => getList(iface, family, 'address'))
    return [
      {
        name,
        type: getString(iface, 'type'),
        controller: controllers.get(name) ?? getString(iface, 'controller'),
        addresses: entries.flatMap((entry) => getString(entry, 'ip') ?? []),
        subnets: entries.flatMap(parseSubnet),
      },
    ]
  })
}

function parseSubnet(entry: unknown): readonly string[] {
  const address = parseAddress(getString(entry, 'ip') ?? '')
  const prefix = getNumber(entry, 'prefix-length')
  return address && prefix !== undefined ? [formatCidr(cidrContaining(address, prefix))] : []
}
