/** The first stage: says what the cluster lacks, and changes its settings where a person agreed. */
import { indexSnapshot } from '../../api/snapshot.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { takeSnapshot } from '../../kube/snapshot.ts'
import { applyAcceptances } from '../../site/accept.ts'
import { capacityFindings, capacityKinds, takenVipFindings, vipCapacityFindings } from '../../verify/capacity.ts'
import { SERVICE } from '../../verify/checks/check-definition.ts'
import { readControlPlaneCrd } from '../control-plane-crd.ts'
import { FIELD_MANAGER } from '../object-changes.ts'
import { preflight, preflightKinds } from '../preflight.ts'
import { retry } from '../retry.ts'
import type { StageWork } from '../stages/apply-and-wait.ts'
import type { World } from '../world.ts'

export function preflightWork(world: World): StageWork {
  const look = async () => {
    const found = preflight(world.site, world.lookout.index(), await readControlPlaneCrd(world.client))
    return { ...found, findings: [...found.findings, ...(await room(world))] }
  }
  return {
    check: async (context) => {
      await world.lookout.watch(preflightKinds, context)
      const { findings, settings } = await look()
      return findings.length === 0 && settings.length === 0
        ? { kind: 'satisfied', reason: 'the cluster has what the site needs' }
        : { kind: 'needed' }
    },
    work: async (context) => {
      const { findings, settings } = await look()
      if (hasErrors(findings)) throw new Failure(findings, 1)
      for (const finding of findings) context.emit({ kind: 'finding', finding })
      for (const { object, patch, finding } of settings) {
        context.stop.throwIfAborted()
        if (!world.mayConfigureCluster) {
          context.emit({ kind: 'finding', finding })
          continue
        }
        const write = () => world.client.patch(object, patch, { type: 'merge', fieldManager: FIELD_MANAGER })
        await retry(write, context, world.patience)
        context.emit({ kind: 'applied', change: 'changed', object })
      }
    },
  }
}

/** Listed once and not followed: what runs elsewhere matters before the deployment, not while it goes on. */
async function room({ site, client }: World): Promise<readonly Finding[]> {
  const { snapshot } = await takeSnapshot(client, [...capacityKinds, SERVICE])
  const live = indexSnapshot(snapshot)
  const { from } = site.plan
  // Only of the clouds that this run deploys: another one's trouble does not stop them.
  const deployed = new Set(site.documents.map(({ cloud }) => cloud))
  const clouds = site.plan.clouds.filter(({ name }) => deployed.has(name))
  const found = [
    ...capacityFindings(site, live),
    ...vipCapacityFindings(clouds, live),
    ...takenVipFindings(clouds, live),
  ]
  return applyAcceptances(found, from.accept)
}
