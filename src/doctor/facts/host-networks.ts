/** Networks of clouds as the cluster knows them: the subnets of every NetConfig. */
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
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
