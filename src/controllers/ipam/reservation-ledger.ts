/**
 * The ledger as Reservations tell it, where no blocks are kept: beside infra-operator, or in a dump of its cluster.
 *
 * Pure. Nothing makes an address unique there, so one may be found with two holders; the older one counts.
 */
import type { AddressHolder } from '../../api/address-block.ts'
import type { IpSet, Reservation } from '../../api/ipset.ts'
import { type NetConfig, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { formatAddress } from '../../net/address.ts'
import { addressKey, applyChanges } from './block.ts'
import { buildClaim, buildReservationClaim } from './claim.ts'
import { duplicateAddress, reservationConflict } from './findings.ts'
import { createLedger, groupByBlock, type HeldAddress, type Ledger, ownerKey } from './ledger.ts'
import { type Claim, planAllocation, segmentAddress } from './plan-allocation.ts'
import { summarizeResults } from './standing.ts'

export interface ReservationState {
  readonly netConfigs: readonly NetConfig[]
  readonly reservations: readonly Reservation[]
}

export interface ReservationLedger {
  readonly held: readonly HeldAddress[]
  /** Why this IPSet lacks an address, or shares one. */
  readonly findingsFor: (ipSet: IpSet) => readonly Finding[]
}

export function readReservationLedger({ netConfigs, reservations }: ReservationState): ReservationLedger {
  const configs = new Map<string, readonly NetConfig[]>()
  for (const netConfig of netConfigs) {
    const { namespace = '' } = netConfig.metadata
    configs.set(namespace, [...(configs.get(namespace) ?? []), netConfig])
  }
  const configOf = ({ metadata }: IpSet | Reservation): NetConfig | undefined =>
    selectNetConfig(configs.get(metadata.namespace ?? '') ?? [])
  const byKey = new Map(reservations.map((reservation) => [objectKey(reservation.metadata), reservation]))
  const claims = reservations
    .toSorted((a, b) => (ageOrder(a) < ageOrder(b) ? -1 : 1))
    .flatMap((reservation) => {
      const netConfig = configOf(reservation)
      return netConfig ? [identifyByName(buildReservationClaim(reservation, netConfig))] : []
    })
  const { held, shared } = collectHeld(claims)
  const ledger = buildLedger(held)
  return {
    held,
    findingsFor: (ipSet) => {
      const netConfig = configOf(ipSet)
      if (!netConfig) return []
      const owner = objectKey(ipSet.metadata)
      const asked = buildClaim(ipSet, netConfig, byKey.get(owner))
      const { results } = planAllocation([identifyByName(asked.claim)], ledger)
      const { findings } = summarizeResults(asked, results.get(owner) ?? [])
      // Where there is no ledger nothing contradicts it: that an address is shared is said by itself.
      const own = findings.filter(({ code }) => code !== reservationConflict.code)
      return [...own, ...(shared.get(owner) ?? [])]
    },
  }
}

function ageOrder({ metadata }: Reservation): string {
  return `${metadata.creationTimestamp ?? ''} ${objectKey(metadata)}`
}

/** A Reservation has the name of its IPSet, and in dumps UIDs may be missing: here the name is who somebody is. */
function identifyByName(claim: Claim): Claim {
  return { ...claim, uid: ownerKey(claim), inherits: new Set() }
}

function collectHeld(claims: readonly Claim[]): {
  readonly held: readonly HeldAddress[]
  /** By owner: what it shares with somebody who was first. */
  readonly shared: ReadonlyMap<string, readonly Finding[]>
} {
  const holders = new Map<string, HeldAddress>()
  const shared = new Map<string, readonly Finding[]>()
  for (const { uid, namespace, name, requests } of claims) {
    for (const { pool, reserved } of requests) {
      if (reserved === undefined) continue
      const holder: AddressHolder = { uid, namespace, name, network: pool.network }
      const spot = segmentAddress(pool, reserved)
      const first = holders.get(addressKey(spot))
      if (!first) holders.set(addressKey(spot), { spot, holder })
      else {
        const owners = [ownerKey(first.holder), ownerKey(holder)] as const
        const facts = { address: formatAddress(spot), network: pool.network, segment: spot.segment, owners }
        const said = finding(duplicateAddress, facts, { owners })
        for (const owner of owners) shared.set(owner, [...(shared.get(owner) ?? []), said])
      }
    }
  }
  return { held: [...holders.values()], shared }
}

function buildLedger(held: readonly HeldAddress[]): Ledger {
  const ledger = createLedger()
  for (const { id, items } of groupByBlock(held).values()) {
    const changes = items.map(({ spot, holder }) => ({ spot, holder, owner: ownerKey(holder) }))
    ledger.load(applyChanges(id, undefined, changes))
  }
  return ledger
}
