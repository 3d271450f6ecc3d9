/** Reads the subnets of NetConfigs: which addresses hosts get. Pure. */
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import { type Cidr, parseCidr } from '../net/cidr.ts'
import { parseRange, type Range } from '../net/range.ts'
import { readNetConfigSubnet } from '../site/import/network-facts.ts'

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

export function readCloudSubnets(netConfigs: readonly KubeObject[]): readonly CloudSubnet[] {
  return netConfigs.flatMap((config) =>
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
