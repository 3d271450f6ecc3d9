/** Lists the holders of addresses by cloud: hosts, Services, nodes and pods; finds addresses with two of them. */
import { groupBy } from '../../api/collections.ts'
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import type { ClusterState } from '../cluster-state.ts'
import { groupVersionKind } from '../kinds.ts'
import { IP_POOL, NAD, podAddresses, podSpans } from './attachments.ts'
import { type Holder, RESERVATION, reservations } from './host-networks.ts'
import { interfacesByNode, POLICY, STATE } from './interfaces.ts'
import { loadBalancers } from './load-balancers.ts'

export const holderKinds = ['Service', RESERVATION, IP_POOL, NAD, 'Pod', 'Node', POLICY, STATE] as const

export function doubledKinds(): readonly GroupVersionKind[] {
  return holderKinds.map(groupVersionKind)
}

export interface DoubledAddress {
  /** Of the cloud. */
  readonly namespace: string
  readonly address: string
  readonly holders: readonly string[]
  /** The first holder. */
  readonly object: KubeObject
}

export function doubledAddresses(cluster: ClusterState): readonly DoubledAddress[] {
  const byAddress = groupBy(cluster.derive(addressHolders), ({ cloud, address }) => `${cloud} ${address}`)
  return [...byAddress.values()].flatMap((all) => {
    const holders = [...new Set(all.map(({ name }) => name))]
    const [first] = all
    if (!first || holders.length < 2) return []
    return [{ namespace: first.cloud, address: first.address, holders, object: first.object }]
  })
}

/** Holders of addresses by cloud. Services that share an address count once. */
function addressHolders(cluster: ClusterState): readonly Holder[] {
  const shared = new Map<string, Holder>()
  for (const { object, namespace, assigned } of cluster.derive(loadBalancers))
    for (const address of assigned)
      shared.set(`${namespace} ${address}`, { address, name: formatObjectName(object), object, cloud: namespace })
  const masters = groupBy(cluster.derive(podSpans), ({ read }) => read.master)
  const onNodes = [...cluster.derive(interfacesByNode)].flatMap(([node, interfaces]) =>
    [...interfaces.values()].flatMap(({ name, addresses }) =>
      [...new Set((masters.get(name) ?? []).map(({ namespace }) => namespace))].flatMap((cloud) =>
        addresses.map((address) => ({
          address,
          name: `node ${node} (${name})`,
          object: cluster.get('Node', node) ?? { apiVersion: 'v1', kind: 'Node', metadata: { name: node } },
          cloud,
        })),
      ),
    ),
  )
  const pods = cluster.derive(podAddresses).flatMap(({ address, pod, pool }) => {
    const [cloud = '', name = ''] = pod.split('/')
    return [{ address, name: `pod ${pod}`, object: cluster.get('Pod', name, cloud) ?? pool, cloud }]
  })
  return [...cluster.derive(reservations), ...shared.values(), ...onNodes, ...pods]
}
