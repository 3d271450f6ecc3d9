/**
 * What each slot of a running control plane must say, so that the operators go on asking for what the cloud has.
 *
 * A slot whose Service has an address asks for that one. A slot with wishes and no Service (a service that is off,
 * a default of the CRD) is led to the cloud's pool all the same: it may be switched on tomorrow. Pure.
 */
import type { PlannedCloud } from '../../plan/plan.ts'
import type { SlotUse } from '../../plan/slots/slots.ts'
import type { Annotations, LiveSlot } from './live-slots.ts'
import { networkForAddress, type ServiceMove } from './service-moves.ts'
import { missingAnnotations, readAnnotation, writeAnnotations } from './wishes.ts'

export interface SlotMove {
  /** The plan's name for it, or its path. */
  readonly name: string
  readonly place: LiveSlot
  readonly network: string
  readonly wants: Annotations
  readonly lacks: Annotations
  /** The Service that is there today. */
  readonly service?: string
}

export interface SlotInput {
  readonly places: readonly LiveSlot[]
  readonly uses: readonly SlotUse[]
  readonly services: readonly ServiceMove[]
}

export function findSlotMoves(cloud: PlannedCloud, { places, uses, services }: SlotInput): readonly SlotMove[] {
  return places.flatMap((place) => {
    const service = services.find(({ name }) => name === place.service)
    const found = service ?? requestOfSlot(cloud, place)
    if (!found) return []
    const use = uses.find(({ path }) => path.join('.') === place.path.join('.'))
    return [
      {
        name: use?.name ?? place.path.join('.'),
        place,
        network: found.network,
        wants: found.wants,
        lacks: missingAnnotations(found.wants, place.annotations),
        ...(service && { service: service.name }),
      },
    ]
  })
}

/** What a slot without a Service asks for, in the cloud's own words. */
function requestOfSlot(
  cloud: PlannedCloud,
  { annotations }: LiveSlot,
): { readonly network: string; readonly wants: Annotations } | undefined {
  const pool = readAnnotation(annotations, 'address-pool')
  const address = readAnnotation(annotations, 'loadBalancerIPs')
  const network =
    networkForAddress(cloud, address.split(',')[0]?.trim() ?? '') ??
    cloud.networks.find((network) => network.pool !== undefined && [network.name, network.pool].includes(pool))
  if (!network?.pool) return undefined
  const shares = readAnnotation(annotations, 'allow-shared-ip') !== ''
  const wants = writeAnnotations({
    'address-pool': network.pool,
    ...(shares && { 'allow-shared-ip': network.sharingKey ?? '' }),
    ...(address !== '' && { loadBalancerIPs: address }),
  })
  return { network: network.name, wants }
}
