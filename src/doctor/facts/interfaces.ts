/**
 * Interfaces of nodes: what nmstate says that each node has, or, where no state was read, what the policies make.
 */
import type { KubeObject } from '../../api/object.ts'
import { listAt, numberAt, textAt } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrAround, formatCidr } from '../../net/cidr.ts'
import { selectedNodes } from '../../verify/readiness/nmstate.ts'
import type { Patient } from '../patient.ts'

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
export function interfacesByNode(patient: Patient): ReadonlyMap<string, Interfaces> {
  const found = new Map<string, Map<string, NodeInterface>>()
  const add = (node: string, entries: readonly NodeInterface[]): void => {
    const known = found.get(node) ?? new Map<string, NodeInterface>()
    for (const one of entries) if (!known.has(one.name)) known.set(one.name, one)
    found.set(node, known)
  }
  for (const state of patient.all(STATE))
    add(state.metadata.name, interfacesIn(listAt(state, 'status', 'currentState', 'interfaces')))
  for (const policy of patient.all(POLICY)) {
    const wanted = desired(policy).filter(({ state }) => state !== 'absent')
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
  readonly lacks: (name: string) => boolean
}

export function knownInterfaces(patient: Patient): KnownInterfaces {
  const names = new Set([...patient.derive(interfacesByNode).values()].flatMap((one) => [...one.keys()]))
  // Policies do not speak of every NIC; but a VLAN that no policy makes is not there.
  const whole = patient.all(STATE).length > 0
  return {
    names: [...names],
    lacks: (name) => names.size > 0 && !names.has(name) && (whole || name.includes('.')),
  }
}

export interface DesiredInterface extends NodeInterface {
  readonly state: string
}

/** What a policy says of interfaces. */
export function desired(policy: KubeObject): readonly DesiredInterface[] {
  const list = listAt(policy, 'spec', 'desiredState', 'interfaces')
  const read = new Map(interfacesIn(list).map((one) => [one.name, one]))
  return list.flatMap((one) => {
    const known = read.get(textAt(one, 'name') ?? '')
    return known ? [{ ...known, state: textAt(one, 'state') ?? 'up' }] : []
  })
}

function interfacesIn(list: readonly unknown[]): readonly NodeInterface[] {
  const controllers = new Map<string, string>()
  for (const one of list) {
    const name = textAt(one, 'name') ?? ''
    for (const port of listAt(one, 'bridge', 'port')) controllers.set(textAt(port, 'name') ?? '', name)
    for (const port of listAt(one, 'link-aggregation', 'port'))
      if (typeof port === 'string') controllers.set(port, name)
  }
  return list.flatMap((one) => {
    const name = textAt(one, 'name')
    if (name === undefined) return []
    const entries = ['ipv4', 'ipv6'].flatMap((family) => listAt(one, family, 'address'))
    return [
      {
        name,
        type: textAt(one, 'type'),
        controller: controllers.get(name) ?? textAt(one, 'controller'),
        addresses: entries.flatMap((entry) => textAt(entry, 'ip') ?? []),
        subnets: entries.flatMap(subnetOf),
      },
    ]
  })
}

function subnetOf(entry: unknown): readonly string[] {
  const address = parseAddress(textAt(entry, 'ip') ?? '')
  const prefix = numberAt(entry, 'prefix-length')
  return address && prefix !== undefined ? [formatCidr(cidrAround(address, prefix))] : []
}
