/**
 * Observes IPSets that infra-operator serves: finds why one has no address or shares one, and records Events.
 *
 * Without AddressBlocks the Reservations are the ledger. Nothing makes an address unique there; of two holders the older
 * one counts. Writes nothing but Events: infra-operator would overwrite a status.
 */
import type { AddressHolder } from '../../api/address-block.ts'
import { type IpSet, ipSets as ipSetKind, type Reservation, reservations as reservationKind } from '../../api/ipset.ts'
import { type NetConfig, netConfigs as netConfigKind, selectNetConfig } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { formatAddress } from '../../net/address.ts'
import { buildClaim, buildReservationClaim, type Claim, createPoolCache, segmentAddress } from './claim.ts'
import { duplicateAddress, reservationConflict } from './findings.ts'
import { eventForFinding, summarizeResults } from './ipset-results.ts'
import {
  addressKey,
  applyChanges,
  createLedger,
  groupByBlock,
  type HeldAddress,
  type Ledger,
  ownerKey,
} from './ledger.ts'
import { planAllocation } from './plan-allocation.ts'
import { type CountedInventory, createHeldFinder } from './usage-report.ts'

export interface IpSetObserver {
  readonly controller: Controller
  /** The addresses and their holders, for metrics. */
  readonly inventory: () => CountedInventory
}

export function createIpSetObserver(
  runtime: Pick<Runtime, 'cache'>,
  record: (event: EventRecord) => void,
): IpSetObserver {
  const ipSets = runtime.cache<IpSet>({ kind: ipSetKind })
  const netConfigs = runtime.cache<NetConfig>({ kind: netConfigKind })
  const reservations = runtime.cache<Reservation>({ kind: reservationKind })
  // Computed when it is read after a change, not at every change.
  let cached: ReservationLedger | undefined
  const invalidate = (): void => {
    cached = undefined
  }
  netConfigs.subscribe(invalidate)
  reservations.subscribe(invalidate)
  const readLedger = (): ReservationLedger => {
    cached ??= readReservationLedger({ netConfigs: netConfigs.list(), reservations: reservations.list() })
    return cached
  }
  const allKeys = (): readonly string[] => ipSets.list().map(({ metadata }) => objectKey(metadata))
  return {
    controller: {
      name: 'ipset-observer',
      watches: [{ kind: ipSetKind }, { kind: reservationKind }, { kind: netConfigKind, map: allKeys }],
      reconcile: async (request) => {
        const ipSet = ipSets.get(objectKey(request))
        if (!ipSet || ipSet.metadata.deletionTimestamp) return undefined
        for (const cause of readLedger().findingsFor(ipSet)) record(eventForFinding(ipSet, cause))
        return undefined
      },
    },
    inventory: () => ({
      netConfigs: netConfigs.list(),
      ipSets: ipSets.list(),
      findHeld: createHeldFinder(readLedger().held),
    }),
  }
}

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
  const configsByNamespace = new Map<string, readonly NetConfig[]>()
  for (const netConfig of netConfigs) {
    const { namespace = '' } = netConfig.metadata
    configsByNamespace.set(namespace, [...(configsByNamespace.get(namespace) ?? []), netConfig])
  }
  const netConfigFor = ({ metadata }: IpSet | Reservation): NetConfig | undefined =>
    selectNetConfig(configsByNamespace.get(metadata.namespace ?? '') ?? [])
  const reservationsByKey = new Map(reservations.map((reservation) => [objectKey(reservation.metadata), reservation]))
  const parsePool = createPoolCache()
  const claims = reservations
    .toSorted((a, b) => (ageOrder(a) < ageOrder(b) ? -1 : 1))
    .flatMap((reservation) => {
      const netConfig = netConfigFor(reservation)
      return netConfig ? [identifyByName(buildReservationClaim(reservation, netConfig, parsePool))] : []
    })
  const { held, duplicates } = collectHeld(claims)
  const ledger = buildLedger(held)
  return {
    held,
    findingsFor: (ipSet) => {
      const netConfig = netConfigFor(ipSet)
      if (!netConfig) return []
      const owner = objectKey(ipSet.metadata)
      const request = buildClaim(ipSet, netConfig, reservationsByKey.get(owner))
      const { results } = planAllocation([identifyByName(request.claim)], ledger)
      const { findings } = summarizeResults(request, results.get(owner) ?? [])
      // A Reservation cannot contradict a ledger that is made of Reservations; a shared address is its own finding.
      const causes = findings.filter(({ code }) => code !== reservationConflict.code)
      return [...causes, ...(duplicates.get(owner) ?? [])]
    },
  }
}

function ageOrder({ metadata }: Reservation): string {
  return `${metadata.creationTimestamp ?? ''} ${objectKey(metadata)}`
}

/** A Reservation has the name of its IPSet, and dumps may lack UIDs: so the name is the identity here. */
function identifyByName(claim: Claim): Claim {
  return { ...claim, uid: ownerKey(claim), inherits: new Set() }
}

function collectHeld(claims: readonly Claim[]): {
  readonly held: readonly HeldAddress[]
  /** By owner: the addresses that it shares. */
  readonly duplicates: ReadonlyMap<string, readonly Finding[]>
} {
  const heldByAddress = new Map<string, HeldAddress>()
  const duplicates = new Map<string, readonly Finding[]>()
  for (const { uid, namespace, name, requests } of claims) {
    for (const { pool, reserved } of requests) {
      if (reserved === undefined) continue
      const holder: AddressHolder = { uid, namespace, name, network: pool.network }
      const address = segmentAddress(pool, reserved)
      const first = heldByAddress.get(addressKey(address))
      if (!first) heldByAddress.set(addressKey(address), { address, holder })
      else {
        const owners = [ownerKey(first.holder), ownerKey(holder)] as const
        const { segment } = address
        const facts = { address: formatAddress(address), network: pool.network, segment, owners }
        const duplicate = finding(duplicateAddress, facts, { owners })
        for (const owner of owners) duplicates.set(owner, [...(duplicates.get(owner) ?? []), duplicate])
      }
    }
  }
  return { held: [...heldByAddress.values()], duplicates }
}

function buildLedger(held: readonly HeldAddress[]): Ledger {
  const ledger = createLedger()
  for (const { id, items } of groupByBlock(held).values()) {
    const changes = items.map(({ address, holder }) => ({ address, holder, owner: ownerKey(holder) }))
    ledger.load(applyChanges(id, undefined, changes))
  }
  return ledger
}
