/**
 * From an IPSet, its NetConfig and its Reservation to a claim: what is to be decided, in the ledger's terms.
 *
 * Pure. Names are looked up without regard to case; NetConfig's spelling is what counts from here on.
 */

import type { IpSet, Reservation } from '../../api/ipset.ts'
import { findSubnet, type NetConfig, type NetConfigNetwork, type NetConfigSubnet } from '../../api/netconfig.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { parseAddress } from '../../net/address.ts'
import { unknownNetwork } from './findings.ts'
import type { AddressRequest, Claim } from './plan-allocation.ts'
import { type ParsePool, parsePool } from './pool.ts'

/** One network of an IPSet, with what NetConfig says of it. */
export interface RequestedNetwork {
  readonly network: NetConfigNetwork
  readonly subnet: NetConfigSubnet
  readonly defaultRoute: boolean
}

export interface IpSetClaim {
  readonly claim: Claim
  /** In the order of the IPSet, like the claim's wants. */
  readonly networks: readonly RequestedNetwork[]
  /** What cannot be asked for at all. */
  readonly findings: readonly Finding[]
}

export function buildClaim(
  ipSet: IpSet,
  netConfig: NetConfig,
  reservation: Reservation | undefined,
  poolFor: ParsePool = parsePool,
): IpSetClaim {
  const wishes: RequestedNetwork[] = []
  const wants: AddressRequest[] = []
  const findings: Finding[] = []
  for (const { name, subnetName, fixedIP, defaultRoute } of ipSet.spec.networks) {
    const { network, subnet } = findSubnet(netConfig.spec, name, subnetName)
    const pool = network && subnet && poolFor(netConfig, network.name, subnet)
    const twice = wishes.some((wish) => wish.network === network)
    if (!pool || twice) {
      const why = twice ? 'twice' : !network ? 'network' : !subnet ? 'subnet' : 'cidr'
      findings.push(finding(unknownNetwork, { network: name, subnet: subnetName, why }))
      continue
    }
    const value = (text: string | undefined): bigint | undefined => {
      const read = text === undefined ? undefined : parseAddress(text)
      return read?.family === pool.cidr.family ? read.value : undefined
    }
    const fixed = value(fixedIP)
    const reserved = value(reservedAddress(reservation, network.name))
    wants.push({ pool, ...(fixed !== undefined && { fixed }), ...(reserved !== undefined && { reserved }) })
    wishes.push({ network, subnet, defaultRoute: defaultRoute ?? false })
  }
  const { uid = '', namespace = '', name, creationTimestamp: created = '' } = ipSet.metadata
  return {
    claim: { uid, namespace, name, created, requests: wants, inherits: inheritedUids(reservation) },
    networks: wishes,
    findings,
  }
}

/** What a Reservation holds that no IPSet stands behind: its addresses are claimed in its own name. */
export function buildReservationClaim(reservation: Reservation, netConfig: NetConfig): Claim {
  const { uid = '', namespace = '', name, creationTimestamp: created = '' } = reservation.metadata
  const wants = Object.values(reservation.spec.reservation ?? {}).flatMap((one): readonly AddressRequest[] => {
    const { network, subnet } = findSubnet(netConfig.spec, one.network, one.subnet)
    const pool = network && subnet && parsePool(netConfig, network.name, subnet)
    const read = parseAddress(one.address)
    return pool && read?.family === pool.cidr.family ? [{ pool, reserved: read.value }] : []
  })
  return { uid, namespace, name, created, requests: wants, inherits: inheritedUids(reservation) }
}

function reservedAddress(reservation: Reservation | undefined, network: string): string | undefined {
  const all = Object.entries(reservation?.spec.reservation ?? {})
  const found = all.find(([key]) => key === network) ?? all.find(([key]) => key.toLowerCase() === network.toLowerCase())
  return found?.[1].address
}

function inheritedUids(reservation: Reservation | undefined): ReadonlySet<string> {
  if (!reservation) return new Set()
  const { uid = '', ownerReferences = [] } = reservation.metadata
  return new Set([
    uid,
    ...ownerReferences
      .filter((ownerReference) => ownerReference.kind === 'IPSet')
      .map((ownerReference) => ownerReference.uid),
  ])
}
