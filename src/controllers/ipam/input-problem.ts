/**
 * Finds why an IPSet must not be served: a rule of the webhooks, which may not be registered, that the IPSet violates, or
 * that a network or subnet violates which it requests.
 *
 * Pure. Rules that upstream does not have are left out: an object may have been stored before them.
 */
import { type IpSet, ipSetViolations } from '../../api/ipset.ts'
import {
  createSubnetFinder,
  type NetConfig,
  type NetConfigNetwork,
  type NetConfigSubnet,
  netConfigViolations,
} from '../../api/netconfig.ts'
import type { Violation } from '../../api/violation.ts'

/** The message for the condition; undefined for an IPSet that can be served. */
export type FindInputProblem = (ipSet: IpSet, netConfig: NetConfig) => string | undefined

/** Checks each version of a NetConfig once, however many IPSets request addresses of it. */
export function createInputCheck(): FindInputProblem {
  const checked = new WeakMap<NetConfig, InvalidParts>()
  return (ipSet, netConfig) => {
    const invalid = checked.get(netConfig) ?? findInvalidParts(netConfig)
    checked.set(netConfig, invalid)
    return findInvalidSubnet(ipSet, netConfig, invalid) ?? findInvalidRequest(ipSet, netConfig)
  }
}

/** The first violated rule of each network and subnet. */
type InvalidParts = ReadonlyMap<NetConfigNetwork | NetConfigSubnet, Violation>

const PART = /^spec\.networks\[(\d+)\](?:\.subnets\[(\d+)\])?/

function findInvalidParts({ spec }: NetConfig): InvalidParts {
  const invalid = new Map<NetConfigNetwork | NetConfigSubnet, Violation>()
  for (const violation of netConfigViolations(spec)) {
    const [, networkIndex, subnetIndex] = PART.exec(violation.field) ?? []
    const network = spec.networks[Number(networkIndex)]
    const part = subnetIndex === undefined ? network : network?.subnets[Number(subnetIndex)]
    if (part && violation.rule === 'upstream' && !invalid.has(part)) invalid.set(part, violation)
  }
  return invalid
}

function findInvalidSubnet(ipSet: IpSet, { metadata, spec }: NetConfig, invalid: InvalidParts): string | undefined {
  if (invalid.size === 0) return undefined
  const findSubnet = createSubnetFinder(spec)
  for (const request of ipSet.spec.networks) {
    const { network, subnet } = findSubnet(request.name, request.subnetName)
    const violation = network && subnet && (invalid.get(network) ?? invalid.get(subnet))
    if (!violation) continue
    const field = violation.field.slice(violation.field.lastIndexOf('.') + 1)
    return `NetConfig ${metadata.name} is invalid: ${field} of ${network.name}/${subnet.name}: ${violation.detail}`
  }
  return undefined
}

/** A network that is unknown or named twice has a finding of its own, and the others are served. */
function findInvalidRequest({ spec }: IpSet, netConfig: NetConfig): string | undefined {
  const isOfRequest = ({ field, rule }: Violation): boolean =>
    rule === 'upstream' && /\.(fixedIP|defaultRoute)$/.test(field)
  const violation = ipSetViolations(spec, netConfig.spec).find(isOfRequest)
  return violation && `${violation.field}: ${violation.detail}`
}
