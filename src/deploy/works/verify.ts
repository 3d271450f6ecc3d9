/** The last stage: what was planned is what there is. It changes nothing and never skips. */
import type { KubeObject } from '../../api/object.ts'
import { groupKindOf } from '../../api/snapshot.ts'
import { poolNotAsPlanned, vipWithoutService } from '../../errors/deploy.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../../errors/finding.ts'
import type { Stage } from '../../run/stage.ts'
import { fieldDifferences } from '../../verify/fields.ts'
import { ingressOf } from '../../verify/readiness/services.ts'
import { type DeployCloud, kindsOf, type World } from '../world.ts'

const SERVICE = { apiVersion: 'v1', kind: 'Service', slim: true } as const

export function verifyWork(
  world: World,
  cloud: DeployCloud,
  objects: readonly KubeObject[],
): Pick<Stage, 'work'> {
  const pools = objects.filter((object) => groupKindOf(object) === 'metallb.io/IPAddressPool')
  return {
    work: async (context) => {
      await world.lookout.follow([SERVICE, ...kindsOf(pools)], context)
      const findings = [...vipFindings(world, cloud), ...poolFindings(world, cloud, pools)]
      if (hasErrors(findings)) throw new Failure(findings, 1)
      const message = `${cloud.vips.size} VIPs and ${pools.length} pools are as planned`
      context.emit({ kind: 'progress', message })
    },
  }
}

function vipFindings({ lookout }: World, { name, namespace, vips }: DeployCloud): readonly Finding[] {
  const held = new Set(lookout.index(namespace).all('Service').flatMap(ingressOf))
  return [...vips]
    .filter((address) => !held.has(address))
    .map((address) => finding(vipWithoutService, { cloud: name, address }))
}

function poolFindings(
  { lookout }: World,
  { name }: DeployCloud,
  pools: readonly KubeObject[],
): readonly Finding[] {
  const index = lookout.index()
  return pools.flatMap((pool) => {
    const live = index.get(groupKindOf(pool), pool.metadata.name, pool.metadata.namespace)
    const path = live ? fieldDifferences(pool, live)[0]?.path : 'metadata.name'
    return path === undefined
      ? []
      : [finding(poolNotAsPlanned, { cloud: name, pool: pool.metadata.name, path })]
  })
}
