/**
 * The addresses that a node asks for: an IPSet with the name of its host, and how far that has come.
 *
 * Pure. A namespace with a NetConfig is one whose addresses are managed: there the networks of a node, or of its role,
 * are asked for by name. Where there is none, addresses are what people write into the node.
 */

import { type IpSet, type IpSetNetwork, ipSets } from '../../api/ipset.ts'
import { findSubnet, type NetConfig, type NetConfigNetwork, resolveServiceNetwork } from '../../api/netconfig.ts'
import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { findCondition } from '../conditions.ts'
import { addressesUnusable } from '../findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/node.ts'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { managementNetworkName } from './inventory.ts'

export type AddressRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'wanted'; readonly ipSet: IpSet }
  | { readonly kind: 'wrong'; readonly finding: Finding }

/** How far something has come that another controller makes for a node. */
export type ProvisionState =
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'awaited'; readonly why: string }
  | { readonly kind: 'there' }

/** The name under which a host has its addresses and its names. */
function hostName({ metadata, spec }: DataPlaneNode): string {
  return spec.hostName || metadata.name
}

export function buildAddressRequest(
  node: DataPlaneNode,
  effective: EffectiveNode,
  netConfig: NetConfig | undefined,
): AddressRequest {
  if (!netConfig || effective.networks.length === 0) return { kind: 'none' }
  const networks: IpSetNetwork[] = []
  for (const network of effective.networks) {
    const read = resolveNetwork(network, effective, netConfig)
    if (typeof read === 'string') {
      return { kind: 'wrong', finding: finding(addressesUnusable, { ipSet: hostName(node), why: read }) }
    }
    networks.push(read)
  }
  const { namespace = '', name, uid = '' } = node.metadata
  const owner = { ...dataPlaneNodes, name, uid, controller: true, blockOwnerDeletion: true }
  return {
    kind: 'wanted',
    ipSet: {
      ...ipSets,
      metadata: { name: hostName(node), namespace, ownerReferences: [owner] },
      spec: { immutable: false, networks },
    },
  }
}

/** What is asked for on one network, or why it cannot be. */
function resolveNetwork(
  { name, network: old, subnetName, fixedIP, defaultRoute }: EffectiveNode['networks'][number],
  effective: EffectiveNode,
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
  const fixed = fixedIP || existingManagementAddress(network, subnet.cidr, effective)
  return {
    name: network.name,
    subnetName: subnet.name,
    ...(fixed && { fixedIP: fixed }),
    ...(defaultRoute !== undefined && { defaultRoute }),
  }
}

/** A node that has its management address already keeps it: another one would be another host. */
function existingManagementAddress(
  network: NetConfigNetwork,
  cidr: string,
  effective: EffectiveNode,
): string | undefined {
  if (resolveServiceNetwork(network.name, network.serviceNetwork) !== managementNetworkName(effective)) return undefined
  const [at, within] = [parseAddress(effective.ansibleHost), parseCidr(cidr)]
  return at && within && cidrContains(within, at) ? effective.ansibleHost : undefined
}

/** Made by a node for itself; any other of the name is a person's, who says what is in it. */
export function isOwnedByNode(object: KubeObject, { metadata }: DataPlaneNode): boolean {
  return object.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) ?? false
}

/** Asks for exactly these networks. */
export function requestsSameNetworks({ spec }: IpSet, wanted: IpSet): boolean {
  const words = (list: readonly IpSetNetwork[]): readonly string[] =>
    list.map(({ name, subnetName, fixedIP = '', defaultRoute = false }) =>
      [name.toLowerCase(), subnetName.toLowerCase(), fixedIP, defaultRoute].join(' '),
    )
  return words(spec.networks).join('\n') === words(wanted.spec.networks).join('\n')
}

export function addressesState(node: DataPlaneNode, wish: AddressRequest, ipSet: IpSet | undefined): ProvisionState {
  if (wish.kind !== 'wanted') return { kind: 'not-needed' }
  const { name } = wish.ipSet.metadata
  if (!ipSet) return { kind: 'awaited', why: `Waiting for IPSet ${name}` }
  if (isOwnedByNode(ipSet, node) && !requestsSameNetworks(ipSet, wish.ipSet)) {
    return { kind: 'awaited', why: `Waiting for IPSet ${name} to ask for other networks` }
  }
  return readyState(ipSet, `IPSet ${name}`)
}

/** Ready at its current generation, where it says which one was seen. */
export function readyState(object: Pick<IpSet, 'metadata' | 'status'>, what: string): ProvisionState {
  const ready = findCondition(object.status?.conditions, 'Ready')
  const seen = object.status?.observedGeneration
  const current = seen === undefined || seen === object.metadata.generation
  if (ready?.status === 'True' && current) return { kind: 'there' }
  const said = current ? (ready?.message ?? 'nobody has looked at it yet') : 'its last change was not seen yet'
  return { kind: 'awaited', why: `Waiting for ${what}: ${said}` }
}
