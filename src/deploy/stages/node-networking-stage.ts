/**
 * Node networking: one node after the other, the base before the clouds, and never on after a failure.
 *
 * A node whose interfaces change may lose its way for a moment; two at once may take the cluster's quorum along.
 */
import type { KubeObject } from '../../api/object.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { CLOUD_LABEL } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { ENACTMENT } from '../../verify/readiness/node-policy.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { progressing, type Readiness, ready, worst } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { waitUntilReady } from '../wait.ts'
import { aroundNodes } from '../works/around.ts'
import { appliedReadiness, compareObjects, distinctKinds, readinessContext, type World } from '../world.ts'
import { applyAndWait, type StageWork } from './apply-and-wait.ts'

export function nodeNetworkingWork(world: World, policies: readonly KubeObject[]): StageWork {
  const whole = applyAndWait(world, {
    objects: policies,
    around: aroundNodes,
    empty: 'the site has no node networking',
  })
  return {
    check: whole.check,
    work: async (context) => {
      await world.lookout.watch([...distinctKinds(policies), ...aroundNodes], context)
      const steps = stepsOf(policies)
      for (const [done, step] of steps.entries()) {
        context.emit({ kind: 'progress', message: `node ${step.node}`, done, total: steps.length })
        await clearFailures(step.policies, world, context)
        const applied = await applyChanges(compareObjects(step.policies, world), { ...world, atOnce: 1 }, context)
        const look = (): Readiness => {
          const judging = readinessContext(world, context)
          return worst(step.policies.map((policy) => appliedReadiness(policy, applied, judging)))
        }
        await waitUntilReady(look, world.lookout, context)
      }
    },
  }
}

/**
 * nmstate tries a policy a few times and then never again, whatever has been repaired since. Deleting the policy
 * changes nothing on the node, and a new one is tried anew. Its enactments must be gone first: they would speak of
 * the first generation, which is also the new policy's.
 */
async function clearFailures(policies: readonly KubeObject[], world: World, context: StageContext): Promise<void> {
  for (const policy of policies) {
    const { apiVersion, kind, metadata } = policy
    const live = world.lookout.index().get(formatGroupKind(policy), metadata.name)
    if (!live || liveReadiness(live, readinessContext(world, context)).kind !== 'failed') continue
    context.emit({ kind: 'progress', message: `${metadata.name} failed before: it is tried again` })
    const { uid } = live.metadata
    const ref = { apiVersion, kind, name: metadata.name }
    await world.client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
    const gone = (): Readiness => {
      const index = world.lookout.index()
      const left = index.all(ENACTMENT).some((one) => one.metadata.name.endsWith(`.${metadata.name}`))
      const there = index.get(formatGroupKind(policy), metadata.name)?.metadata.uid === uid
      return there || left ? progressing(`${metadata.name} and its enactments to be gone`) : ready
    }
    await waitUntilReady(gone, world.lookout, context)
  }
}

interface Step {
  readonly node: string
  readonly policies: readonly KubeObject[]
}

/** By node: the base alone, because VLANs stand on its bonds; then what the clouds add. */
function stepsOf(policies: readonly KubeObject[]): readonly Step[] {
  const nodes = [...new Set(policies.map(nodeOf))]
  return nodes.flatMap((node) => {
    const here = policies.filter((policy) => nodeOf(policy) === node)
    const base = here.filter(({ metadata }) => metadata.labels?.[CLOUD_LABEL] === undefined)
    const clouds = here.filter(({ metadata }) => metadata.labels?.[CLOUD_LABEL] !== undefined)
    return [base, clouds].filter((some) => some.length > 0).map((some) => ({ node, policies: some }))
  })
}

function nodeOf(policy: KubeObject): string {
  return getString(policy, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? 'all'
}
