/** The site as deploying needs it, from its plan. Pure. */
import type { Plan, PlannedCloud } from '../plan/plan.ts'
import { neededSecrets } from '../render/needed-secrets.ts'
import { renderDocuments } from '../render/render.ts'
import type { DeployCloud, DeploySite } from './world.ts'

export function siteOfPlan(plan: Plan): DeploySite {
  const { cluster } = plan.from
  const classes = [cluster.storageClass, ...plan.clouds.map((cloud) => cloud.from.file.storageClass)]
  return {
    plan,
    name: plan.site,
    platform: cluster.platform,
    nodes: cluster.nodes.map(({ name }) => name),
    dns: cluster.dns,
    storageClasses: [...new Set(classes.filter((name) => name !== undefined))],
    slots: plan.slots,
    clouds: plan.clouds.map((cloud) => cloudOf(plan, cloud)),
    documents: renderDocuments(plan),
  }
}

function cloudOf(plan: Plan, cloud: PlannedCloud): DeployCloud {
  return {
    name: cloud.name,
    namespace: cloud.namespace,
    vips: new Set(cloud.networks.flatMap(({ vips }) => vips.map(({ address }) => address))),
    secrets: neededSecrets(plan, cloud),
  }
}
