/**
 * Builds the stage for node networking: one node after the other, the base before the clouds, no step after a failure.
 *
 * A node whose interfaces change may lose its connection for a moment; two at once may cost the cluster its quorum.
 */
import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { CLOUD_LABEL } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { ENACTMENT } from '../../verify/readiness/node-policy.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { progressing, type Readiness, ready } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { waitUntilReady } from '../live-view.ts'
import { compareObjects, distinctKinds, findLive, NODE_POLICY, objectRef } from '../object-changes.ts'
import { type ApplyDeps, appliedReadiness, applyAndWait, type StageWork } from './apply-and-wait.ts'

export const nodeKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Node' },
  { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkConfigurationEnactment' },
]

export function nodeNetworkingStage(deps: ApplyDeps, objects: readonly KubeObject[]): StageWork {
  const policies = objects.filter((object) => formatGroupKind(object) === NODE_POLICY)
  const { check } = applyAndWait(deps, { objects, related: nodeKinds, empty: 'the site has no node networking' })
  // Settings of the kernel, which cost no node its connection.
  const settings = applyAndWait(deps, { objects: objects.filter((object) => !policies.includes(object)) })
  return {
    check,
    work: async (context) => {
      await settings.work(context)
      await deps.view.watch([...distinctKinds(policies), ...nodeKinds], context)
      const steps = groupByNode(policies)
      for (const [done, step] of steps.entries()) {
        context.emit({ kind: 'progress', message: `node ${step.node}`, done, total: steps.length })
        await deleteFailedPolicies(step.policies, deps, context)
        const changes = compareObjects(step.policies, deps.view.index())
        const applied = await applyChanges(changes, { ...deps, concurrency: 1 }, context)
        const isReady = (): Readiness => appliedReadiness(step.policies, applied, deps.readiness(context))
        await waitUntilReady(isReady, deps.view, context)
      }
    },
  }
}

/**
 * nmstate tries a policy a few times and then never again, even after a repair. Deleting the policy changes nothing on
 * the node, and a new policy is tried again. Its enactments must be gone first: they report the first generation, which
 * is also the generation of the new policy.
 */
async function deleteFailedPolicies(
  policies: readonly KubeObject[],
  { client, view, readiness }: ApplyDeps,
  context: StageContext,
): Promise<void> {
  for (const policy of policies) {
    const ref = objectRef(policy)
    const live = findLive(ref, view.index())
    // A policy of another owner is not deleted: the apply that follows reports the conflict.
    if (!live || !isManagedByStackloom(live) || liveReadiness(live, readiness(context)).kind !== 'failed') continue
    context.emit({ kind: 'progress', message: `${ref.name} failed before: it is tried again` })
    const { uid } = live.metadata
    await client.delete(ref, { ...(uid !== undefined && { preconditions: { uid } }) })
    const isGone = (): Readiness => {
      const index = view.index()
      const enacted = index.all(ENACTMENT).some(({ metadata }) => metadata.name.endsWith(`.${ref.name}`))
      const exists = findLive(ref, index)?.metadata.uid === uid
      return exists || enacted ? progressing(`${ref.name} and its enactments to be gone`) : ready
    }
    await waitUntilReady(isGone, view, context)
  }
}

interface NodeStep {
  readonly node: string
  readonly policies: readonly KubeObject[]
}

/** For each node the base first, because VLANs need its bonds, then what the clouds add. */
export function groupByNode(policies: readonly KubeObject[]): readonly NodeStep[] {
  const nodes = [...new Set(policies.map(selectedNode))]
  const isBase = ({ metadata }: KubeObject): boolean => metadata.labels?.[CLOUD_LABEL] === undefined
  return nodes.flatMap((node) => {
    const onNode = policies.filter((policy) => selectedNode(policy) === node)
    const steps = [onNode.filter(isBase), onNode.filter((policy) => !isBase(policy))]
    return steps.filter((step) => step.length > 0).map((step) => ({ node, policies: step }))
  })
}

export function selectedNode(policy: KubeObject): string {
  return getString(policy, 'spec', 'nodeSelector', 'kubernetes.io/hostname') ?? 'all'
}
