/**
 * The ledger as Reservations tell it, where no blocks are kept: beside infra-operator, or in a dump of its cluster.
 *
 * Pure. Nothing makes an address unique there, so one may be found with two holders; the older one counts.
 */
import type { AddressHolder } from '../../api/address-block.ts'
import type { IpSet, Reservation } from '../../api/ipset.ts'
import { type NetConfig, theNetConfig } from '../../api/netconfig.ts'
import { keyOf } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { addressGivenTwice, reservationContradicts } from '../../errors/ipam.ts'
import { formatAddress } from '../../net/address.ts'
import { changedBlock, spotKey } from './block.ts'
import { claimOf, claimOfReservation } from './claim-of.ts'
import { type Claim, decide, spotIn } from './decide.ts'
import { byBlock, createLedger, type Held, type Ledger, ownerOf } from './ledger.ts'
import { standingOf } from './standing.ts'

export interface Evidence {
  readonly netConfigs: readonly NetConfig[]
  readonly reservations: readonly Reservation[]
}

export interface Witness {
  readonly held: readonly Held[]
  /** Why this IPSet lacks an address, or shares one. */
  readonly findingsOf: (ipSet: IpSet) => readonly Finding[]
}

export function witnessOf({ netConfigs, reservations }: Evidence): Witness {
  const configs = new Map<string, readonly NetConfig[]>()
  for (const one of netConfigs) {
    const { namespace = '' } = one.metadata
    configs.set(namespace, [...(configs.get(namespace) ?? []), one])
  }
  const configOf = ({ metadata }: IpSet | Reservation): NetConfig | undefined =>
    theNetConfig(configs.get(metadata.namespace ?? '') ?? [])
  const byKey = new Map(reservations.map((one) => [keyOf(one.metadata), one]))
  const claims = reservations
    .toSorted((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    .flatMap((one) => {
      const netConfig = configOf(one)
      return netConfig ? [byName(claimOfReservation(one, netConfig))] : []
    })
  const { held, shared } = heldBy(claims)
  const ledger = ledgerOf(held)
  return {
    held,
    findingsOf: (ipSet) => {
      const netConfig = configOf(ipSet)
      if (!netConfig) return []
      const owner = keyOf(ipSet.metadata)
      const asked = claimOf(ipSet, netConfig, byKey.get(owner))
      const { verdicts } = decide([byName(asked.claim)], ledger)
      const { findings } = standingOf(asked, verdicts.get(owner) ?? [])
      // Where there is no ledger nothing contradicts it: that an address is shared is said by itself.
      const own = findings.filter(({ code }) => code !== reservationContradicts.code)
      return [...own, ...(shared.get(owner) ?? [])]
    },
  }
}

function ageOf({ metadata }: Reservation): string {
  return `${metadata.creationTimestamp ?? ''} ${keyOf(metadata)}`
}

/** A Reservation has the name of its IPSet, and in dumps UIDs may be missing: here the name is who somebody is. */
function byName(claim: Claim): Claim {
  return { ...claim, uid: ownerOf(claim), inherits: new Set() }
}

function heldBy(claims: readonly Claim[]): {
  readonly held: readonly Held[]
  /** By owner: what it shares with somebody who was first. */
  readonly shared: ReadonlyMap<string, readonly Finding[]>
} {
  const holders = new Map<string, Held>()
  const shared = new Map<string, readonly Finding[]>()
  for (const { uid, namespace, name, wants } of claims) {
    for (const { pool, reserved } of wants) {
      if (reserved === undefined) continue
      const holder: AddressHolder = { uid, namespace, name, network: pool.network }
      const spot = spotIn(pool, reserved)
      const first = holders.get(spotKey(spot))
      if (!first) holders.set(spotKey(spot), { spot, holder })
      else {
        const owners = [ownerOf(first.holder), ownerOf(holder)] as const
        const facts = { address: formatAddress(spot), network: pool.network, segment: spot.segment, owners }
        const said = finding(addressGivenTwice, facts, { owners })
        for (const owner of owners) shared.set(owner, [...(shared.get(owner) ?? []), said])
      }
    }
  }
  return { held: [...holders.values()], shared }
}

function ledgerOf(held: readonly Held[]): Ledger {
  const ledger = createLedger()
  for (const { id, items } of byBlock(held).values()) {
    const changes = items.map(({ spot, holder }) => ({ spot, holder, owner: ownerOf(holder) }))
    ledger.load(changedBlock(id, undefined, changes))
  }
  return ledger
}
