/**
 * Builds the IPSet that requests the addresses of a node, with the name of its host, and reads its state.
 *
 * Pure. In a namespace with a NetConfig the networks of a node, or of its role, are requested by name. Without a
 * NetConfig, addresses are what people write into the node.
 */
import type { DnsData } from '../../api/dnsdata.ts'
import { type IpSet, type IpSetNetwork, ipSets } from '../../api/ipset.ts'
import { findSubnet, type NetConfig, type NetConfigNetwork, resolveServiceNetwork } from '../../api/netconfig.ts'
import { controllerReference, isOwnedBy } from '../../api/ownership.ts'
import { findCondition } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { cidrContains, parseCidr } from '../../net/cidr.ts'
import { addressesUnusable } from '../findings/data-plane.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/data-plane.ts'
import type { EffectiveNode } from '../rules/inheritance.ts'
import { managementNetworkName } from './inventory.ts'

export type AddressRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'requested'; readonly ipSet: IpSet }
  | { readonly kind: 'invalid'; readonly finding: Finding }

/** The state of an object that another controller completes for a node. */
export type ProvisionState =
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'awaited'; readonly why: string }
  | { readonly kind: 'ready' }

/** The name of the host's IPSet. */
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
    const resolved = resolveNetwork(network, effective, netConfig)
    if (typeof resolved === 'string') {
      return { kind: 'invalid', finding: finding(addressesUnusable, { ipSet: hostName(node), why: resolved }) }
    }
    networks.push(resolved)
  }
  const { namespace = '' } = node.metadata
  const owner = controllerReference({ ...node, ...dataPlaneNodes })
  return {
    kind: 'requested',
    ipSet: {
      ...ipSets,
      metadata: { name: hostName(node), namespace, ownerReferences: [owner] },
      spec: { immutable: false, networks },
    },
  }
}

/** The request for one network, or why it is invalid. */
function resolveNetwork(
  { name, network: deprecatedName, subnetName, fixedIP, defaultRoute }: EffectiveNode['networks'][number],
  effective: EffectiveNode,
  { metadata, spec }: NetConfig,
): IpSetNetwork | string {
  const requestedName = name ?? deprecatedName
  if (requestedName === undefined) return 'one of its networks has no name'
  const { network, subnet: found } = findSubnet(spec, requestedName, subnetName ?? '')
  const listNames = (items: readonly { readonly name: string }[]): string => items.map(({ name }) => name).join(', ')
  if (!network) return `NetConfig ${metadata.name} has no network ${requestedName}: it has ${listNames(spec.networks)}`
  const [only, another] = network.subnets
  const subnet = found ?? (subnetName === undefined && !another ? only : undefined)
  if (!subnet) {
    const problem = subnetName === undefined ? 'needs a subnetName' : `has no subnet ${subnetName}`
    return `network ${network.name} ${problem}: it has ${listNames(network.subnets)}`
  }
  const fixed = fixedIP || existingManagementAddress(network, subnet.cidr, effective)
  return {
    name: network.name,
    subnetName: subnet.name,
    ...(fixed && { fixedIP: fixed }),
    ...(defaultRoute !== undefined && { defaultRoute }),
  }
}

/** A node keeps a management address that it already has: with another one it would not be reachable. */
function existingManagementAddress(
  network: NetConfigNetwork,
  cidr: string,
  effective: EffectiveNode,
): string | undefined {
  if (resolveServiceNetwork(network.name, network.serviceNetwork) !== managementNetworkName(effective)) return undefined
  const [address, range] = [parseAddress(effective.ansibleHost), parseCidr(cidr)]
  return address && range && cidrContains(range, address) ? effective.ansibleHost : undefined
}

export function requestsSameNetworks({ spec }: IpSet, desired: IpSet): boolean {
  const format = (list: readonly IpSetNetwork[]): readonly string[] =>
    list.map(({ name, subnetName, fixedIP = '', defaultRoute = false }) =>
      [name.toLowerCase(), subnetName.toLowerCase(), fixedIP, defaultRoute].join(' '),
    )
  return format(spec.networks).join('\n') === format(desired.spec.networks).join('\n')
}

export function addressesState(node: DataPlaneNode, request: AddressRequest, ipSet: IpSet | undefined): ProvisionState {
  if (request.kind !== 'requested') return { kind: 'not-needed' }
  const { name } = request.ipSet.metadata
  if (!ipSet) return { kind: 'awaited', why: `Waiting for IPSet ${name}` }
  if (isOwnedBy(ipSet, node) && !requestsSameNetworks(ipSet, request.ipSet)) {
    return { kind: 'awaited', why: `Waiting for IPSet ${name} to request other networks` }
  }
  return readyState(ipSet, `IPSet ${name}`)
}

/** Ready at its current generation, where the status has one. */
export function readyState(object: IpSet | DnsData, label: string): ProvisionState {
  const ready = findCondition(object, 'Ready')
  const { observedGeneration = object.metadata.generation } = object.status ?? {}
  const isCurrent = observedGeneration === object.metadata.generation
  if (ready?.status === 'True' && isCurrent) return { kind: 'ready' }
  const reason = isCurrent ? (ready?.message ?? 'it is not reconciled yet') : 'its last change is not reconciled yet'
  return { kind: 'awaited', why: `Waiting for ${label}: ${reason}` }
}
