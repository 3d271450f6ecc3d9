/** Finds the pods behind an object that a stage waits for: those that belong to it, those in trouble first. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, getField, getList, getString } from '../../api/raw-object.ts'

/** An object as the events of a run name it. */
export interface NamedObject {
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** A page shows the first ones; the command that lists all of them is beside it. */
const MAX_PODS = 5

/** `objects`: what the cluster has. Without a pod of its own, the pods of its namespace that are not ready may explain it. */
export function podsBehind(
  { kind, namespace, name }: NamedObject,
  objects: readonly KubeObject[],
): readonly KubeObject[] {
  const near = objects.filter(({ metadata }) => metadata.namespace === (kind === 'Namespace' ? name : namespace))
  const pods = near.filter((object) => object.kind === 'Pod')
  const byUid = new Map(near.map((object) => [object.metadata.uid, object]))
  const belongs = (object: KubeObject, depth = 0): boolean => {
    if (object.kind === kind && object.metadata.name === name) return true
    if (depth > 8) return false
    return (object.metadata.ownerReferences ?? []).some((owner) => {
      if (owner.kind === kind && owner.name === name) return true
      // ReplicaSets are not read: their name is that of the Deployment with a hash.
      const deployment = owner.kind === 'ReplicaSet' ? owner.name.replace(/-[^-]+$/, '') : undefined
      if (deployment !== undefined && kind === 'Deployment' && deployment === name) return true
      const next =
        byUid.get(owner.uid) ?? near.find((other) => other.kind === 'Deployment' && other.metadata.name === deployment)
      return next !== undefined && belongs(next, depth + 1)
    })
  }
  const owned = pods.filter((pod) => belongs(pod))
  const found = owned.length > 0 ? owned : pods.filter((pod) => troubleOf(pod) > 0)
  return found.toSorted((a, b) => troubleOf(b) - troubleOf(a) || compareNames(a, b)).slice(0, MAX_PODS)
}

function compareNames(a: KubeObject, b: KubeObject): number {
  return a.metadata.name.localeCompare(b.metadata.name)
}

/** 0: ready or completed. */
function troubleOf(pod: KubeObject): number {
  const phase = getString(pod, 'status', 'phase')
  if (phase === 'Succeeded') return 0
  if (phase === 'Failed') return 3
  if (statusesOf(pod).some((status) => getField(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff')) return 3
  return findCondition(pod, 'Ready')?.status === 'True' ? 0 : statusesOf(pod).length > 0 ? 2 : 1
}

function statusesOf(pod: KubeObject): readonly unknown[] {
  return [...getList(pod, 'status', 'initContainerStatuses'), ...getList(pod, 'status', 'containerStatuses')]
}

export interface LogOfContainer {
  readonly container: string | undefined
  /** The container has crashed, so its last run says why. */
  readonly previous: boolean
}

/** The container whose log explains the pod: the first that is not ready, or else the first one. */
export function containerToRead(pod: KubeObject): LogOfContainer {
  const statuses = statusesOf(pod)
  const hasEnded = (status: unknown): boolean => getField(status, 'state', 'terminated', 'exitCode') === 0
  const troubled = statuses.find((status) => getField(status, 'ready') !== true && !hasEnded(status))
  const name = getField(troubled, 'name') ?? getField(getList(pod, 'spec', 'containers')[0], 'name')
  const isWaiting = getField(troubled, 'state', 'waiting') !== undefined
  const restarts = Number(getField(troubled, 'restartCount') ?? 0)
  return { container: typeof name === 'string' ? name : undefined, previous: isWaiting && restarts > 0 }
}
