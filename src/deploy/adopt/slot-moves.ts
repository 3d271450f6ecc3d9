/**
 * What each slot of a running control plane must say, so that the operators go on asking for what the cloud has.
 *
 * A slot whose Service has an address asks for that one. A slot with wishes and no Service (a service that is off,
 * a default of the CRD) is led to the cloud's pool all the same: it may be switched on tomorrow. Pure.
 */
import type { PlannedCloud } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import type { Annotations, SlotPlace } from './places.ts'
import { networkOf, type ServiceMove } from './services.ts'
import { asked, lacking, spelled } from './wishes.ts'

export interface SlotMove {
  /** The plan's name for it, or its path. */
  readonly name: string
  readonly place: SlotPlace
  readonly network: string
  readonly wants: Annotations
  readonly lacks: Annotations
  /** The Service that is there today. */
  readonly service?: string
}

export interface SlotInput {
  readonly places: readonly SlotPlace[]
  readonly uses: readonly SlotUse[]
  readonly services: readonly ServiceMove[]
}

export function slotMoves(cloud: PlannedCloud, { places, uses, services }: SlotInput): readonly SlotMove[] {
  return places.flatMap((place) => {
    const service = services.find(({ name }) => name === place.service)
    const found = service ?? wishOf(cloud, place)
    if (!found) return []
    const use = uses.find(({ path }) => path.join('.') === place.path.join('.'))
    return [
      {
        name: use?.name ?? place.path.join('.'),
        place,
        network: found.network,
        wants: found.wants,
        lacks: lacking(found.wants, place.annotations),
        ...(service && { service: service.name }),
      },
    ]
  })
}

/** What a slot without a Service asks for, in the cloud's own words. */
function wishOf(
  cloud: PlannedCloud,
  { annotations }: SlotPlace,
): { readonly network: string; readonly wants: Annotations } | undefined {
  const pool = asked(annotations, 'address-pool')
  const address = asked(annotations, 'loadBalancerIPs')
  const network =
    networkOf(cloud, address.split(',')[0]?.trim() ?? '') ??
    cloud.networks.find((one) => one.pool !== undefined && [one.name, one.pool].includes(pool))
  if (!network?.pool) return undefined
  const shares = asked(annotations, 'allow-shared-ip') !== ''
  const wants = spelled({
    'address-pool': network.pool,
    ...(shares && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(address !== '' && { loadBalancerIPs: address }),
  })
  return { network: network.name, wants }
}
