/** Parses the subnets of every NetConfig, and the addresses that Reservations assign to hosts. */

import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getList, getString } from '../../api/raw-object.ts'
import { type Cidr, parseCidr } from '../../net/cidr.ts'
import { parseRange, type Range } from '../../net/range.ts'
import { readNetConfigSubnet } from '../../site/import/network-facts.ts'
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

export function cloudSubnets(cluster: ClusterState): readonly CloudSubnet[] {
  return cluster.all(NET_CONFIG).flatMap((config) =>
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
