/** Parses the subnets of every NetConfig, and the addresses that Reservations assign to hosts. */

import { type CloudSubnet, readCloudSubnets } from '../../addresses/host-subnets.ts'
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getString } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'

export const NET_CONFIG = 'network.openstack.org/NetConfig'

export function cloudSubnets(cluster: ClusterState): readonly CloudSubnet[] {
  return readCloudSubnets(cluster.all(NET_CONFIG))
}

export const RESERVATION = 'network.openstack.org/Reservation'

export interface Holder {
  readonly address: string
  readonly name: string
  readonly object: KubeObject
  readonly cloud: string
}

export function reservations(
  cluster: ClusterState,
): readonly (Holder & { readonly network: string; readonly subnet: string })[] {
  return cluster.all(RESERVATION).flatMap((object) =>
    Object.values(asRecord(getField(object, 'spec', 'reservation'))).flatMap((entry) => {
      const address = getString(entry, 'address')
      if (address === undefined) return []
      const network = getString(entry, 'network') ?? ''
      const subnet = getString(entry, 'subnet') ?? ''
      return [
        { address, name: formatObjectName(object), object, cloud: object.metadata.namespace ?? '', network, subnet },
      ]
    }),
  )
}
