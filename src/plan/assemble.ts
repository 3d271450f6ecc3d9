/**
 * Assembles the plan from a draft: the same decisions as text, under the names that `plan -o json` has.
 *
 * Pure. Adds only what follows from the draft: pools of networks with VIPs, and the gaps that endpoints make in spans.
 */

import { groupBy } from '../api/collections.ts'
import { poolName } from '../api/pool-name.ts'
import type { Finding } from '../errors/finding.ts'
import { formatAddress, formatValue } from '../net/address.ts'
import { formatCidr } from '../net/cidr.ts'
import { rangeContains, singleAddressRange } from '../net/range.ts'
import { reverseZones } from '../net/reverse-dns.ts'
import { bgpPeerName, type Cloud, type Site } from '../site/site.ts'
import type { DraftEndpoint, DraftNetwork, DraftSubnet } from './draft/draft.ts'
import type { Draft } from './draft/draft-site.ts'
import {
  formatAddressRange,
  type Plan,
  type PlannedBgp,
  type PlannedNetwork,
  type PlannedSubnet,
  type Route,
} from './plan.ts'
import { type CloudRequest, roles } from './requests.ts'
import type { SlotTable } from './slots/slots.ts'
import { parseVlanRange } from './vlan-range.ts'

export function assemblePlan(
  site: Site,
  draft: Draft,
  requests: readonly CloudRequest[],
  slots: SlotTable,
  findings: readonly Finding[],
): Plan {
  const requestByCloud = new Map<Cloud, CloudRequest>(requests.map((request) => [request.cloud, request]))
  const byCloud = groupBy(draft.networks, ({ request }) => request.cloud)
  const bgp = planBgp(site)
  return {
    site: site.name,
    clouds: site.clouds.map((cloud) => ({
      name: cloud.name,
      namespace: cloud.namespace,
      networks: (byCloud.get(cloud) ?? []).flatMap(planNetwork),
      services: requestByCloud.get(cloud)?.services ?? [],
      uses: requestByCloud.get(cloud)?.uses ?? [],
      from: cloud,
    })),
    segments: draft.segments,
    ...(bgp && { bgp }),
    slots,
    findings,
    from: site,
  }
}

function planNetwork(draft: DraftNetwork): readonly PlannedNetwork[] {
  const { request, placement, subnets } = draft
  if (!placement) return []
  const { cloud, network } = request
  const hasVips = subnets.some(({ spans }) => (spans.vips ?? []).length > 0)
  const pool = hasVips ? poolName(cloud.namespace, network.name) : undefined
  return [
    {
      name: network.name,
      ...(placement.segment !== undefined && { segment: placement.segment }),
      ...(placement.vlan !== undefined && { vlan: placement.vlan }),
      interface: placement.bridge ?? placement.carrier,
      ...(placement.bridge !== undefined && { bridge: placement.bridge }),
      mtu: placement.mtu,
      attach: network.settings.attach ?? 'macvlan',
      ...(network.settings.trunk && { trunk: network.settings.trunk.flatMap((text) => parseVlanRange(text) ?? []) }),
      dnsDomain: draft.dnsDomain,
      ...(pool !== undefined && { pool, sharingKey: pool }),
      subnets: subnets.map((subnet) => planSubnet(subnet, draft.endpoints)),
      vips: draft.slotVips,
      nodes: draft.nodes,
      hosts: draft.hosts,
      endpoints: draft.endpoints.map(({ name, address }) => ({ name, address })),
      routes: request.routes.flatMap((route) => resolveRoute(route, subnets)),
      podRoutes: request.podRoutes.flatMap((route) => resolveRoute(route, subnets)),
    },
  ]
}

function planSubnet(subnet: DraftSubnet, endpoints: readonly DraftEndpoint[]): PlannedSubnet {
  const { name, cidr, gateway, vlan, dnsDomain, spans, routes } = subnet
  const inSpans = Object.values(spans).flat()
  // An endpoint inside a span is a gap in it: no allocator may give it out.
  const gaps = endpoints.filter(({ value }) => inSpans.some((span) => rangeContains(span, value)))
  const reserved = [...subnet.reserved, ...gaps.map(({ value }) => singleAddressRange(value))]
  return {
    name,
    family: cidr.family,
    cidr: formatCidr(cidr),
    ...(gateway && { gateway: formatAddress(gateway) }),
    ...(vlan !== undefined && { vlan }),
    ...(dnsDomain !== undefined && { dnsDomain }),
    reverseZones: reverseZones(cidr),
    spans: roles.flatMap((role) => (spans[role] ?? []).map((range) => ({ role, ...formatAddressRange(range) }))),
    reserved: reserved.map(formatAddressRange),
    routes: routes.flatMap((route) => resolveRoute(route, [subnet])),
  }
}

/** `+150` is the 150th address of the network's subnet of the same family. */
function resolveRoute(route: Route, subnets: readonly DraftSubnet[]): readonly Route[] {
  if (!route.nexthop.startsWith('+')) return [route]
  const family = route.destination.includes(':') ? 6 : 4
  const cidr = subnets.find((subnet) => subnet.cidr.family === family)?.cidr
  if (!cidr) return []
  return [{ ...route, nexthop: formatValue(family, cidr.base + BigInt(route.nexthop.slice(1))) }]
}

function planBgp(site: Site): PlannedBgp | undefined {
  const { mode, asn, peers } = site.cluster.metallb
  if (mode !== 'bgp' || asn === undefined) return undefined
  return {
    asn,
    peers: peers.map((peer, index) => ({
      name: bgpPeerName(site, index),
      address: peer.address,
      asn: peer.asn,
      ...(peer.nodes.length > 0 && { nodes: peer.nodes }),
    })),
  }
}
