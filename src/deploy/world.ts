/** What every stage's work gets: the cluster, the view of it, the site as far as deploying needs it, and the settings. */
import { type GroupVersionKind, identityOf, type KubeObject } from '../api/object.ts'
import { nameOf } from '../api/raw-object.ts'
import { groupKindOf } from '../api/snapshot.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Plan } from '../plan/plan.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import type { RenderedDocument } from '../render/documents.ts'
import type { NeededSecret } from '../render/secrets.ts'
import type { StageContext } from '../run/stage.ts'
import { fieldDifferences } from '../verify/fields.ts'
import { readinessOf } from '../verify/readiness/readiness.ts'
import {
  type Grace,
  progressing,
  type Readiness,
  type ReadinessContext,
} from '../verify/readiness/verdict.ts'
import type { Applied } from './apply.ts'
import { changeOf, type ObjectChange } from './changes.ts'
import type { Gate } from './gate.ts'
import type { Lookout } from './lookout.ts'
import type { Patience } from './patience.ts'

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
  readonly lookout: Lookout
  readonly site: DeploySite
  readonly grace: Grace
  readonly patience: Patience
  /** Take fields from other managers: only when a person asked. */
  readonly force: boolean
  /** Cluster-wide settings may be changed: a person agreed. */
  readonly mayConfigureCluster: boolean
  readonly gate: Gate
}

/** Kinds of these objects, each once. */
export function kindsOf(objects: readonly KubeObject[]): readonly GroupVersionKind[] {
  const kinds = new Map(
    objects.map(({ apiVersion, kind }) => [groupKindOf({ apiVersion, kind }), { apiVersion, kind }]),
  )
  return [...kinds.values()]
}

/** What would change, seen through the lookout. */
export function changesOf(
  objects: readonly KubeObject[],
  { lookout }: Pick<World, 'lookout'>,
): readonly ObjectChange[] {
  const index = lookout.index()
  return objects.map((desired) => {
    const { name, namespace } = desired.metadata
    return changeOf(desired, index.get(groupKindOf(desired), name, namespace))
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
export function readinessOfApplied(
  desired: KubeObject,
  applied: Applied,
  context: ReadinessContext,
): Readiness {
  const written = applied.get(identityOf(desired))
  const { name, namespace } = desired.metadata
  const seen = context.around.get(groupKindOf(desired), name, namespace)
  if (written && !isCaughtUp(written, seen, desired))
    return progressing(`${nameOf(desired)} to be seen as written`)
  const { apiVersion, kind } = desired
  return readinessOf(
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
