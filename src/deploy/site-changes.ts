/**
 * What a run would change, as one value: each object with its change and risk, cluster-wide settings, and what the
 * inventory lists that the site does not want any more. Printed before anything is done.
 */
import { Failure } from '../errors/failure.ts'
import { type Finding, hasErrors } from '../errors/finding.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import { type Risk, risks } from '../plan/changes.ts'
import type { StageContext } from '../run/stage.ts'
import type { ObjectChange } from './changes.ts'
import { type Inventory, leftBehind, readInventories } from './inventory.ts'
import type { Lookout } from './lookout.ts'
import { type ClusterSetting, preflight, preflightKinds } from './preflight.ts'
import { changesOf, type DeploySite, kindsOf } from './world.ts'

export interface DocumentChange extends ObjectChange {
  readonly stage: string
  readonly cloud?: string
}

export interface Leftover {
  readonly cloud?: string
  readonly ref: ObjectRef
}

export interface SiteChanges {
  readonly documents: readonly DocumentChange[]
  readonly settings: readonly ClusterSetting[]
  readonly leftovers: readonly Leftover[]
  readonly inventories: readonly Inventory[]
  readonly findings: readonly Finding[]
}

export async function siteChanges(
  site: DeploySite,
  { client, lookout }: { readonly client: KubeClient; readonly lookout: Lookout },
  context: StageContext,
): Promise<SiteChanges> {
  const objects = site.documents.map(({ object }) => object)
  await lookout.follow([...kindsOf(objects), ...preflightKinds], context)
  const changes = changesOf(objects, { lookout })
  const documents = site.documents.map(({ stage, cloud }, at) => ({
    ...(changes[at] as ObjectChange),
    stage,
    ...(cloud !== undefined && { cloud }),
  }))
  const inventories = await readInventories(client)
  const { findings, settings } = preflight(site, lookout.index())
  return { documents, settings, leftovers: leftoversOf(site, inventories), inventories, findings }
}

/** Of clouds that the site still has, and of what they share; a cloud that left goes by `down`. */
function leftoversOf(site: DeploySite, inventories: readonly Inventory[]): readonly Leftover[] {
  const known = new Set<string | undefined>([undefined, ...site.clouds.map(({ name }) => name)])
  return inventories
    .filter(({ cloud }) => known.has(cloud))
    .flatMap((inventory) => {
      const { cloud } = inventory
      const wanted = site.documents.filter((one) => one.cloud === cloud).map(({ object }) => object)
      const secrets = new Set(
        site.clouds.find(({ name }) => name === cloud)?.secrets.map(({ name }) => name) ?? [],
      )
      return leftBehind(inventory, wanted)
        .filter(({ kind, name }) => kind !== 'Secret' || !secrets.has(name))
        .map((ref) => ({ ref, ...(cloud !== undefined && { cloud }) }))
    })
}

export function differing({ documents }: SiteChanges): readonly DocumentChange[] {
  return documents.filter(({ change }) => change !== 'unchanged')
}

/**
 * Changes that a person must agree to. The first deployment of a cloud is what was asked for: new node networking
 * is a risk only where nodes already carry something of ours.
 */
export function risky(changes: SiteChanges): readonly DocumentChange[] {
  return differing(changes).filter(
    ({ risk, change }) => isRisk(risk) && !(change === 'create' && isFirst(changes)),
  )
}

function isFirst({ inventories }: SiteChanges): boolean {
  return inventories.length === 0
}

function isRisk(risk: Risk): boolean {
  return risks.indexOf(risk) >= risks.indexOf('changes a VIP')
}

export function refuseUnfit({ findings }: SiteChanges): void {
  if (hasErrors(findings)) throw new Failure(findings, 1)
}
