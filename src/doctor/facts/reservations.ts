/** Addresses that hosts of the data plane have, as their Reservations say. */
import type { KubeObject } from '../../api/object.ts'
import { at, nameOf, textAt } from '../../api/raw-object.ts'
import { recordOf } from '../../yaml/loose.ts'
import type { Patient } from '../patient.ts'

export const RESERVATION = 'network.openstack.org/Reservation'

export interface Holder {
  readonly address: string
  readonly who: string
  readonly object: KubeObject
  readonly cloud: string
}

export function reservations(
  patient: Patient,
): readonly (Holder & { readonly network: string; readonly subnet: string })[] {
  return patient.all(RESERVATION).flatMap((object) =>
    Object.values(recordOf(at(object, 'spec', 'reservation'))).flatMap((one) => {
      const address = textAt(one, 'address')
      if (address === undefined) return []
      const network = textAt(one, 'network') ?? ''
      const subnet = textAt(one, 'subnet') ?? ''
      return [
        { address, who: nameOf(object), object, cloud: object.metadata.namespace ?? '', network, subnet },
      ]
    }),
  )
}
