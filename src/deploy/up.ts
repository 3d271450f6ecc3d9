/**
 * Deploys a site: records what will be applied, then runs the stages. The same command resumes after any end.
 */
import { isManagedByStackloom } from '../api/ownership.ts'
import { systemClock } from '../clock/clock.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Lock } from '../plan/lock.ts'
import type { Plan } from '../plan/plan.ts'
import { writeLock } from '../plan/written-lock.ts'
import { providedSecrets } from '../render/needed-secrets.ts'
import type { RenderedDocument } from '../render/render.ts'
import { type RunReport, runStages } from '../run/engine.ts'
import type { EventSink } from '../run/events.ts'
import { type Selection, selectStages } from '../run/selection.ts'
import type { Stage } from '../run/stage.ts'
import { defaultGrace, type Grace } from '../verify/readiness/verdict.ts'
import { createLimiter } from './apply.ts'
import {
  addObjects,
  ensureSystemNamespace,
  type Inventory,
  mergeRecordedLock,
  parseRecordedLock,
  readInventory,
  writeInventory,
} from './inventory.ts'
import { type LiveView, openLiveView } from './live-view.ts'
import { distinctKinds, findLive, objectRef } from './object-changes.ts'
import { pruneStage } from './prune.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts'
import type { Leftover } from './site-changes.ts'
import { buildSiteStages, limitToClouds, selectDocuments } from './site-stages.ts'
import { siteReadiness } from './stages/apply-and-wait.ts'
import type { DiscoverHosts } from './stages/data-plane-stage.ts'

export interface UpOptions {
  readonly client: KubeClient
  readonly plan: Plan
  /** Everything that the plan renders to. */
  readonly documents: readonly RenderedDocument[]
  readonly selection: Selection
  readonly run: string
  readonly what: string
  readonly sink: EventSink
  readonly stop: AbortSignal
  readonly discoverHosts: DiscoverHosts
  /** Recorded in the cluster together with the objects that were planned from it. */
  readonly lock?: Lock
  /** Objects that left the site, to delete after everything else. */
  readonly prune?: readonly Leftover[]
  /** Whether a running data plane deployment may be pruned. */
  readonly mayInterrupt?: boolean
  readonly view?: LiveView
  readonly force?: boolean
  readonly mayConfigureCluster?: boolean
  readonly grace?: Grace
  readonly retryPolicy?: RetryPolicy
}

/** As many writes as connections, so that no write waits for a connection. */
const MAX_WRITES = 8

export async function up(options: UpOptions): Promise<RunReport> {
  const { client, plan, selection, run, what, sink, stop, prune } = options
  const applied = selectDocuments(plan, options.documents, selection)
  const view = options.view ?? openLiveView(client)
  try {
    const all = buildSiteStages({
      client,
      view,
      plan,
      documents: limitToClouds(options.documents, selection.clouds),
      readiness: siteReadiness(plan, view, options.grace ?? defaultGrace),
      retryPolicy: options.retryPolicy ?? defaultRetryPolicy,
      force: options.force ?? false,
      mayConfigureCluster: options.mayConfigureCluster ?? false,
      limiter: createLimiter(MAX_WRITES),
      discoverHosts: options.discoverHosts,
    })
    const { stages } = selectStages(all, selection)
    await recordSite(applied, stages, view, options)
    const withPrune = prune ? [...stages, pruneStage(prune, client, stages, options.mayInterrupt)] : stages
    return await runStages({ run, what, stages: withPrune, sink, clock: systemClock, stop, parallel: 64 })
  } finally {
    if (!options.view) await view.close()
  }
}

/** Lists every object before the first apply, so that none of ours exists unlisted, and lists nothing else. */
async function recordSite(
  documents: readonly RenderedDocument[],
  stages: readonly Stage[],
  view: LiveView,
  { client, plan, lock, stop }: UpOptions,
): Promise<void> {
  await ensureSystemNamespace(client)
  const kinds = distinctKinds(documents.map(({ object }) => object))
  await view.watch(kinds, { emit: () => undefined, stop, clock: systemClock })
  const clouds = new Set([...documents, ...stages].flatMap(({ cloud }) => cloud ?? []))
  for (const cloud of [undefined, ...clouds]) {
    const withSecrets = stages.some((stage) => stage.name === 'secrets' && stage.cloud === cloud)
    const desired = desiredInventory(plan, documents, cloud, withSecrets)
    const objects = desired.objects.map((ref) => {
      const live = findLive(ref, view.index())
      return live && !isManagedByStackloom(live) ? { ...ref, adopted: true as const } : ref
    })
    const before = await readInventory(client, cloud)
    const after = addObjects(before, { ...desired, objects })
    await writeInventory(client, cloud === undefined ? { ...after, ...recordLock(before, lock, clouds) } : after)
  }
}

/** The lock's text for the shared inventory; without a lock the recorded one stays. */
function recordLock(
  before: Inventory | undefined,
  lock: Lock | undefined,
  clouds: ReadonlySet<string>,
): Pick<Inventory, 'lock'> {
  const text = before?.lock
  if (!lock) return text === undefined ? {} : { lock: text }
  return { lock: writeLock(mergeRecordedLock(parseRecordedLock(text), lock, clouds)) }
}

/** Secrets are listed by name; they are deleted with their namespace. */
function desiredInventory(
  plan: Plan,
  documents: readonly RenderedDocument[],
  name: string | undefined,
  withSecrets: boolean,
): Inventory {
  const cloud = plan.clouds.find((planned) => planned.name === name)
  const objects = documents.filter((document) => document.cloud === name).map(({ object }) => objectRef(object))
  const secrets = (withSecrets && cloud ? providedSecrets(plan, cloud) : []).map((secret) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    namespace: secret.namespace,
    name: secret.name,
  }))
  return {
    site: plan.site,
    ...(name !== undefined && { cloud: name }),
    ...(cloud && { namespace: cloud.namespace }),
    objects: [...objects, ...secrets],
  }
}
