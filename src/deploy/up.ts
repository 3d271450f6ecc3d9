/**
 * `up`: the run that brings a site to what its plan says. Record, apply, wait, in the order of the stages; the same
 * command resumes after any end.
 */

import { groupKindOf } from '../api/snapshot.ts'
import { Failure } from '../errors/failure.ts'
import type { KubeClient, ObjectRef } from '../kube/client.ts'
import type { RenderedDocument } from '../render/documents.ts'
import { MANAGED_BY } from '../render/labels.ts'
import { type Clock, systemClock } from '../run/clock.ts'
import { type RunReport, runStages } from '../run/engine.ts'
import type { EventSink } from '../run/events.ts'
import { type Selection, select } from '../run/selection.ts'
import { type Grace, standardGrace } from '../verify/readiness/verdict.ts'
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
  readonly lock?: string
  readonly clock?: Clock
  readonly lookout?: Lookout
  readonly force?: boolean
  readonly mayConfigureCluster?: boolean
  readonly grace?: Grace
  readonly patience?: Patience
  readonly parallel?: number
}

export async function up(settings: UpSettings): Promise<RunReport> {
  const { client, clock = systemClock, selection, run, what, sink, stop, parallel = 64 } = settings
  const site = narrowedTo(settings.site, selection.clouds ?? [])
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
      atOnce: 8,
    }
    const selected = select(siteStages({ world, discoverHosts: settings.discoverHosts }), selection)
    if (selected.findings.length > 0) throw new Failure(selected.findings)
    await recordSite(client, site, lookout, settings)
    return await runStages({ run, what, stages: selected.stages, sink, clock, stop, parallel })
  } finally {
    if (!settings.lookout) await lookout.close()
  }
}

/** One cloud alone means its own documents and the shared ones: another's node policies are not touched. */
export function narrowedTo(site: DeploySite, clouds: readonly string[]): DeploySite {
  if (clouds.length === 0) return site
  const isWanted = ({ cloud }: RenderedDocument): boolean => cloud === undefined || clouds.includes(cloud)
  return { ...site, documents: site.documents.filter(isWanted) }
}

/** Before the first apply: nothing of ours may exist that is not listed. */
async function recordSite(
  client: KubeClient,
  site: DeploySite,
  lookout: Lookout,
  { lock, stop, clock = systemClock }: UpSettings,
): Promise<void> {
  await ensureSystemNamespace(client)
  await lookout.follow(kindsOf(site.documents.map(({ object }) => object)), {
    emit: () => undefined,
    stop,
    clock,
  })
  const clouds = new Set(site.documents.map(({ cloud }) => cloud))
  for (const cloud of new Set([undefined, ...clouds])) {
    const wanted = wantedInventory(site, cloud, lock)
    const objects = wanted.objects.map((ref) =>
      isSomebodys(ref, lookout) ? { ...ref, adopted: true as const } : ref,
    )
    await writeInventory(client, withObjects(await readInventory(client, cloud), { ...wanted, objects }))
  }
}

function isSomebodys(ref: ObjectRef, lookout: Lookout): boolean {
  const live = lookout.index().get(groupKindOf(ref), ref.name, ref.namespace)
  return live !== undefined && live.metadata.labels?.[MANAGED_BY] !== 'stackloom'
}

/** What is to be applied for one cloud, or for all of them. Secrets are listed by name: they go with their namespace. */
export function wantedInventory(site: DeploySite, cloud: string | undefined, lock?: string): Inventory {
  const own = site.documents.filter((document) => document.cloud === cloud).map(({ object }) => refOf(object))
  const { namespace, secrets = [] } = site.clouds.find(({ name }) => name === cloud) ?? {}
  const secretRefs = secrets.map((secret) => ({
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
    ...(lock !== undefined && cloud === undefined && { lock }),
  }
}
