/**
 * The observer: beside infra-operator, says why an IPSet has no address and who shares one. It writes nothing but
 * Events: infra-operator keeps the status, and would write over anything that we put there.
 */
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { type NetConfig, netConfigs } from '../../api/netconfig.ts'
import { objectKey } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { type ReservationLedger, readReservationLedger } from './reservation-ledger.ts'
import { eventForFinding } from './standing.ts'
import type { AddressInventory } from './usage-report.ts'

export interface IpSetObserver {
  readonly controller: Controller
  /** How the addresses stand, for figures. */
  readonly inventory: () => AddressInventory
}

export function createIpSetObserver(
  runtime: Pick<Runtime, 'cache'>,
  record: (happening: EventRecord) => void,
): IpSetObserver {
  const sets = runtime.cache<IpSet>({ kind: ipSets })
  const configs = runtime.cache<NetConfig>({ kind: netConfigs })
  const given = runtime.cache<Reservation>({ kind: reservations })
  // Made anew when somebody asks after a change, not at every change.
  let known: ReservationLedger | undefined
  const forget = (): void => {
    known = undefined
  }
  configs.subscribe(forget)
  given.subscribe(forget)
  const witness = (): ReservationLedger => {
    known ??= readReservationLedger({ netConfigs: configs.list(), reservations: given.list() })
    return known
  }
  const everybody = (): readonly string[] => sets.list().map(({ metadata }) => objectKey(metadata))
  return {
    controller: {
      name: 'ipset-observer',
      watches: [{ kind: ipSets }, { kind: reservations }, { kind: netConfigs, map: everybody }],
      reconcile: async (request) => {
        const ipSet = sets.get(objectKey(request))
        if (!ipSet || ipSet.metadata.deletionTimestamp) return undefined
        for (const finding of witness().findingsFor(ipSet)) record(eventForFinding(ipSet, finding))
        return undefined
      },
    },
    inventory: () => ({ netConfigs: configs.list(), ipSets: sets.list(), held: witness().held }),
  }
}
