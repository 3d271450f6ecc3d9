/** Addresses that hosts of the data plane have, as their Reservations say. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getString } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'

export const RESERVATION = 'network.openstack.org/Reservation'

export interface Holder {
  readonly address: string
  readonly who: string
  readonly object: KubeObject
  readonly cloud: string
}

export function reservations(
  patient: ClusterState,
): readonly (Holder & { readonly network: string; readonly subnet: string })[] {
  return patient.all(RESERVATION).flatMap((object) =>
    Object.values(asRecord(getField(object, 'spec', 'reservation'))).flatMap((one) => {
      const address = getString(one, 'address')
      if (address === undefined) return []
      const network = getString(one, 'network') ?? ''
      const subnet = getString(one, 'subnet') ?? ''
      return [
        { address, who: formatObjectName(object), object, cloud: object.metadata.namespace ?? '', network, subnet },
      ]
    }),
  )
}
