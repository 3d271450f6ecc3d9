/**
 * The addresses that a node asks for: an IPSet with the name of its host, and how far that has come.
 *
 * Pure. A namespace with a NetConfig is one whose addresses are managed: there the networks of a node, or of its role,
 * are asked for by name. Where there is none, addresses are what people write into the node.
 */
import type { Effective } from '../../../api/dataplane-inheritance.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { type IpSet, type IpSetNetwork, ipSets } from '../../../api/ipset.ts'
import {
  findSubnet,
  type NetConfig,
  type NetConfigNetwork,
  serviceNetworkOf,
} from '../../../api/netconfig.ts'
import type { KubeObject } from '../../../api/object.ts'
import { addressesUnusable } from '../../../errors/dataplane.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import { parseAddress } from '../../../net/address.ts'
import { cidrContains, parseCidr } from '../../../net/cidr.ts'
import { conditionOf } from '../conditions.ts'
import { managementNetworkOf } from '../inventory.ts'

export type AddressWish =
  | { readonly kind: 'none' }
  | { readonly kind: 'wanted'; readonly ipSet: IpSet }
  | { readonly kind: 'wrong'; readonly finding: Finding }

/** How far something has come that another controller makes for a node. */
export type Provision =
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'awaited'; readonly why: string }
  | { readonly kind: 'there' }

/** The name under which a host has its addresses and its names. */
function hostOf({ metadata, spec }: DataPlaneNode): string {
  return spec.hostName || metadata.name
}

export function addressWish(
  node: DataPlaneNode,
  effective: Effective,
  netConfig: NetConfig | undefined,
): AddressWish {
  if (!netConfig || effective.networks.length === 0) return { kind: 'none' }
  const networks: IpSetNetwork[] = []
  for (const one of effective.networks) {
    const read = networkOf(one, effective, netConfig)
    if (typeof read === 'string') {
      return { kind: 'wrong', finding: finding(addressesUnusable, { ipSet: hostOf(node), why: read }) }
    }
    networks.push(read)
  }
  const { namespace = '', name, uid = '' } = node.metadata
  const owner = { ...dataPlaneNodes, name, uid, controller: true, blockOwnerDeletion: true }
  return {
    kind: 'wanted',
    ipSet: {
      ...ipSets,
      metadata: { name: hostOf(node), namespace, ownerReferences: [owner] },
      spec: { immutable: false, networks },
    },
  }
}

/** What is asked for on one network, or why it cannot be. */
function networkOf(
  { name, network: old, subnetName, fixedIP, defaultRoute }: Effective['networks'][number],
  effective: Effective,
  { metadata, spec }: NetConfig,
): IpSetNetwork | string {
  const asked = name ?? old
  if (asked === undefined) return 'one of its networks has no name'
  const { network, subnet: found } = findSubnet(spec, asked, subnetName ?? '')
  const known = (all: readonly { readonly name: string }[]): string => all.map((one) => one.name).join(', ')
  if (!network) return `NetConfig ${metadata.name} has no network ${asked}: it has ${known(spec.networks)}`
  const [only, another] = network.subnets
  const subnet = found ?? (subnetName === undefined && !another ? only : undefined)
  if (!subnet) {
    const wrong = subnetName === undefined ? 'needs a subnetName' : `has no subnet ${subnetName}`
    return `network ${network.name} ${wrong}: it has ${known(network.subnets)}`
  }
  const fixed = fixedIP || reachedOn(network, subnet.cidr, effective)
  return {
    name: network.name,
    subnetName: subnet.name,
    ...(fixed && { fixedIP: fixed }),
    ...(defaultRoute !== undefined && { defaultRoute }),
  }
}

/** A node that has its management address already keeps it: another one would be another host. */
function reachedOn(network: NetConfigNetwork, cidr: string, effective: Effective): string | undefined {
  if (serviceNetworkOf(network.name, network.serviceNetwork) !== managementNetworkOf(effective))
    return undefined
  const [at, within] = [parseAddress(effective.ansibleHost), parseCidr(cidr)]
  return at && within && cidrContains(within, at) ? effective.ansibleHost : undefined
}

/** Made by a node for itself; any other of the name is a person's, who says what is in it. */
export function isMadeFor(object: KubeObject, { metadata }: DataPlaneNode): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false
}

/** Asks for exactly these networks. */
export function asksFor({ spec }: IpSet, wanted: IpSet): boolean {
  const words = (list: readonly IpSetNetwork[]): readonly string[] =>
    list.map(({ name, subnetName, fixedIP = '', defaultRoute = false }) =>
      [name.toLowerCase(), subnetName.toLowerCase(), fixedIP, defaultRoute].join(' '),
    )
  return words(spec.networks).join('\n') === words(wanted.spec.networks).join('\n')
}

export function addressesProvided(
  node: DataPlaneNode,
  wish: AddressWish,
  ipSet: IpSet | undefined,
): Provision {
  if (wish.kind !== 'wanted') return { kind: 'not-needed' }
  const { name } = wish.ipSet.metadata
  if (!ipSet) return { kind: 'awaited', why: `Waiting for IPSet ${name}` }
  if (isMadeFor(ipSet, node) && !asksFor(ipSet, wish.ipSet)) {
    return { kind: 'awaited', why: `Waiting for IPSet ${name} to ask for other networks` }
  }
  return readyAt(ipSet, `IPSet ${name}`)
}

/** Ready at its current generation, where it says which one was seen. */
export function readyAt(object: Pick<IpSet, 'metadata' | 'status'>, what: string): Provision {
  const ready = conditionOf(object.status?.conditions, 'Ready')
  const seen = object.status?.observedGeneration
  const current = seen === undefined || seen === object.metadata.generation
  if (ready?.status === 'True' && current) return { kind: 'there' }
  const said = current
    ? (ready?.message ?? 'nobody has looked at it yet')
    : 'its last change was not seen yet'
  return { kind: 'awaited', why: `Waiting for ${what}: ${said}` }
}
