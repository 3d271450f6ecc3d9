/** Networks of clouds as the cluster knows them: the subnets of every NetConfig. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getList, getString } from '../../api/raw-object.ts'
import { type Cidr, parseCidr } from '../../net/cidr.ts'
import { parseRange, type Range } from '../../net/range.ts'
import { readNetConfigSubnet } from '../../site/import/netconfig-facts.ts'
import type { ClusterState } from '../cluster-state.ts'

export const NET_CONFIG = 'network.openstack.org/NetConfig'

export interface CloudSubnet {
  readonly config: KubeObject
  readonly namespace: string
  readonly network: string
  readonly subnet: string
  readonly cidr: Cidr
  readonly text: string
  readonly hosts: readonly Range[]
  readonly reserved: readonly Range[]
  readonly gateway: string | undefined
}

export function cloudSubnets(patient: ClusterState): readonly CloudSubnet[] {
  return patient.all(NET_CONFIG).flatMap((config) =>
    getList(config, 'spec', 'networks').flatMap((network) =>
      getList(network, 'subnets').flatMap((subnet) => {
        const facts = readNetConfigSubnet(subnet, undefined)
        const cidr = facts && parseCidr(facts.cidr)
        if (!facts || !cidr) return []
        return [
          {
            config,
            namespace: config.metadata.namespace ?? '',
            network: getString(network, 'name') ?? '?',
            subnet: getString(subnet, 'name') ?? '?',
            cidr,
            text: facts.cidr,
            hosts: facts.hosts.flatMap((text) => parseRange(text) ?? []),
            reserved: facts.reserved.flatMap((text) => parseRange(text) ?? []),
            gateway: facts.gateway,
          },
        ]
      }),
    ),
  )
}

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
