/**
 * Interfaces of nodes: what nmstate says that each node has, or, where no state was read, what the policies make.
 */
import type { KubeObject } from '../../api/object.ts'
import { getList, getNumber, getString } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContaining, formatCidr } from '../../net/cidr.ts'
import { selectedNodes } from '../../verify/readiness/node-policy.ts'
import type { ClusterState } from '../cluster-state.ts'

export const POLICY = 'nmstate.io/NodeNetworkConfigurationPolicy'
export const STATE = 'nmstate.io/NodeNetworkState'

export interface NodeInterface {
  readonly name: string
  readonly type: string | undefined
  /** The bridge or bond that it is a port of. */
  readonly controller: string | undefined
  readonly addresses: readonly string[]
  /** The subnets of its addresses. */
  readonly subnets: readonly string[]
}

export type Interfaces = ReadonlyMap<string, NodeInterface>

/** By node, then by interface. Empty where nothing of nmstate is known. */
export function interfacesByNode(patient: ClusterState): ReadonlyMap<string, Interfaces> {
  const found = new Map<string, Map<string, NodeInterface>>()
  const add = (node: string, entries: readonly NodeInterface[]): void => {
    const known = found.get(node) ?? new Map<string, NodeInterface>()
    for (const entry of entries) if (!known.has(entry.name)) known.set(entry.name, entry)
    found.set(node, known)
  }
  for (const state of patient.all(STATE))
    add(state.metadata.name, parseInterfaces(getList(state, 'status', 'currentState', 'interfaces')))
  for (const policy of patient.all(POLICY)) {
    const wanted = desiredInterfaces(policy).filter(({ state }) => state !== 'absent')
    for (const node of selectedNodes(policy, patient.context)) {
      // A node that reports its state is believed, not the wish.
      if (!patient.get(STATE, node)) add(node, wanted)
    }
  }
  return found
}

export interface KnownInterfaces {
  readonly names: readonly string[]
  /** Whether no node has it, as far as can be told. */
  readonly isMissing: (name: string) => boolean
}

export function knownInterfaces(patient: ClusterState): KnownInterfaces {
  const names = new Set([...patient.derive(interfacesByNode).values()].flatMap((interfaces) => [...interfaces.keys()]))
  // Policies do not speak of every NIC; but a VLAN that no policy makes is not there.
  const whole = patient.all(STATE).length > 0
  return {
    names: [...names],
    isMissing: (name) => names.size > 0 && !names.has(name) && (whole || name.includes('.')),
  }
}

export interface DesiredInterface extends NodeInterface {
  readonly state: string
}

/** What a policy says of interfaces. */
export function desiredInterfaces(policy: KubeObject): readonly DesiredInterface[] {
  const list = getList(policy, 'spec', 'desiredState', 'interfaces')
  const read = new Map(parseInterfaces(list).map((nodeInterface) => [nodeInterface.name, nodeInterface]))
  return list.flatMap((one) => {
    const known = read.get(getString(one, 'name') ?? '')
    return known ? [{ ...known, state: getString(one, 'state') ?? 'up' }] : []
  })
}

function parseInterfaces(list: readonly unknown[]): readonly NodeInterface[] {
  const controllers = new Map<string, string>()
  for (const one of list) {
    const name = getString(one, 'name') ?? ''
    for (const port of getList(one, 'bridge', 'port')) controllers.set(getString(port, 'name') ?? '', name)
    for (const port of getList(one, 'link-aggregation', 'port'))
      if (typeof port === 'string') controllers.set(port, name)
  }
  return list.flatMap((one) => {
    const name = getString(one, 'name')
    if (name === undefined) return []
    const entries = ['ipv4', 'ipv6'].flatMap((family) => getList(one, family, 'address'))
    return [
      {
        name,
        type: getString(one, 'type'),
        controller: controllers.get(name) ?? getString(one, 'controller'),
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
