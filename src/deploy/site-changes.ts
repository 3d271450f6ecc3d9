/**
 * Computes what a run would change: each object with its change and risk, cluster-wide settings, and objects that the
 * inventory lists but the site no longer has. The result is printed before anything is done.
 */
import type { KubeObject } from '../api/object.ts'
import { getList, getString } from '../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../api/snapshot.ts'
import { Failure } from '../errors/failure.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Risk, risks } from '../plan/changes.ts'
import type { Plan } from '../plan/plan.ts'
import { neededSecrets } from '../render/needed-secrets.ts'
import { type RenderedDocument, renderKeptDocuments } from '../render/render.ts'
import type { Selection } from '../run/selection.ts'
import type { StageContext } from '../run/stage.ts'
import { fieldDifferences } from '../verify/field-differences.ts'
import { runParallel } from './apply.ts'
import { readReleaseCrds, refusedFields } from './cluster-release.ts'
import { secondControlPlane, strandedCloud } from './findings/up.ts'
import {
  type Inventory,
  type InventoryEntry,
  parseRecordedLock,
  readInventories,
  refKey,
  staleObjects,
} from './inventory.ts'
import type { LiveView } from './live-view.ts'
import { findHostsInLeftovers } from './moved-hosts.ts'
import {
  BGP_PEER,
  compareObjects,
  distinctKinds,
  FIELD_MANAGER,
  NODE_POLICY,
  type ObjectChange,
  objectRef,
} from './object-changes.ts'
import { type ClusterSetting, checkCluster, preflightKinds, readControlPlaneCrd } from './preflight.ts'
import { selectDocuments } from './site-stages.ts'

const CONTROL_PLANE_KIND = 'core.openstack.org/OpenStackControlPlane'

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

export interface DiffDeps {
  readonly client: KubeClient
  readonly view: LiveView
  readonly plan: Plan
  readonly documents: readonly RenderedDocument[]
}

/** The selection narrows what would be applied; leftovers are always determined by the whole site. */
export async function diffSite(
  { client, view, plan, documents }: DiffDeps,
  context: StageContext,
  selection: Selection = {},
): Promise<SiteChanges> {
  const selected = selectDocuments(plan, documents, selection)
  const objects = selected.map(({ object }) => object)
  await view.watch([...distinctKinds(objects), ...preflightKinds], context)
  const changes = compareObjects(objects, view.index()).map((change, index): DocumentChange => {
    const { stage, cloud } = selected[index] as RenderedDocument
    return { ...change, stage, ...(cloud !== undefined && { cloud }) }
  })
  const inventories = await readInventories(client)
  const { findings, settings } = checkCluster(plan, view.index(), await readControlPlaneCrd(client))
  const refused = refusedFields(selected, plan.slots.release, await readReleaseCrds(client))
  const names = plan.clouds.map(({ name }) => name)
  const leftovers = findLeftovers(plan, documents, inventories, selection.clouds)
  const stranded = strandedFindings(names, changes, inventories)
  const second = secondControlPlanes(changes, view.index())
  return {
    documents: changes,
    settings,
    leftovers,
    inventories,
    findings: [
      ...findings,
      ...refused,
      ...stranded,
      ...second,
      ...findHostsInLeftovers(objects, leftovers, view.index()),
    ],
  }
}

/**
 * Objects that are listed and no longer in the site: of the selected clouds that are still in the site, and of what
 * they share. A cloud that left the site is removed by `down`.
 */
export function findLeftovers(
  plan: Plan,
  documents: readonly RenderedDocument[],
  inventories: readonly Inventory[],
  clouds: readonly string[] = [],
): readonly Leftover[] {
  const names = plan.clouds.map(({ name }) => name)
  // What is kept has not left the site: it must not be pruned.
  const inSite = [...documents, ...renderKeptDocuments(plan)]
  const selected = new Set<string | undefined>([undefined, ...(clouds.length > 0 ? clouds : names)])
  return inventories
    .filter(({ cloud }) => selected.has(cloud) && (cloud === undefined || names.includes(cloud)))
    .flatMap((inventory) => {
      const { cloud } = inventory
      const desired = inSite.filter((document) => document.cloud === cloud).map(({ object }) => object)
      const planned = plan.clouds.find(({ name }) => name === cloud)
      const secrets = new Set(planned ? neededSecrets(plan, planned).map(({ name }) => name) : [])
      return staleObjects(inventory, desired)
        .filter(({ kind, name }) => kind !== 'Secret' || !secrets.has(name))
        .map((ref) => ({ ref, ...(cloud !== undefined && { cloud }) }))
    })
}

export function changedDocuments({ documents }: SiteChanges): readonly DocumentChange[] {
  return documents.filter(({ change }) => change !== 'unchanged')
}

/**
 * Changes that the user must agree to. New interfaces are among them, because the nodes carry other workloads too.
 * A create that an interrupted run has listed was agreed to then.
 */
export function riskyChanges(changes: SiteChanges): readonly DocumentChange[] {
  const listed = new Set(changes.inventories.flatMap(({ objects }) => objects.map(refKey)))
  const isAgreed = ({ change, desired }: DocumentChange): boolean =>
    change === 'create' && listed.has(refKey(objectRef(desired)))
  return changedDocuments(changes).filter((change) => isRisk(change.risk) && !isAgreed(change))
}

