/** The usual stage: apply what differs, then wait until everything is ready. Skipped when both are so already. */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import type { Stage, StageCheck, StageContext } from '../../run/stage.ts'
import { type Readiness, worst } from '../../verify/readiness/verdict.ts'
import { type AppliedObjects, applyChanges } from '../apply.ts'
import { waitUntilReady } from '../wait.ts'
import { appliedReadiness, compareObjects, distinctKinds, readinessContext, type World } from '../world.ts'

export type StageWork = Pick<Stage, 'work'> & { readonly check: NonNullable<Stage['check']> }

export interface ApplyWork {
  readonly objects: readonly KubeObject[]
  /** Followed beside the objects' own kinds. */
  readonly around?: readonly GroupVersionKind[]
  readonly namespace?: string
  /** What else must hold before the stage ends, beside the objects themselves: looked at after they were applied. */
  readonly also?: (context: StageContext) => Readiness
  /** What a stage without objects says. */
  readonly empty?: string
}

export function applyAndWait(world: World, work: ApplyWork): StageWork {
  const { objects, around = [], namespace, also, empty } = work
  const verdict = (applied: AppliedObjects, context: StageContext): Readiness => {
    const judging = readinessContext(world, context, namespace)
    const own = objects.map((desired) => appliedReadiness(desired, applied, judging))
    return worst(also ? [...own, also(context)] : own)
  }
  return {
    check: async (context): Promise<StageCheck> => {
      if (objects.length === 0 && empty !== undefined) return { kind: 'satisfied', reason: empty }
      await world.lookout.watch([...distinctKinds(objects), ...around], context)
      const differing = compareObjects(objects, world).filter(({ change }) => change !== 'unchanged')
      if (differing.length > 0) return { kind: 'needed', reason: `${differing.length} objects differ` }
      if (verdict(new Map(), context).kind !== 'ready') return { kind: 'needed', reason: 'not everything is ready' }
      return { kind: 'satisfied', reason: formatCount(objects) }
    },
    work: async (context) => {
      await world.lookout.watch([...distinctKinds(objects), ...around], context)
      const applied = await applyChanges(compareObjects(objects, world), world, context)
      // A kind that was not served before may be now.
      await world.lookout.watch([...distinctKinds(objects), ...around], context)
      await waitUntilReady(() => verdict(applied, context), world.lookout, context, {
        ...(namespace !== undefined && { namespace }),
      })
    },
  }
}

function formatCount(objects: readonly KubeObject[]): string {
  return objects.length === 1 ? '1 object is as planned' : `${objects.length} objects are as planned`
}
