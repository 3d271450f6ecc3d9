/**
 * `up`: the run that brings a site to what its plan says. Record, apply, wait, in the order of the stages; the same
 * command resumes after any end.
 */

import { groupKindOf } from '../api/snapshot.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import type { Lock } from '../plan/lock.ts'
import { writeLock } from '../plan/lock-file.ts'
import { MANAGED_BY } from '../render/labels.ts'
import { type RunReport, runStages } from '../run/engine.ts'
import type { EventSink } from '../run/events.ts'
import { type Selection, select } from '../run/selection.ts'
import type { Stage } from '../run/stage.ts'
import { type Grace, standardGrace } from '../verify/readiness/verdict.ts'
import { chosenDocuments, narrowedTo } from './chosen.ts'
import { openGate } from './gate.ts'
import {
  ensureSystemNamespace,
  type Inventory,
  readInventory,
  refOf,
  withObjects,
  writeInventory,
} from './inventory.ts'
import { type Lookout, openLookout } from './lookout.ts'
import { type Patience, standardPatience } from './patience.ts'
import { pruneStage } from './prune.ts'
import { lockAfter, lockOnRecord } from './recorded-lock.ts'
import type { Leftover } from './site-changes.ts'
import { siteStages } from './site-stages.ts'
import type { DiscoverHosts } from './works/data-plane.ts'
import { type DeploySite, kindsOf, type World } from './world.ts'

export interface UpSettings {
  readonly client: KubeClient
  readonly site: DeploySite
  readonly selection: Selection
  readonly run: string
  readonly what: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly discoverHosts: DiscoverHosts
  /** The lock's decisions, recorded with what they led to. */
  readonly lock?: Lock
  /** What left the site and is to go when everything else is done. */
  readonly prune?: readonly Leftover[]
  readonly clock?: Clock
  readonly lookout?: Lookout
  readonly force?: boolean
  readonly mayConfigureCluster?: boolean
  readonly grace?: Grace
  readonly patience?: Patience
  readonly parallel?: number
}

/** In flight at once: as many as there are connections, so that nothing queues in front of them. */
const WRITES = 8

export async function up(settings: UpSettings): Promise<RunReport> {
  const { client, clock = systemClock, selection, run, what, sink, stop, parallel = 64, prune } = settings
  const site = narrowedTo(settings.site, selection.clouds ?? [])
  const chosen = chosenDocuments(settings.site, selection)
  const lookout = settings.lookout ?? openLookout({ client })
  try {
    const world: World = {
      client,
      lookout,
      site,
      grace: settings.grace ?? standardGrace,
      patience: settings.patience ?? standardPatience,
      force: settings.force ?? false,
      mayConfigureCluster: settings.mayConfigureCluster ?? false,
      gate: openGate(WRITES),
    }
    const { stages } = select(siteStages({ world, discoverHosts: settings.discoverHosts }), selection)
    const all = prune ? [...stages, pruneStage(prune, client, stages)] : stages
    await recordSite({ ...site, documents: chosen }, stages, lookout, settings)
    return await runStages({ run, what, stages: all, sink, clock, stop, parallel })
  } finally {
    if (!settings.lookout) await lookout.close()
  }
}

/** Before the first apply: nothing of ours may exist that is not listed. What is not applied is not listed either. */
async function recordSite(
  site: DeploySite,
  stages: readonly Stage[],
  lookout: Lookout,
  { client, lock, stop, clock = systemClock }: UpSettings,
): Promise<void> {
  await ensureSystemNamespace(client)
  await lookout.follow(kindsOf(site.documents.map(({ object }) => object)), {
    emit: () => undefined,
    stop,
    clock,
  })
  const clouds = new Set([...site.documents, ...stages].flatMap(({ cloud }) => cloud ?? []))
  for (const cloud of [undefined, ...clouds]) {
    const withSecrets = stages.some((stage) => stage.name === 'secrets' && stage.cloud === cloud)
    const wanted = wantedInventory(site, cloud, withSecrets)
    const objects = wanted.objects.map((ref) =>
      isSomebodys(ref, lookout) ? { ...ref, adopted: true as const } : ref,
    )
    const before = await readInventory(client, cloud)
    const after = withObjects(before, { ...wanted, objects })
    const record = cloud === undefined ? { ...after, ...recordedLock(before, lock, clouds) } : after
    await writeInventory(client, record)
  }
}

/** The lock's text in the shared inventory; what was there stays when this run has none. */
function recordedLock(
  before: Inventory | undefined,
  lock: Lock | undefined,
  clouds: ReadonlySet<string>,
): Pick<Inventory, 'lock'> {
  const text = before?.lock
  if (!lock) return text === undefined ? {} : { lock: text }
  return { lock: writeLock(lockAfter(lockOnRecord(text), lock, clouds)) }
}

function isSomebodys(ref: ObjectRef, lookout: Lookout): boolean {
  const live = lookout.index().get(groupKindOf(ref), ref.name, ref.namespace)
  return live !== undefined && live.metadata.labels?.[MANAGED_BY] !== 'stackloom'
}

/** What is to be applied for one cloud, or for all of them. Secrets are listed by name: they go with their namespace. */
function wantedInventory(site: DeploySite, cloud: string | undefined, withSecrets: boolean): Inventory {
  const own = site.documents.filter((document) => document.cloud === cloud).map(({ object }) => refOf(object))
  const { namespace, secrets = [] } = site.clouds.find(({ name }) => name === cloud) ?? {}
  const secretRefs = (withSecrets ? secrets : []).map((secret) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: secret.namespace,
    name: secret.name,
  }))
  return {
    site: site.name,
    ...(cloud !== undefined && { cloud }),
    ...(namespace !== undefined && { namespace }),
    objects: [...own, ...secretRefs],
  }
}
