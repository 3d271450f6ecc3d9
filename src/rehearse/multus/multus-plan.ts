/**
 * Decides which pods Multus attaches in a rehearsal, one for each cloud with all its networks, and judges the addresses that
 * whereabouts gave them. Pure.
 */
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { address as parseText } from '../../net/address.ts'
import { type Plan, type PlannedCloud, type PlannedNetwork, parseAddressRange } from '../../plan/plan.ts'
import { networksAnnotation, renderAttachments } from '../../render/multus.ts'
import { freeSpans } from '../../render/spans.ts'
import { attachmentDiffers, attachmentStays } from '../findings.ts'

export interface MultusPod {
  readonly cloud: PlannedCloud
  readonly node: string
  /** Also the name of its network namespace. */
  readonly name: string
  readonly networks: readonly PlannedNetwork[]
  /** Its NetworkAttachmentDefinitions and itself. */
  readonly objects: readonly KubeObject[]
}

export function planMultusPods(plan: Plan): readonly MultusPod[] {
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  return plan.clouds.flatMap((cloud, index): readonly MultusPod[] => {
    const networks = cloud.networks.filter(({ attach }) => attach !== 'none')
    const node = nodes[index % nodes.length]
    if (networks.length === 0 || node === undefined) return []
    const { namespace } = cloud
    const name = `${namespace}-multus`
    const annotation = networksAnnotation(networks.map((network) => ({ name: network.name, namespace })))
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, annotations: { 'k8s.v1.cni.cncf.io/networks': annotation } },
      spec: { nodeName: node, containers: [{ name: 'pod', image: 'pod' }] },
    }
    return [{ cloud, node, name, networks, objects: [...renderAttachments(plan, cloud), pod] }]
  })
}

interface NetworkStatus {
  readonly name: string
  readonly ips?: readonly string[]
}

/** Compares what Multus wrote into the pod with the plan: an address of every subnet, from its span for pods. */
export function judgeAttachments(
  { cloud, node, networks }: MultusPod,
  pod: KubeObject | undefined,
): readonly Finding[] {
  const text = pod?.metadata.annotations?.['k8s.v1.cni.cncf.io/network-status'] ?? '[]'
  const statuses = JSON.parse(text) as readonly NetworkStatus[]
  return networks.flatMap((network) => {
    const from = `${cloud.name}/${network.name} on ${node}`
    const status = statuses.find(({ name }) => name === `${cloud.namespace}/${network.name}`)
    if (!status) return [finding(attachmentDiffers, { from, reason: 'the pod has no such interface' })]
    return network.subnets.flatMap((subnet) => {
      const ranges = freeSpans(subnet, 'pods').map(parseAddressRange)
      if (ranges.length === 0) return []
      const given = (status.ips ?? []).filter((ip) => parseText(ip).family === subnet.family)
      const isPlanned = given.some((ip) => {
        const { value } = parseText(ip)
        return ranges.some(({ first, last }) => value >= first && value <= last)
      })
      if (isPlanned) return []
      const reason = `${given.join(', ') || 'no address'} instead of one of its span for pods in ${subnet.cidr}`
      return [finding(attachmentDiffers, { from, reason })]
    })
  })
}

/** Addresses that whereabouts still holds after all pods are detached. */
export function judgeReleased(pools: readonly KubeObject[]): readonly Finding[] {
  return pools.flatMap((pool) => {
    const range = getString(pool, 'spec', 'range') ?? pool.metadata.name
    const held = Object.values(asRecord(asRecord(pool['spec'])['allocations']))
    return held.map((allocation) =>
      finding(attachmentStays, { pool: range, pod: getString(allocation, 'podref') ?? 'a pod' }),
    )
  })
}
