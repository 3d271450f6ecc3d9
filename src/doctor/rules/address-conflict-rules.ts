/** Overlapping ranges of two allocators, and addresses with two holders. */

import { groupBy } from '../../api/collections.ts'
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import { formatRange, intersection, type Range } from '../../net/range.ts'
import { rangeSet, subtract } from '../../net/range-set.ts'
import type { ClusterState } from '../cluster-state.ts'
import { doubledAddresses, holderKinds } from '../facts/address-holders.ts'
import { POOL, poolOwner, pools } from '../facts/address-pools.ts'
import { NAD, podSpans } from '../facts/attachments.ts'
import { cloudSubnets, NET_CONFIG } from '../facts/host-networks.ts'
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

const addressTwice = rule({
  id: 'ipam/address-twice',
  problem: problems.addressTwice,
  looksAt: ['Service'],
  also: holderKinds.filter((kind) => kind !== 'Service'),
  match: (cluster) =>
    doubledAddresses(cluster).map(({ object, address, holders }) => ({ about: object, facts: { address, holders } })),
})

export const addressConflictRules: readonly Rule[] = [spansOverlap, addressTwice]
