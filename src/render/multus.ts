/**
 * Renders NetworkAttachmentDefinitions: how a cloud's pods attach to its networks and which addresses they get.
 *
 * whereabouts counts by range and `network_name`, not by definition or namespace, so each network of a cloud has a name.
 */
import type { KubeObject } from '../api/object.ts'
import type { Range } from '../net/range.ts'
import { freeRanges } from '../net/range-set.ts'
import {
  type AddressRange,
  formatAddressRange,
  type Plan,
  type PlannedCloud,
  type PlannedNetwork,
  type PlannedSubnet,
  type Route,
} from '../plan/plan.ts'
import { ownershipLabels } from './labels.ts'
import { formatCidrs, reservedRanges, spanRanges } from './spans.ts'

type Json = Readonly<Record<string, unknown>>

export function renderAttachments(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const definitions: KubeObject[] = []
  for (const network of cloud.networks) {
    if (network.attach === 'none') continue
    definitions.push(definition(plan, cloud, network, network.name, cniConfig(cloud, network)))
    if (network.endpoints.length === 0) continue
    definitions.push(definition(plan, cloud, network, staticName(network), staticConfig(network)))
  }
  return definitions
}

/** Individual endpoints need a second definition, because one definition has one IPAM. */
export function staticName(network: PlannedNetwork): string {
  return `${network.name}-static`
}

/** Other operators than RabbitMQ's take only names of definitions, so the address of the pod is in its definition. */
export function endpointDefinitionName(network: PlannedNetwork, endpoint: string): string {
  return `${staticName(network)}-${endpoint.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`
}

export function renderEndpointDefinition(
  plan: Plan,
  cloud: PlannedCloud,
  network: PlannedNetwork,
  { name: endpoint, address }: { readonly name: string; readonly address: string },
): KubeObject {
  const name = endpointDefinitionName(network, endpoint)
  const ipam = { type: 'static', addresses: [{ address }], ...podRoutes(network) }
  return definition(plan, cloud, network, name, { cniVersion: '0.3.1', name, ...link(network), ipam })
}

function definition(plan: Plan, cloud: PlannedCloud, network: PlannedNetwork, name: string, config: Json): KubeObject {
  const labels = ownershipLabels({ site: plan.site, cloud: cloud.name, network: network.name })
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: cloud.namespace, labels },
    spec: { config: `${JSON.stringify(config, null, 2)}\n` },
  }
}

export function cniConfig(cloud: PlannedCloud, network: PlannedNetwork): Json {
  return { cniVersion: '0.3.1', name: network.name, ...link(network), ipam: ipam(cloud, network) }
}

function staticConfig(network: PlannedNetwork): Json {
  return {
    cniVersion: '0.3.1',
    name: staticName(network),
    ...link(network),
    capabilities: { ips: true },
    ipam: { type: 'static' },
  }
}

function link(network: PlannedNetwork): Json {
  if (network.attach === 'bridge') {
    const trunk = (network.trunk ?? []).map(({ first, last }) =>
      first === last ? { id: first } : { minID: first, maxID: last },
    )
    return {
      type: 'bridge',
      bridge: network.bridge ?? network.interface,
      ...(trunk.length > 0 && { vlanTrunk: trunk }),
    }
  }
  return { type: 'macvlan', master: network.interface }
}

function ipam(cloud: PlannedCloud, network: PlannedNetwork): Json {
  const ranges = network.subnets.map(whereaboutsRange).filter((range) => range !== undefined)
  const [only] = ranges
  if (!only) return {}
  return {
    type: 'whereabouts',
    // One range in the common short form; several ranges mean one address of each.
    ...(ranges.length === 1 ? only : { ipRanges: ranges }),
    ...podRoutes(network),
    network_name: `${cloud.namespace}-${network.name}`,
  }
}

function podRoutes(network: PlannedNetwork): Json {
  return network.podRoutes.length > 0 ? { routes: network.podRoutes.map(cniRoute) } : {}
}

function cniRoute({ destination, nexthop }: Route): Json {
  return { dst: destination, gw: nexthop }
}

/** The range from the first to the last address for pods, without the gaps between their spans. */
function whereaboutsRange(subnet: PlannedSubnet): Json | undefined {
  const pods = subnet.spans.filter((span) => span.role === 'pods')
  const [only] = pods
  if (!only) return undefined
  // Nearly every subnet has one span and nothing to exclude.
  if (pods.length === 1 && subnet.reserved.length === 0) {
    return { range: subnet.cidr, range_start: only.start, range_end: only.end }
  }
  const { start, end, exclude } = exclusions(subnet)
  return { range: subnet.cidr, range_start: start, range_end: end, ...(exclude.length > 0 && { exclude }) }
}

function exclusions(subnet: PlannedSubnet): AddressRange & { readonly exclude: readonly string[] } {
  const spans = spanRanges(subnet, 'pods')
  const [first, last] = [spans[0], spans.at(-1)]
  if (!first || !last) throw new TypeError('the subnet has no span for pods')
  const whole: Range = { family: first.family, first: first.first, last: last.last }
  return {
    ...formatAddressRange(whole),
    exclude: formatCidrs([...freeRanges(whole, spans), ...reservedRanges(subnet, 'pods')]),
  }
}

/** The annotation that lists the networks to which Multus attaches a pod. */
export const NETWORKS_ANNOTATION = 'k8s.v1.cni.cncf.io/networks'

export interface Attachment {
  readonly name: string
  readonly namespace: string
  /** With prefix length: `172.17.0.20/24`. Only a definition with static IPAM accepts them. */
  readonly ips?: readonly string[]
}

export function networksAnnotation(attachments: readonly Attachment[]): string {
  return JSON.stringify(
    attachments.map(({ name, namespace, ips }) => ({ name, namespace, ...(ips?.length && { ips }) })),
  )
}
