/**
 * `up`: the run that brings a site to what its plan says. Record, apply, wait, in the order of the stages; the same
 * command resumes after any end.
 */

import { formatGroupKind } from '../api/snapshot.ts'
import { type Clock, systemClock } from '../clock/clock.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import type { Lock } from '../plan/lock.ts'
import { writeLock } from '../plan/lock-file.ts'
import { MANAGED_BY_LABEL } from '../render/labels.ts'
import { type RunReport, runStages } from '../run/engine.ts'
import type { EventSink } from '../run/events.ts'
import { type Selection, selectStages } from '../run/selection.ts'
import type { Stage } from '../run/stage.ts'
import { defaultGrace, type Grace } from '../verify/readiness/verdict.ts'
import { limitToClouds, selectDocuments } from './chosen.ts'
import {
  addObjects,
  ensureSystemNamespace,
  type Inventory,
  objectRef,
  readInventory,
  writeInventory,
} from './inventory.ts'
import { createLimiter } from './limiter.ts'
import { type LiveView, openLiveView } from './live-view.ts'
import { pruneStage } from './prune.ts'
import { mergeRecordedLock, parseRecordedLock } from './recorded-lock.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Leftover } from './site-changes.ts'
import { buildSiteStages } from './site-stages.ts'
import type { DiscoverHosts } from './stages/data-plane-stage.ts'
import { type DeploySite, distinctKinds, type World } from './world.ts'

export interface UpOptions {
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
  readonly lookout?: LiveView
  readonly force?: boolean
  readonly mayConfigureCluster?: boolean
  readonly grace?: Grace
  readonly patience?: RetryPolicy
  readonly parallel?: number
}

/** In flight at once: as many as there are connections, so that nothing queues in front of them. */
const WRITES = 8

export async function up(settings: UpOptions): Promise<RunReport> {
  const { client, clock = systemClock, selection, run, what, sink, stop, parallel = 64, prune } = settings
  const site = limitToClouds(settings.site, selection.clouds ?? [])
  const chosen = selectDocuments(settings.site, selection)
  const lookout = settings.lookout ?? openLiveView({ client })
  try {
    const world: World = {
      client,
      lookout,
      site,
      grace: settings.grace ?? defaultGrace,
      patience: settings.patience ?? defaultRetryPolicy,
      force: settings.force ?? false,
      mayConfigureCluster: settings.mayConfigureCluster ?? false,
      gate: createLimiter(WRITES),
    }
    const { stages } = selectStages(buildSiteStages({ world, discoverHosts: settings.discoverHosts }), selection)
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
  lookout: LiveView,
  { client, lock, stop, clock = systemClock }: UpOptions,
): Promise<void> {
  await ensureSystemNamespace(client)
  await lookout.watch(distinctKinds(site.documents.map(({ object }) => object)), {
    emit: () => undefined,
    stop,
    clock,
  })
  const clouds = new Set([...site.documents, ...stages].flatMap(({ cloud }) => cloud ?? []))
  for (const cloud of [undefined, ...clouds]) {
    const withSecrets = stages.some((stage) => stage.name === 'secrets' && stage.cloud === cloud)
    const wanted = desiredInventory(site, cloud, withSecrets)
    const objects = wanted.objects.map((ref) => (isForeign(ref, lookout) ? { ...ref, adopted: true as const } : ref))
    const before = await readInventory(client, cloud)
    const after = addObjects(before, { ...wanted, objects })
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
  return { lock: writeLock(mergeRecordedLock(parseRecordedLock(text), lock, clouds)) }
}

function isForeign(ref: ObjectRef, lookout: LiveView): boolean {
  const live = lookout.index().get(formatGroupKind(ref), ref.name, ref.namespace)
  return live !== undefined && live.metadata.labels?.[MANAGED_BY_LABEL] !== 'stackloom'
}

/** What is to be applied for one cloud, or for all of them. Secrets are listed by name: they go with their namespace. */
function desiredInventory(site: DeploySite, cloud: string | undefined, withSecrets: boolean): Inventory {
  const own = site.documents.filter((document) => document.cloud === cloud).map(({ object }) => objectRef(object))
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
