/**
 * Builds the stage that installs an operator: its Subscription, then its operand, then a wait for all its parts.
 *
 * An operator that is installed already satisfies the stage: a second OperatorGroup or Subscription would break it.
 */

import type { GroupVersionKind, KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import { getString } from '../../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import { failure } from '../../errors/failure.ts'
import type { Finding } from '../../errors/finding.ts'
import type { StageContext } from '../../run/stage.ts'
import { type InstallationPart, installationReadiness } from '../../verify/readiness/installed-operators.ts'
import type { Readiness } from '../../verify/readiness/verdict.ts'
import { operatorMissing } from '../findings/up.ts'
import { waitUntilReady } from '../live-view.ts'
import { compareObjects, distinctKinds } from '../object-changes.ts'
import { type ApplyDeps, applyAndWait, type StageWork } from './apply-and-wait.ts'
import { deleteRenamedPeers } from './renamed-peers.ts'

export interface OperatorWork {
  /** Name of the operator in messages. */
  readonly title: string
  readonly objects: readonly KubeObject[]
  readonly parts: readonly InstallationPart[]
  /** Kinds that the operator brings: watched to see whether they are served. */
  readonly brings: readonly GroupVersionKind[]
  /** Kinds with one object per cluster: an existing one counts as ours. */
  readonly singletons: readonly string[]
  /** Reports findings when the operator runs. */
  readonly inspect?: () => Promise<readonly Finding[]>
}

const OLM_KINDS = ['Namespace', 'OperatorGroup', 'CatalogSource', 'Subscription']
const SUBSCRIPTION = 'operators.coreos.com/Subscription'

const relatedKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'v1', kind: 'Pod' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription' },
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion' },
]

export function operatorStage(deps: ApplyDeps, operator: OperatorWork): StageWork {
  const { view } = deps
  const kinds = [...distinctKinds(operator.objects), ...operator.brings, ...relatedKinds]
  const installed = (context: StageContext): Readiness => installationReadiness(operator.parts, deps.readiness(context))

  return {
    check: async (context) => {
      await view.watch(kinds, context)
      if (installed(context).kind !== 'ready') return { kind: 'needed' }
      const objects = objectsToApply(operator, view.index())
      if (objects.length === 0) return { kind: 'satisfied', reason: `${operator.title} is installed already` }
      return compareObjects(objects, view.index()).every(({ change }) => change === 'unchanged')
        ? { kind: 'satisfied', reason: `${operator.title} runs as planned` }
        : { kind: 'needed' }
    },
    work: async (context) => {
      await view.watch(kinds, context)
      const objects = objectsToApply(operator, view.index())
      if (objects.length === 0 && !isServed(operator, view.index()))
        throw failure(operatorMissing, { operator: operator.title }, { exitCode: 1 })
      const isOlm = ({ kind }: KubeObject): boolean => OLM_KINDS.includes(kind)
      await applyAndWait(deps, { objects: objects.filter(isOlm) }).work(context)
      await deleteRenamedPeers(objects, view.index(), deps.client, context)
      await applyAndWait(deps, { objects: objects.filter((object) => !isOlm(object)) }).work(context)
      await waitUntilReady(() => installed(context), view, context)
      for (const finding of (await operator.inspect?.()) ?? []) context.emit({ kind: 'finding', finding })
    },
  }
}

/** Leaves out a Subscription or operand that another tool has created already. */
function objectsToApply({ objects, singletons }: OperatorWork, index: SnapshotIndex): readonly KubeObject[] {
  const packageName = (subscription: KubeObject): string | undefined => getString(subscription, 'spec', 'name')
  const packages = objects.filter(({ kind }) => kind === 'Subscription').map(packageName)
  const isSubscribed = index
    .all(SUBSCRIPTION)
    .some((subscription) => !isManagedByStackloom(subscription) && packages.includes(packageName(subscription)))
  return objects.filter((object) => {
    if (OLM_KINDS.includes(object.kind)) return !isSubscribed
    const groupKind = formatGroupKind(object)
    return !singletons.includes(groupKind) || index.all(groupKind).every(isManagedByStackloom)
  })
}

function isServed({ brings }: OperatorWork, index: SnapshotIndex): boolean {
  return brings.every((kind) => index.unread(formatGroupKind(kind)) === undefined)
}