function isRisk(risk: Risk): boolean {
  return risks.indexOf(risk) >= risks.indexOf('changes a VIP')
}

export function rejectUnfit({ findings }: SiteChanges): void {
  if (hasErrors(findings)) throw new Failure(findings, 1)
}

/**
 * A cloud that left the site file but is still deployed may share node networking with others. Writing that without
 * the cloud would remove its node addresses, so it must be taken down first.
 */
function strandedFindings(
  clouds: readonly string[],
  changes: readonly DocumentChange[],
  inventories: readonly Inventory[],
): readonly Finding[] {
  const policies = changes.filter(({ desired }) => formatGroupKind(desired) === NODE_POLICY)
  const kept = new Set(policies.flatMap(({ desired }) => policyAddresses(desired)))
  const removed = policies.flatMap(({ live, cloud }) =>
    live && cloud === undefined ? policyAddresses(live).filter((address) => !kept.has(address)) : [],
  )
  if (removed.length === 0) return []
  const lock = parseRecordedLock(inventories.find(({ cloud }) => cloud === undefined)?.lock)
  return inventories.flatMap(({ cloud, objects }) => {
    if (cloud === undefined || clouds.includes(cloud) || !objects.some(usesNodeNetworking)) return []
    const networks = Object.values(lock?.clouds[cloud]?.networks ?? {})
    const owned = new Set(networks.flatMap(({ nodes = {} }) => Object.values(nodes).flat()))
    const lost = removed.filter((address) => owned.has(address))
    return lost.length > 0 ? [finding(strandedCloud, { cloud, addresses: lost })] : []
  })
}

/** A namespace has one control plane: where another tool deployed it under another name, `up` must not add ours. */
export function secondControlPlanes(changes: readonly DocumentChange[], live: SnapshotIndex): readonly Finding[] {
  return changes.flatMap(({ change, desired, cloud = '' }) => {
    if (change !== 'create' || formatGroupKind(desired) !== CONTROL_PLANE_KIND) return []
    const { namespace = '' } = desired.metadata
    const other = live.all(CONTROL_PLANE_KIND).find(({ metadata }) => metadata.namespace === namespace)
    return other ? [finding(secondControlPlane, { cloud, namespace, name: other.metadata.name })] : []
  })
}

/** A cloud whose volumes were kept has only its namespace and Secrets left, and these use no network. */
function usesNodeNetworking({ kind }: InventoryEntry): boolean {
  return kind !== 'Namespace' && kind !== 'Secret'
}

function policyAddresses(policy: KubeObject): readonly string[] {
  return getList(policy, 'spec', 'desiredState', 'interfaces').flatMap((nodeInterface) =>
    ['ipv4', 'ipv6'].flatMap((family) =>
      getList(nodeInterface, family, 'address').flatMap((address) => getString(address, 'ip') ?? []),
    ),
  )
}

export interface DryRun extends SiteChanges {
  /** Conflicts and refusals that an apply would meet. */
  readonly refusals: readonly Finding[]
}

/**
 * Asks the server what each change would result in, defaults, admission and conflicts included, and writes nothing.
 * An object whose kind or namespace does not exist yet stays a plain create.
 */
export async function dryRun(
  changes: SiteChanges,
  client: Pick<KubeClient, 'apply'>,
  { force, signal }: { readonly force: boolean; readonly signal: AbortSignal },
): Promise<DryRun> {
  const refusals: Finding[] = []
  const results = new Map<DocumentChange, DocumentChange>()
  await runParallel(changedDocuments(changes), 8, async (change) => {
    signal.throwIfAborted()
    try {
      const after = await client.apply(change.desired, { fieldManager: FIELD_MANAGER, force, dryRun: true })
      results.set(change, withServerResult(change, after))
    } catch (thrown) {
      if (isApiError(thrown, 'not-found', 'not-served')) return
      if (!isApiError(thrown, 'field-conflict', 'invalid', 'denied', 'webhook')) throw thrown
      if (isApiError(thrown, 'denied') && mayReplacePeer(change, changes.leftovers)) return
      refusals.push(...thrown.findings)
    }
  })
  return { ...changes, documents: changes.documents.map((change) => results.get(change) ?? change), refusals }
}

/** MetalLB refuses a second peer for a router; a run deletes the one under the earlier name first. */
function mayReplacePeer({ change, desired }: DocumentChange, leftovers: readonly Leftover[]): boolean {
  const isOurs = ({ ref }: Leftover): boolean => formatGroupKind(ref) === BGP_PEER && !ref.adopted
  return change === 'create' && formatGroupKind(desired) === BGP_PEER && leftovers.some(isOurs)
}

function withServerResult(change: DocumentChange, after: KubeObject): DocumentChange {
  if (!change.live) return change
  const [before, result] = [withoutServerFields(change.live), withoutServerFields(after)]
  const removed = fieldDifferences(before, result).filter(({ live }) => live === undefined)
  const fields = [
    ...fieldDifferences(result, before),
    ...removed.map(({ path, desired }) => ({ path, desired: undefined, live: desired })),
  ]
  return fields.length > 0 ? { ...change, fields } : { ...change, change: 'take over', risk: 'safe', fields: [] }
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown }
  return {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
  }
}
