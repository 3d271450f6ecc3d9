/** What every stage's work gets: the cluster, the view of it, the site as far as deploying needs it, and the settings. */
import { type GroupVersionKind, type KubeObject, objectIdentity } from '../api/object.ts'
import { formatObjectName } from '../api/raw-object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Plan } from '../plan/plan.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import type { NeededSecret } from '../render/needed-secrets.ts'
import type { RenderedDocument } from '../render/render.ts'
import type { StageContext } from '../run/stage.ts'
import { fieldDifferences } from '../verify/field-differences.ts'
import { objectReadiness } from '../verify/readiness/readiness.ts'
import { type Grace, progressing, type Readiness, type ReadinessContext } from '../verify/readiness/verdict.ts'
import type { AppliedObjects } from './apply.ts'
import type { Limiter } from './limiter.ts'
import type { LiveView } from './live-view.ts'
import { compareObject, type ObjectChange } from './object-changes.ts'
import type { RetryPolicy } from './retry.ts'

export interface DeployCloud {
  readonly name: string
  readonly namespace: string
  /** Every address that the plan gives its Services. */
  readonly vips: ReadonlySet<string>
  readonly secrets: readonly NeededSecret[]
}

export interface DeploySite {
  readonly plan: Plan
  readonly name: string
  readonly platform: 'openshift' | 'kubernetes'
  readonly nodes: readonly string[]
  readonly dns: readonly string[]
  readonly storageClasses: readonly string[]
  /** The places of the control plane's schema that the site was planned for. */
  readonly slots: SlotTable
  readonly clouds: readonly DeployCloud[]
  /** Everything that is rendered, in order. */
  readonly documents: readonly RenderedDocument[]
}

export interface World {
  readonly client: KubeClient
  readonly lookout: LiveView
  readonly site: DeploySite
  readonly grace: Grace
  readonly patience: RetryPolicy
  /** Take fields from other managers: only when a person asked. */
  readonly force: boolean
  /** Cluster-wide settings may be changed: a person agreed. */
  readonly mayConfigureCluster: boolean
  readonly gate: Limiter
}

/** Kinds of these objects, each once. */
export function distinctKinds(objects: readonly KubeObject[]): readonly GroupVersionKind[] {
  const kinds = new Map(
    objects.map(({ apiVersion, kind }) => [formatGroupKind({ apiVersion, kind }), { apiVersion, kind }]),
  )
  return [...kinds.values()]
}

/** What would change, seen through the lookout. */
export function compareObjects(
  objects: readonly KubeObject[],
  { lookout }: Pick<World, 'lookout'>,
): readonly ObjectChange[] {
  const index = lookout.index()
  return objects.map((desired) => {
    const { name, namespace } = desired.metadata
    return compareObject(desired, index.get(formatGroupKind(desired), name, namespace))
  })
}

export function readinessContext(world: World, context: StageContext, namespace?: string): ReadinessContext {
  const { site, lookout, grace } = world
  const vips = new Map(site.clouds.map((cloud) => [cloud.namespace, cloud.vips]))
  return {
    around: lookout.index(namespace),
    now: context.clock.now(),
    grace,
    nodes: site.nodes,
    planned: (within) => vips.get(within),
  }
}

/** Readiness of an applied object, once the view has caught up with what was written. */
export function appliedReadiness(desired: KubeObject, applied: AppliedObjects, context: ReadinessContext): Readiness {
  const written = applied.get(objectIdentity(desired))
  const { name, namespace } = desired.metadata
  const seen = context.around.get(formatGroupKind(desired), name, namespace)
  if (written && !isCaughtUp(written, seen, desired))
    return progressing(`${formatObjectName(desired)} to be seen as written`)
  const { apiVersion, kind } = desired
  return objectReadiness(
    { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) },
    { ...context, desired },
  )
}

/** Versions can be compared for equality alone; generations count, and where there is none the fields must be there. */
function isCaughtUp(written: KubeObject, seen: KubeObject | undefined, desired: KubeObject): boolean {
  if (!seen || seen.metadata.uid !== written.metadata.uid) return false
  if (seen.metadata.resourceVersion === written.metadata.resourceVersion) return true
  const { generation } = written.metadata
  if (generation !== undefined) return (seen.metadata.generation ?? 0) >= generation
  return fieldDifferences(desired, seen).length === 0
}
