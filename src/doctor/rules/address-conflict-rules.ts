/** Overlapping ranges of two allocators, and addresses with two holders. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { formatRange, intersection, type Range } from '../../net/range.ts'
import { rangeSet, subtract } from '../../net/range-set.ts'
import type { ClusterState } from '../cluster-state.ts'
import { POOL, poolOwner, pools } from '../facts/address-pools.ts'
import { IP_POOL, NAD, podAddresses, podSpans } from '../facts/attachments.ts'
import { cloudSubnets, type Holder, NET_CONFIG, RESERVATION, reservations } from '../facts/host-networks.ts'
import { interfacesByNode, POLICY, STATE } from '../facts/interfaces.ts'
import { loadBalancers } from '../facts/load-balancers.ts'
import * as problems from '../findings/ipam-findings.ts'
import { type Rule, type RuleMatch, rule } from '../rule.ts'

interface Span extends Range {
  readonly object: KubeObject
  readonly owner: string
  readonly cloud: string
}

/** The ranges of each allocator of each cloud. */
function allocatorSpans(cluster: ClusterState): readonly Span[] {
  return [
    ...cluster.derive(cloudSubnets).flatMap(({ config, namespace, network, hosts, reserved }) =>
      subtract(rangeSet(hosts), rangeSet(reserved)).map((range) => ({
        ...range,
        object: config,
        owner: `${formatObjectName(config)} ${network} ${formatRange(range)}`,
        cloud: namespace,
      })),
    ),
    ...cluster.derive(podSpans).flatMap(({ object, namespace, open }) =>
      open.map((range) => ({
        ...range,
        object,
        owner: `${formatObjectName(object)} ${formatRange(range)}`,
        cloud: namespace,
      })),
    ),
    ...cluster.derive(pools).flatMap((pool) => {
      const cloud = poolOwner(pool, cluster)
      if (cloud === undefined) return []
      return pool.ranges.map((range) => ({
        ...range,
        object: pool.object,
        owner: `${formatObjectName(pool.object)} ${formatRange(range)}`,
        cloud,
      }))
    }),
  ]
}

const spansOverlap = rule({
  id: 'ipam/spans-overlap',
  problem: problems.spansOverlap,
  looksAt: [NET_CONFIG],
  also: [NAD, POOL],
  match: (cluster) =>
    [...groupBy(cluster.derive(allocatorSpans), ({ cloud, family }) => `${cloud} ${family}`).values()].flatMap(
      (all) => {
        const sorted = all.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))
        const found: RuleMatch<{ first: string; other: string; range: string }>[] = []
        let reach: Span | undefined
        for (const span of sorted) {
          const both = reach && intersection(reach, span)
          // Overlaps within one kind are reported by the rules of that kind.
          if (reach && both && reach.object.kind !== span.object.kind)
            found.push({
              about: span.object,
              facts: { first: reach.owner, other: span.owner, range: formatRange(both) },
            })
          if (!reach || span.last > reach.last) reach = span
        }
        return found
      },
    ),
})

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

const addressTwice = rule({
  id: 'ipam/address-twice',
  problem: problems.addressTwice,
  looksAt: ['Service'],
  also: [RESERVATION, IP_POOL, NAD, 'Pod', 'Node', POLICY, STATE],
  match: (cluster) =>
    [...groupBy(cluster.derive(addressHolders), ({ cloud, address }) => `${cloud} ${address}`).values()].flatMap(
      (all) => {
        const names = [...new Set(all.map(({ name }) => name))]
        const [first] = all
        if (!first || names.length < 2) return []
        return [{ about: first.object, facts: { address: first.address, holders: names } }]
      },
    ),
})

export const addressConflictRules: readonly Rule[] = [spansOverlap, addressTwice]
