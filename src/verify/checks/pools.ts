/** Pools: there with the planned ranges, for their own cloud alone, and nobody else has their addresses. */
import type { KubeObject } from '../../api/object.ts'
import { at, listAt } from '../../api/raw-object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { poolElsewhere, poolOpen } from '../../errors/verify.ts'
import { asPlanned, desiredOf } from './as-planned.ts'
import { type CloudCheck, type CloudLook, counted, placeOf } from './check.ts'
import { POOL } from './kinds.ts'
import { landOf, overlapping } from './spans.ts'

const SCOPE = 'spec.serviceAllocation'

/** Document 001, "Check All IPAddressPools". */
export const ipAddressPools: CloudCheck = {
  scope: 'cloud',
  id: 'ipaddresspools',
  title: 'All IPAddressPools',
  promise: 'every pool exists, with the planned ranges, and no other pool has an address of the cloud',
  kinds: [POOL],
  look: (look) => {
    const pools = desiredOf(look.desired, POOL)
    const findings = asPlanned(look, pools, (path) => path.startsWith(SCOPE))
    return {
      seen: counted(pools.length, 'pool'),
      count: pools.length,
      findings: [...findings, ...othersPools(look, pools)],
    }
  },
}

function othersPools({ plan, cloud, live }: CloudLook, own: readonly KubeObject[]): readonly Finding[] {
  const names = new Set(own.map(({ metadata }) => metadata.name))
  const land = landOf(plan, cloud)
  return live
    .all(groupKindOf(POOL))
    .filter(({ metadata }) => !names.has(metadata.name))
    .flatMap((pool) =>
      listAt(pool, 'spec', 'addresses').flatMap((text) => {
        const range = String(text)
        const owner = overlapping(land, range)
        if (!owner) return []
        const planned = `${owner.network.name} ${owner.text}`
        const facts = { cloud: cloud.name, pool: pool.metadata.name, range, planned }
        return [finding(poolElsewhere, facts, { where: placeOf(pool, 'spec.addresses') })]
      }),
    )
}

/** Document 001, "Check Namespace Scoping". */
export const namespaceScoping: CloudCheck = {
  scope: 'cloud',
  id: 'namespace-scoping',
  title: 'Namespace Scoping',
  promise: 'every pool of the cloud serves its namespace and no other',
  kinds: [POOL],
  look: ({ cloud, desired, live }) => {
    const pools = desiredOf(desired, POOL).flatMap(
      ({ metadata: { name, namespace } }) => live.get(groupKindOf(POOL), name, namespace) ?? [],
    )
    const open = pools.filter((pool) => !servesOnly(pool, cloud.namespace))
    return {
      seen: `the scope of ${counted(pools.length, 'pool')}`,
      count: pools.length,
      findings: open.map((pool) => {
        const facts = { pool: pool.metadata.name, namespace: cloud.namespace, live: scopeOf(pool) }
        return finding(poolOpen, facts, { where: placeOf(pool, SCOPE) })
      }),
    }
  },
}

function servesOnly(pool: KubeObject, namespace: string): boolean {
  const scope = scopeOf(pool)
  return scope.length === 1 && scope[0] === namespace
}

/** Whom a pool serves; nobody named means everybody. */
function scopeOf(pool: KubeObject): readonly string[] {
  const allocation = at(pool, 'spec', 'serviceAllocation')
  const selectors = listAt(allocation, 'namespaceSelectors').map(
    (one) => `namespaces with ${JSON.stringify(one)}`,
  )
  return [...listAt(allocation, 'namespaces').map(String), ...selectors]
}
