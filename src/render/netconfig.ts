/**
 * Renders the NetConfig of a cloud: the networks of its data plane hosts and the addresses that IPSets may take, and
 * the DNSData with the names of these hosts. The 2023 API spells network names differently and has no `serviceNetwork`.
 */
import { SHARED_WITH_ANNOTATION } from '../api/netconfig.ts'
import type { KubeObject } from '../api/object.ts'
import { setSize, subtract } from '../net/range-set.ts'
import { servedHostNames } from '../plan/dns-names.ts'
import {
  type AddressRange,
  formatAddressRange,
  type Plan,
  type PlannedCloud,
  type PlannedNetwork,
  type PlannedSubnet,
} from '../plan/plan.ts'
import { detectEra, type Era } from '../plan/slots/slots.ts'
import { addOwnershipLabels, ownershipLabels } from './labels.ts'
import { mergePatch } from './merge.ts'
import { uniqueRoutes } from './nmstate.ts'
import { isReachable, listAddresses, reservedRanges, spanRanges } from './spans.ts'
import { hasHosts, indexSharing } from './subnet-sharing.ts'

/** More excluded addresses than this become gaps between ranges instead of a list. */
const MAX_LISTED = 64n

export function renderNetConfig(plan: Plan, cloud: PlannedCloud, sharing = indexSharing(plan)): readonly KubeObject[] {
  const era = detectEra(plan.slots)
  const networks: unknown[] = []
  for (const network of cloud.networks) {
    const subnets = network.subnets.filter(hasHosts)
    if (subnets.length > 0) networks.push(renderNetwork(network, subnets, era))
  }
  if (networks.length === 0) return []
  const labels = ownershipLabels({ site: plan.site, cloud: cloud.name })
  return [
    {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'NetConfig',
      metadata: {
        name: 'netconfig',
        namespace: cloud.namespace,
        labels,
        ...sharingAnnotation(sharing.get(cloud.namespace)),
      },
      spec: mergePatch({ networks }, cloud.from.file.overrides?.netConfig),
    },
  ]
}

/** Stackloom's operator assigns addresses of a shared subnet only to namespaces that are named. */
function sharingAnnotation(others: readonly string[] = []): Pick<KubeObject['metadata'], 'annotations'> {
  return others.length === 0 ? {} : { annotations: { [SHARED_WITH_ANNOTATION]: others.join(',') } }
}

function renderNetwork(network: PlannedNetwork, subnets: readonly PlannedSubnet[], era: Era): unknown {
  return {
    name: networkName(network.name, era),
    dnsDomain: network.dnsDomain,
    mtu: network.mtu,
    subnets: subnets.map((subnet) => renderSubnet(network, subnet)),
  }
}

const names2023: Readonly<Record<string, string>> = {
  ctlplane: 'CtlPlane',
  internalapi: 'InternalApi',
  storagemgmt: 'StorageMgmt',
}

function networkName(name: string, era: Era): string {
  if (era === 'today') return name
  return names2023[name] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}

function renderSubnet(network: PlannedNetwork, subnet: PlannedSubnet): unknown {
  const vlan = subnet.vlan ?? network.vlan
  const sameFamily = network.routes.filter((route) => route.nexthop.includes(':') === (subnet.family === 6))
  const reachable = sameFamily.filter((route) => isReachable(route, network, [subnet]))
  const routes = uniqueRoutes([...subnet.routes, ...reachable])
  const { ranges, excluded } = allocation(subnet)
  return {
    name: subnet.name,
    cidr: subnet.cidr,
    ...(subnet.dnsDomain !== undefined && { dnsDomain: subnet.dnsDomain }),
    ...(vlan !== undefined && { vlan }),
    ...(subnet.gateway !== undefined && { gateway: subnet.gateway }),
    allocationRanges: ranges.map(({ start, end }) => ({ start, end })),
    ...(excluded.length > 0 && { excludeAddresses: excluded }),
    ...(routes.length > 0 && { routes: routes.map(({ destination, nexthop }) => ({ destination, nexthop })) }),
  }
}

/** NetConfig can exclude single addresses only: few are listed, many become gaps between ranges. */
function allocation(subnet: PlannedSubnet): {
  readonly ranges: readonly AddressRange[]
  readonly excluded: readonly string[]
} {
  const reserved = reservedRanges(subnet, 'hosts')
  const spans = subnet.spans.filter((span) => span.role === 'hosts')
  if (setSize(reserved) <= MAX_LISTED) return { ranges: spans, excluded: listAddresses(reserved) }
  const parts = subtract(spanRanges(subnet, 'hosts'), reserved)
  // NetConfig's webhook refuses a range of one address, so it is left out.
  return { ranges: parts.filter(({ first, last }) => first < last).map(formatAddressRange), excluded: [] }
}

/** Names of the data plane hosts, for the cloud's own dnsmasq. */
export function renderDnsData(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const hosts: unknown[] = []
  for (const network of cloud.networks) {
    for (const host of network.hosts) {
      if (host.names.length > 0) hosts.push({ hostnames: servedHostNames(host, network.name), ip: host.address })
    }
  }
  if (hosts.length === 0) return []
  const object = {
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'DNSData',
    metadata: { name: 'data-plane-hosts', namespace: cloud.namespace },
    spec: { dnsDataLabelSelectorValue: 'dnsdata', hosts },
  }
  return [addOwnershipLabels(object, { site: plan.site, cloud: cloud.name })]
}
