/** Checks that pools have the planned ranges and scope, and that no other pool has their addresses. */
import type { KubeObject } from '../../api/object.ts'
import { getField, getList } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { foreignPoolOverlap, poolOpen } from '../findings/check-findings.ts'
import { type CloudCheck, type CloudContext, formatCount, locateObject, outcome, POOL } from './check-definition.ts'
import { compareWithPlan, filterByKind } from './compare-with-plan.ts'
import { exclusiveRanges, findOverlap } from './planned-ranges.ts'

const SCOPE = 'spec.serviceAllocation'

export const ipAddressPools: CloudCheck = {
  scope: 'cloud',
  id: 'ipaddresspools',
  title: 'All IPAddressPools',
  promise: 'every pool exists, with the planned ranges, and no other pool has an address of the cloud',
  kinds: [POOL],
  run: (context) => {
    const pools = filterByKind(context.desired, POOL)
    const findings = compareWithPlan(context, pools, (path) => path.startsWith(SCOPE))
    return outcome(pools.length, 'pool', [...findings, ...foreignPools(context, pools)])
  },
}

function foreignPools({ plan, cloud, live }: CloudContext, planned: readonly KubeObject[]): readonly Finding[] {
  const names = new Set(planned.map(({ metadata }) => metadata.name))
  const land = exclusiveRanges(plan, cloud)
  return live
    .all(formatGroupKind(POOL))
    .filter(({ metadata }) => !names.has(metadata.name))
    .flatMap((pool) =>
      getList(pool, 'spec', 'addresses').flatMap((text) => {
        const range = String(text)
        const owner = findOverlap(land, range)
        if (!owner) return []
        const planned = `${owner.network.name} ${owner.text}`
        const facts = { cloud: cloud.name, pool: pool.metadata.name, range, planned }
        return [finding(foreignPoolOverlap, facts, { where: locateObject(pool, 'spec.addresses') })]
      }),
    )
}

export const namespaceScoping: CloudCheck = {
  scope: 'cloud',
  id: 'namespace-scoping',
  title: 'Namespace Scoping',
  promise: 'every pool of the cloud serves its namespace and no other',
  kinds: [POOL],
  run: ({ cloud, desired, live }) => {
    const pools = filterByKind(desired, POOL).flatMap(
      ({ metadata: { name, namespace } }) => live.get(formatGroupKind(POOL), name, namespace) ?? [],
    )
    const open = pools.filter((pool) => !servesOnly(pool, cloud.namespace))
    return {
      seen: `the scope of ${formatCount(pools.length, 'pool')}`,
      count: pools.length,
      findings: open.map((pool) => {
        const facts = { pool: pool.metadata.name, namespace: cloud.namespace, live: poolScope(pool) }
        return finding(poolOpen, facts, { where: locateObject(pool, SCOPE) })
      }),
    }
  },
}

function servesOnly(pool: KubeObject, namespace: string): boolean {
  const scope = poolScope(pool)
  return scope.length === 1 && scope[0] === namespace
}

/** The namespaces and selectors that a pool serves; empty means every namespace. */
function poolScope(pool: KubeObject): readonly string[] {
  const allocation = getField(pool, 'spec', 'serviceAllocation')
  const selectors = getList(allocation, 'namespaceSelectors').map(
    (selector) => `namespaces with ${JSON.stringify(selector)}`,
  )
  return [...getList(allocation, 'namespaces').map(String), ...selectors]
}
