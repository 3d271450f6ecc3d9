/**
 * The observer: beside infra-operator, says why an IPSet has no address and who shares one. It writes nothing but
 * Events: infra-operator keeps the status, and would write over anything that we put there.
 */
import { type IpSet, ipSets, type Reservation, reservations } from '../../api/ipset.ts'
import { type NetConfig, netConfigs } from '../../api/netconfig.ts'
import { keyOf } from '../../api/object.ts'
import type { Controller } from '../../kube/controller.ts'
import type { Happening } from '../../kube/events.ts'
import type { Runtime } from '../../kube/runtime.ts'
import type { Stock } from './report.ts'
import { happeningOf } from './standing.ts'
import { type Witness, witnessOf } from './witness.ts'

export interface Observer {
  readonly controller: Controller
  /** How the addresses stand, for figures. */
  readonly stock: () => Stock
}

export function ipSetObserver(
  runtime: Pick<Runtime, 'cache'>,
  record: (happening: Happening) => void,
): Observer {
  const sets = runtime.cache<IpSet>({ kind: ipSets })
  const configs = runtime.cache<NetConfig>({ kind: netConfigs })
  const given = runtime.cache<Reservation>({ kind: reservations })
  // Made anew when somebody asks after a change, not at every change.
  let known: Witness | undefined
  const forget = (): void => {
    known = undefined
  }
  configs.subscribe(forget)
  given.subscribe(forget)
  const witness = (): Witness => {
    known ??= witnessOf({ netConfigs: configs.list(), reservations: given.list() })
    return known
  }
  const everybody = (): readonly string[] => sets.list().map(({ metadata }) => keyOf(metadata))
  return {
    controller: {
      name: 'ipset-observer',
      watches: [{ kind: ipSets }, { kind: reservations }, { kind: netConfigs, map: everybody }],
      reconcile: async (request) => {
        const ipSet = sets.get(keyOf(request))
        if (!ipSet || ipSet.metadata.deletionTimestamp) return undefined
        for (const one of witness().findingsOf(ipSet)) record(happeningOf(ipSet, one))
        return undefined
      },
    },
    stock: () => ({ netConfigs: configs.list(), ipSets: sets.list(), held: witness().held }),
  }
}
