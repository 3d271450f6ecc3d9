/**
 * Builds the stage for node networking: one node after the other, the base before the clouds, no step after a failure.
 *
 * A node whose interfaces change may lose its connection for a moment; two at once may cost the cluster its quorum.
 */
import { asRecord } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { formatGroupKind } from '../../api/snapshot.ts'
import { CLOUD_LABEL } from '../../render/labels.ts'
import type { StageContext } from '../../run/stage.ts'
import { ENACTMENT } from '../../verify/readiness/node-policy.ts'
import { liveReadiness } from '../../verify/readiness/readiness.ts'
import { progressing, type Readiness, ready } from '../../verify/readiness/verdict.ts'
import { applyChanges } from '../apply.ts'
import { waitUntilReady } from '../live-view.ts'
import { absentState, nodeKinds, selectedNode } from '../node-policies.ts'
import { compareObject, compareObjects, distinctKinds, findLive, NODE_POLICY, objectRef } from '../object-changes.ts'
import { type ApplyDeps, appliedReadiness, applyAndWait, type StageWork } from './apply-and-wait.ts'

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
        if (steps[done - 1]?.node !== step.node) await removeFormerState(step.node, policies, deps, context)
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
 * Removes what the live policies of a node name and the desired ones do not: nmstate would leave it on the node. The clouds
 * come before the base, because their VLANs are on its bonds. A run that ends here is continued by the next one, which
 * finds the policy as it is written now.
 */
async function removeFormerState(
  node: string,
  policies: readonly KubeObject[],
  deps: ApplyDeps,
  context: StageContext,
): Promise<void> {
  const onNode = groupByNode(policies.filter((policy) => selectedNode(policy) === node)).toReversed()
  const names = new Set(policies.map(({ metadata }) => metadata.name))
  for (const policy of onNode.flatMap((step) => step.policies)) {
    const index = deps.view.index()
    const live = findLive(objectRef(policy), index)
    // The fields of a policy that is another owner's are not removed: the apply that follows reports the conflict.
    if (!live || !isManagedByStackloom(live)) continue
    const others = index.all(NODE_POLICY).filter(({ metadata }) => !names.has(metadata.name))
    const state = absentState(live, [...policies, ...others])
    if (!state) continue
    const desiredState = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null))
    const absent = { ...policy, spec: { ...asRecord(policy['spec']), desiredState } }
    const applied = await applyChanges([compareObject(absent, live)], deps, context)
    await waitUntilReady(() => appliedReadiness([absent], applied, deps.readiness(context)), deps.view, context)
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
