/** The first stage: says what the cluster lacks, and changes its settings where a person agreed. */
import { indexSnapshot } from '../../api/snapshot.ts'
import { Failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { gatherLive } from '../../kube/snapshot.ts'
import { accepted } from '../../site/accept.ts'
import { SERVICE } from '../../verify/checks/kinds.ts'
import { addressFindings, takenVips } from '../../verify/room/addresses.ts'
import { roomFindings, roomKinds } from '../../verify/room/room.ts'
import { FIELD_MANAGER } from '../changes.ts'
import { liveCrd } from '../control-plane-crd.ts'
import { patiently } from '../patience.ts'
import { preflight, preflightKinds } from '../preflight.ts'
import type { World } from '../world.ts'
import type { StageWork } from './apply-and-wait.ts'

export function preflightWork(world: World): StageWork {
  const look = async () => {
    const found = preflight(world.site, world.lookout.index(), await liveCrd(world.client))
    return { ...found, findings: [...found.findings, ...(await room(world))] }
  }
  return {
    check: async (context) => {
      await world.lookout.follow(preflightKinds, context)
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
        await patiently(write, context, world.patience)
        context.emit({ kind: 'applied', change: 'changed', object })
      }
    },
  }
}

/** Listed once and not followed: what runs elsewhere matters before the deployment, not while it goes on. */
async function room({ site, client }: World): Promise<readonly Finding[]> {
  const { snapshot } = await gatherLive(client, [...roomKinds, SERVICE])
  const live = indexSnapshot(snapshot)
  const { from } = site.plan
  // Only of the clouds that this run deploys: another one's trouble does not stop them.
  const deployed = new Set(site.documents.map(({ cloud }) => cloud))
  const clouds = site.plan.clouds.filter(({ name }) => deployed.has(name))
  const found = [...roomFindings(site, live), ...addressFindings(clouds, live), ...takenVips(clouds, live)]
  return accepted(found, from.accept)
}
