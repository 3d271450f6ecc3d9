/**
 * What a run would change, as one value: each object with its change and risk, cluster-wide settings, and what the
 * inventory lists that the site does not want any more. Printed before anything is done.
 */
import { Failure } from '../errors/failure.ts'
import { type Finding, hasErrors } from '../errors/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Risk, risks } from '../plan/changes.ts'
import type { Selection } from '../run/selection.ts'
import type { StageContext } from '../run/stage.ts'
import { selectDocuments } from './chosen.ts'
import { readControlPlaneCrd } from './control-plane-crd.ts'
import { type Inventory, type InventoryEntry, objectRef, readInventories, refKey, staleObjects } from './inventory.ts'
import type { LiveView } from './live-view.ts'
import type { ObjectChange } from './object-changes.ts'
import { type ClusterSetting, preflight, preflightKinds } from './preflight.ts'
import { strandedFindings } from './stranded.ts'
import { compareObjects, type DeploySite, distinctKinds } from './world.ts'

export interface DocumentChange extends ObjectChange {
  readonly stage: string
  readonly cloud?: string
}

export interface Leftover {
  readonly cloud?: string
  readonly ref: InventoryEntry
}

export interface SiteChanges {
  readonly documents: readonly DocumentChange[]
  readonly settings: readonly ClusterSetting[]
  readonly leftovers: readonly Leftover[]
  readonly inventories: readonly Inventory[]
  readonly findings: readonly Finding[]
}

/** `chosen` narrows what would be applied; what is left over is always judged by the whole site. */
export async function diffSite(
  site: DeploySite,
  { client, lookout }: { readonly client: KubeClient; readonly lookout: LiveView },
  context: StageContext,
  selection: Selection = {},
): Promise<SiteChanges> {
  const chosen = selectDocuments(site, selection)
  const objects = chosen.map(({ object }) => object)
  await lookout.watch([...distinctKinds(objects), ...preflightKinds], context)
  const changes = compareObjects(objects, { lookout })
  const documents = chosen.map(({ stage, cloud }, at) => ({
    ...(changes[at] as ObjectChange),
    stage,
    ...(cloud !== undefined && { cloud }),
  }))
  const inventories = await readInventories(client)
  const { findings, settings } = preflight(site, lookout.index(), await readControlPlaneCrd(client))
  const leftovers = findLeftovers(site, inventories, selection.clouds)
  const names = site.clouds.map(({ name }) => name)
  const stranded = strandedFindings(names, documents, inventories)
  return { documents, settings, leftovers, inventories, findings: [...findings, ...stranded] }
}

/**
 * What is listed and not wanted any more: of the clouds that are asked for and still in the site, and of what they
 * share. A cloud that left goes by `down`.
 */
export function findLeftovers(
  site: DeploySite,
  inventories: readonly Inventory[],
  clouds: readonly string[] = [],
): readonly Leftover[] {
  const names = site.clouds.map(({ name }) => name)
  const asked = new Set<string | undefined>([undefined, ...(clouds.length > 0 ? clouds : names)])
  return inventories
    .filter(({ cloud }) => asked.has(cloud) && (cloud === undefined || names.includes(cloud)))
    .flatMap((inventory) => {
      const { cloud } = inventory
      const wanted = site.documents.filter((document) => document.cloud === cloud).map(({ object }) => object)
      const secrets = new Set(site.clouds.find(({ name }) => name === cloud)?.secrets.map(({ name }) => name) ?? [])
      return staleObjects(inventory, wanted)
        .filter(({ kind, name }) => kind !== 'Secret' || !secrets.has(name))
        .map((ref) => ({ ref, ...(cloud !== undefined && { cloud }) }))
    })
}

export function changedDocuments({ documents }: SiteChanges): readonly DocumentChange[] {
  return documents.filter(({ change }) => change !== 'unchanged')
}

/**
 * Changes that a person must agree to, new interfaces on nodes among them: the nodes carry other work, too. What an
 * earlier run had listed before it ended was agreed to then.
 */
export function riskyChanges(changes: SiteChanges): readonly DocumentChange[] {
  const listed = new Set(changes.inventories.flatMap(({ objects }) => objects.map(refKey)))
  const isAgreed = ({ change, desired }: DocumentChange): boolean =>
    change === 'create' && listed.has(refKey(objectRef(desired)))
  return changedDocuments(changes).filter((documentChange) => isRisk(documentChange.risk) && !isAgreed(documentChange))
}

function isRisk(risk: Risk): boolean {
  return risks.indexOf(risk) >= risks.indexOf('changes a VIP')
}

export function rejectUnfit({ findings }: SiteChanges): void {
  if (hasErrors(findings)) throw new Failure(findings, 1)
}
