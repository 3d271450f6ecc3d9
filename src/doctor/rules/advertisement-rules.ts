/** Compares advertisements with the interfaces of nodes, and pools with the plan. */

import { asRecord, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
import { matchesLabels } from '../../api/selectors.ts'
import { formatRange, type Range } from '../../net/range.ts'
import { rangeSet, subtract } from '../../net/range-set.ts'
import { type PlannedNetwork, parseAddressRange } from '../../plan/plan.ts'
import type { ClusterState } from '../cluster-state.ts'
import { advertises, findPool, L2, POOL, pools } from '../facts/address-pools.ts'
import { NAD } from '../facts/attachments.ts'
import { missingPool } from '../facts/cloud-pools.ts'
import { interfacesByNode, knownInterfaces, POLICY, STATE } from '../facts/interfaces.ts'
import * as problems from '../findings/metallb-findings.ts'
import { links, type Rule, rule } from '../rule.ts'

const interfacesNamed = (advertisement: KubeObject): readonly string[] =>
  asStrings(asRecord(advertisement['spec'])['interfaces'])

const bridgePortAdvertised = rule({
  id: 'metallb/bridge-port-advertised',
  problem: problems.bridgePortAdvertised,
  looksAt: [L2],
  also: ['Node', POLICY, STATE],
  link: links.metallbL2,
  match: (cluster) =>
    cluster.all(L2).flatMap((advertisement) =>
      interfacesNamed(advertisement).flatMap((port) => {
        for (const [node, interfaces] of cluster.derive(interfacesByNode)) {
          const bridge = interfaces.get(port)?.controller
          if (bridge === undefined) continue
          const { namespace: metallb = 'metallb-system', name } = advertisement.metadata
          const facts = { port, bridge, node, metallb, advertisement: name }
          return [{ about: advertisement, path: 'spec.interfaces', facts }]
        }
        return []
      }),
    ),
})

const interfaceMissing = rule({
  id: 'metallb/interface-nowhere',
  problem: problems.interfaceMissing,
  looksAt: [L2],
  also: ['Node', POLICY, STATE, NAD],
  likelihood: 'likely',
  link: links.metallbL2,
  match: (cluster) => {
    const known = cluster.derive(knownInterfaces)
    return cluster.all(L2).flatMap((advertisement) =>
      interfacesNamed(advertisement)
        .filter(known.isMissing)
        .map((name) => ({
          about: advertisement,
          path: 'spec.interfaces',
          facts: { interface: name, known: known.closest(name) },
          dependsOn: cluster.all(POLICY),
        })),
    )
  },
})

const leaderWithoutInterface = rule({
  id: 'metallb/leader-without-interface',
  problem: problems.leaderWithoutInterface,
  looksAt: [L2, 'Node'],
  also: [POLICY, STATE, 'Pod', 'metallb.io/ServiceL2Status'],
  likelihood: 'likely',
  link: links.metallbL2,
  match: (cluster) =>
    cluster.all(L2).flatMap((advertisement) =>
      interfacesNamed(advertisement).flatMap((name) => {
        const having = [...cluster.derive(interfacesByNode)]
          .filter(([, interfaces]) => interfaces.has(name))
          .map(([node]) => node)
        if (having.length === 0 || interfacesNamed(advertisement).length > 1) return []
        const missing = eligibleNodes(advertisement, cluster).filter((node) => !having.includes(node))
        if (missing.length === 0) return []
        const service = announcedBy(missing, advertisement, cluster)
        const facts = {
          interface: name,
          missing: service ? [service.node] : missing,
          service: service?.service,
          having,
        }
        return [{ about: advertisement, path: 'spec.nodeSelectors', facts }]
      }),
    ),
})

/** Nodes that MetalLB may choose. */
function eligibleNodes(advertisement: KubeObject, cluster: ClusterState): readonly string[] {
  const selectors = getList(advertisement, 'spec', 'nodeSelectors')
  const speakers = cluster.derive(speakerNodes)
  return cluster
    .all('Node')
    .filter(({ metadata }) => speakers.size === 0 || speakers.has(metadata.name))
    .filter(({ metadata }) => {
      const labels = { 'kubernetes.io/hostname': metadata.name, ...metadata.labels }
      return selectors.length === 0 || selectors.some((selector) => matchesLabels(selector, labels))
    })
    .map(({ metadata }) => metadata.name)
}

/** Nodes with a speaker; empty if no pods were read, and then any node may have one. */
function speakerNodes(cluster: ClusterState): ReadonlySet<string> {
  const pods = cluster.all('Pod').filter(({ metadata }) => metadata.labels?.['component'] === 'speaker')
  return new Set(pods.flatMap((pod) => getString(pod, 'spec', 'nodeName') ?? []))
}

/** ServiceL2Status records which node announces a Service. */
function announcedBy(
  nodes: readonly string[],
  advertisement: KubeObject,
  cluster: ClusterState,
): { readonly node: string; readonly service: string } | undefined {
  for (const status of cluster.all('metallb.io/ServiceL2Status')) {
    const node = getString(status, 'status', 'node') ?? ''
    const name = getString(status, 'status', 'serviceName') ?? ''
    const namespace = getString(status, 'status', 'serviceNamespace') ?? ''
    const service = cluster.get('Service', name, namespace)
    const from = service?.metadata.annotations?.['metallb.io/ip-allocated-from-pool']
    const pool = from === undefined ? undefined : findPool(cluster, from)
    if (nodes.includes(node) && pool && advertises(advertisement, pool))
      return { node, service: `${namespace}/${name}` }
  }
  return undefined
}

const poolNotPlanned = rule({
  id: 'metallb/pool-not-planned',
  problem: problems.poolNotPlanned,
  looksAt: [POOL],
  match: (cluster) => {
    const { plan } = cluster
    if (!plan || cluster.derive(pools).length === 0) return []
    return plan.clouds.flatMap((cloud) =>
      cloud.networks.flatMap((network) => {
        if (network.pool === undefined) return []
        const planned = formatRangeSet(plannedVips(network))
        const live = findPool(cluster, network.pool)
        const held = live && formatRangeSet(live.ranges)
        if (held === planned) return []
        const about = live?.object ?? missingPool(network.pool, cluster)
        const facts = { pool: network.pool, planned, live: held ?? 'nothing' }
        return [{ about, facts: { ...facts, what: held === undefined ? ('missing' as const) : ('ranges' as const) } }]
      }),
    )
  },
})

function plannedVips({ subnets }: PlannedNetwork): readonly Range[] {
  return subnets.flatMap(({ spans, reserved }) =>
    subtract(
      rangeSet(spans.filter(({ role }) => role === 'vips').map(parseAddressRange)),
      rangeSet(reserved.map(parseAddressRange)),
    ),
  )
}

function formatRangeSet(ranges: readonly Range[]): string {
  return rangeSet(ranges).map(formatRange).join(', ')
}

export const advertisementRules: readonly Rule[] = [
  poolNotPlanned,
  bridgePortAdvertised,
  interfaceMissing,
  leaderWithoutInterface,
]
