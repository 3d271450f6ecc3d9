/**
 * Builds the usual stage: apply what differs, then wait until everything is ready. Skipped when both hold already.
 */
import { type GroupVersionKind, type KubeObject, objectIdentity } from '../../api/object.ts'
import { formatObjectName } from '../../api/raw-object.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Stage, StageCheck, StageContext } from '../../run/stage.ts'
import { fieldDifferences } from '../../verify/field-differences.ts'
import { objectReadiness } from '../../verify/readiness/readiness.ts'
import {
  type Grace,
  progressing,
  type Readiness,
  type ReadinessContext,
  worst,
} from '../../verify/readiness/verdict.ts'
import { type AppliedObjects, type ApplyOptions, applyChanges } from '../apply.ts'
import { type LiveView, waitUntilReady } from '../live-view.ts'
import { compareObjects, distinctKinds, findLive, objectRef } from '../object-changes.ts'

export type StageWork = Pick<Stage, 'work'> & { readonly check: NonNullable<Stage['check']> }

export interface ApplyDeps extends ApplyOptions {
  readonly view: LiveView
  readonly readiness: (context: StageContext, namespace?: string) => ReadinessContext
}

/** Judges readiness with the nodes and the planned addresses of a site. */
export function siteReadiness(plan: Plan, view: LiveView, grace: Grace): ApplyDeps['readiness'] {
  const nodes = plan.from.cluster.nodes.map(({ name }) => name)
  const vips = new Map(
    plan.clouds.map(({ namespace, networks }) => [
      namespace,
      new Set(networks.flatMap((network) => network.vips.map(({ address }) => address))),
    ]),
  )
  return (context, namespace) => ({
    around: view.index(namespace),
    now: context.clock.now(),
    grace,
    nodes,
    planned: (within) => vips.get(within),
  })
}

export interface ApplyWork {
  readonly objects: readonly KubeObject[]
  /** Kinds that readiness needs besides those of the objects. */
  readonly related?: readonly GroupVersionKind[]
  readonly namespace?: string
  /** Must be ready too before the stage ends; checked after the objects are applied. */
  readonly also?: (context: ReadinessContext) => Readiness
  /** Reason to skip a stage without objects. */
  readonly empty?: string
}

export function applyAndWait(deps: ApplyDeps, work: ApplyWork): StageWork {
  const { objects, related = [], namespace, also, empty } = work
  const kinds = [...distinctKinds(objects), ...related]
  const judge = (applied: AppliedObjects, around: ReadinessContext): Readiness => {
    const readiness = appliedReadiness(objects, applied, around)
    return also ? worst([readiness, also(around)]) : readiness
  }
  return {
    check: async (context): Promise<StageCheck> => {
      if (objects.length === 0 && empty !== undefined) return { kind: 'satisfied', reason: empty }
      await deps.view.watch(kinds, context)
      const changes = compareObjects(objects, deps.view.index()).filter(({ change }) => change !== 'unchanged')
      if (changes.length > 0) return { kind: 'needed', reason: `${changes.length} objects differ` }
      if (judge(new Map(), deps.readiness(context, namespace)).kind !== 'ready')
        return { kind: 'needed', reason: 'not everything is ready' }
      return { kind: 'satisfied', reason: formatCount(objects) }
    },
    work: async (context) => {
      await deps.view.watch(kinds, context)
      const applied = await applyChanges(compareObjects(objects, deps.view.index()), deps, context)
      // A kind that was not served before may be served now.
      await deps.view.watch(kinds, context)
      const since = context.clock.now()
      const check = (): Readiness => judge(applied, { ...deps.readiness(context, namespace), since })
      await waitUntilReady(check, deps.view, context, namespace)
    },
  }
}

/** Readiness of applied objects, as soon as the view shows what was written. */
export function appliedReadiness(
  objects: readonly KubeObject[],
  applied: AppliedObjects,
  context: ReadinessContext,
): Readiness {
  return worst(
    objects.map((desired) => {
      const ref = objectRef(desired)
      const written = applied.get(objectIdentity(desired))
      if (written && !isCurrent(findLive(ref, context.around), written, desired))
        return progressing(`${formatObjectName(desired)} to be seen as written`)
      return objectReadiness(ref, { ...context, desired })
    }),
  )
}

/** Resource versions can only be compared for equality, generations by order; without one the fields decide. */
function isCurrent(live: KubeObject | undefined, written: KubeObject, desired: KubeObject): boolean {
  if (!live || live.metadata.uid !== written.metadata.uid) return false
  if (live.metadata.resourceVersion === written.metadata.resourceVersion) return true
  const { generation } = written.metadata
  if (generation !== undefined) return (live.metadata.generation ?? 0) >= generation
  return fieldDifferences(desired, live).length === 0
}

function formatCount(objects: readonly KubeObject[]): string {
  return objects.length === 1 ? '1 object is as planned' : `${objects.length} objects are as planned`
}
