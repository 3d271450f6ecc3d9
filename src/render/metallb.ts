/**
 * Renders MetalLB's objects of a cloud: its pools, and how their addresses are announced (layer 2 or BGP).
 *
 * Pool names contain the namespace, so they are unique in the cluster. A pool serves only that namespace, and only
 * Services that request it.
 */
import type { KubeObject } from '../api/object.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { bgpPeerName } from '../site/site.ts'
import { addOwnershipLabels, type Ownership, ownershipLabels } from './labels.ts'
import { formatSpan, freeSpans } from './spans.ts'

const POOLS = 'metallb.io/v1beta1'

export function renderPools(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const serviceAllocation = { namespaces: [cloud.namespace] }
  const pools: KubeObject[] = []
  for (const network of cloud.networks) {
    if (network.pool === undefined) continue
    pools.push({
      apiVersion: POOLS,
      kind: 'IPAddressPool',
      metadata: {
        name: network.pool,
        namespace: plan.from.cluster.metallb.namespace,
        labels: ownershipLabels(owner(plan, cloud, network)),
      },
      spec: { addresses: poolAddresses(network), autoAssign: false, avoidBuggyIPs: false, serviceAllocation },
    })
  }
  return pools
}

function poolAddresses(network: PlannedNetwork): readonly string[] {
  const ranges: string[] = []
  for (const subnet of network.subnets) ranges.push(...freeSpans(subnet, 'vips').map(formatSpan))
  return ranges
}

export function renderAdvertisements(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const pooled = cloud.networks.filter((network) => network.pool !== undefined)
  if (pooled.length === 0) return []
  if (plan.from.cluster.metallb.mode === 'bgp') return [bgpAdvertisement(plan, cloud, pooled)]
  const everyNode = hostnameIn(plan.from.cluster.nodes.map((node) => node.name))
  return pooled.map((network) => l2Advertisement(plan, cloud, network, everyNode))
}

function l2Advertisement(plan: Plan, cloud: PlannedCloud, network: PlannedNetwork, everyNode: unknown): KubeObject {
  return {
    apiVersion: POOLS,
    kind: 'L2Advertisement',
    metadata: {
      name: network.pool ?? '',
      namespace: plan.from.cluster.metallb.namespace,
      labels: ownershipLabels(owner(plan, cloud, network)),
    },
    spec: {
      ipAddressPools: [network.pool],
      // The bridge, if there is one: a port of a bridge answers no ARP.
      interfaces: [network.interface],
      // The list of interfaces does not limit the announcing nodes; a node without the VLAN must not be elected.
      nodeSelectors: [everyNode],
    },
  }
}

function bgpAdvertisement(plan: Plan, cloud: PlannedCloud, pooled: readonly PlannedNetwork[]): KubeObject {
  const object = {
    apiVersion: POOLS,
    kind: 'BGPAdvertisement',
    metadata: { name: `bgpadvertisement-${cloud.namespace}`, namespace: plan.from.cluster.metallb.namespace },
    spec: {
      ipAddressPools: pooled.map((network) => network.pool),
      peers: plan.from.cluster.metallb.peers.map((_, index) => bgpPeerName(plan.from, index)),
    },
  }
  return addOwnershipLabels(object, { site: plan.site, cloud: cloud.name })
}

/** Peers belong to the site: MetalLB's FRR refuses a second peer with the same address, and only FRR announces IPv6. */
export function renderPeers(plan: Plan): readonly KubeObject[] {
  const { mode, asn, peers, namespace } = plan.from.cluster.metallb
  if (mode !== 'bgp') return []
  return peers.map((peer, index) => {
    const object = {
      apiVersion: 'metallb.io/v1beta2',
      kind: 'BGPPeer',
      metadata: { name: bgpPeerName(plan.from, index), namespace },
      spec: {
        myASN: asn ?? peer.asn,
        peerASN: peer.asn,
        peerAddress: peer.address,
        ...(peer.port !== undefined && { peerPort: peer.port }),
        ...(peer.passwordSecret !== undefined && { passwordSecret: { name: peer.passwordSecret } }),
        ...(peer.bfdProfile !== undefined && { bfdProfile: peer.bfdProfile }),
        ...(peer.ebgpMultiHop !== undefined && { ebgpMultiHop: peer.ebgpMultiHop }),
        ...(peer.nodes.length > 0 && { nodeSelectors: [hostnameIn(peer.nodes)] }),
      },
    }
    return addOwnershipLabels(object, { site: plan.site })
  })
}

function hostnameIn(nodes: readonly string[]): unknown {
  return { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: nodes }] }
}

function owner(plan: Plan, cloud: PlannedCloud, network: PlannedNetwork): Ownership {
  return { site: plan.site, cloud: cloud.name, network: network.name }
}
