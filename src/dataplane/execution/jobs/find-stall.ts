/**
 * Finds out why the pod of a Job makes no progress: it cannot start, or its node does not answer.
 *
 * Pure. A pod of a lost node may still work on its hosts, so only a person can say that it has ended.
 */
import type { KubeObject } from '../../../api/object.ts'
import { ageMs, findCondition, getList, getString } from '../../../api/raw-object.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import { runPodLost, runPodNotStarted } from '../../findings/runs.ts'

/** How long after its grace period a pod that is being deleted may still be there. */
const DELETION_MS = 60_000

/** The text is repeated in the status of every node of the run. */
const MAX_REASON = 300

/** Reasons that do not end by themselves. */
const WAITING_REASONS: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
])

export function findStall(pods: readonly KubeObject[], nowMs: number): Finding | undefined {
  for (const pod of pods) {
    const stall = findLoss(pod, nowMs) ?? findObstacle(pod)
    if (stall) return stall
  }
  return undefined
}

function findLoss(pod: KubeObject, nowMs: number): Finding | undefined {
  const { name, deletionTimestamp } = pod.metadata
  const node = getString(pod, 'spec', 'nodeName')
  const phase = getString(pod, 'status', 'phase')
  if (node === undefined || phase === 'Succeeded' || phase === 'Failed') return undefined
  const isLost = deletionTimestamp === undefined ? isMarkedNotReady(pod) : ageMs(deletionTimestamp, nowMs) > DELETION_MS
  return isLost ? finding(runPodLost, { pod: name, node }) : undefined
}

/** The container has no readiness probe, so only the controller of nodes calls it not ready while it runs. */
function isMarkedNotReady(pod: KubeObject): boolean {
  const statuses = getList(pod, 'status', 'containerStatuses')
  return (
    statuses.length > 0 &&
    statuses.every((status) => getString(status, 'state', 'running', 'startedAt') !== undefined) &&
    findCondition(pod, 'Ready')?.status === 'False'
  )
}

function findObstacle(pod: KubeObject): Finding | undefined {
  const { name, namespace = '' } = pod.metadata
  const scheduled = findCondition(pod, 'PodScheduled')
  if (scheduled?.reason === 'Unschedulable')
    return finding(runPodNotStarted, {
      pod: name,
      namespace,
      reason: (scheduled.message ?? 'no node fits').slice(0, MAX_REASON),
    })
  const statuses = [...getList(pod, 'status', 'initContainerStatuses'), ...getList(pod, 'status', 'containerStatuses')]
  for (const status of statuses) {
    const reason = getString(status, 'state', 'waiting', 'reason') ?? ''
    if (!WAITING_REASONS.has(reason)) continue
    const message = getString(status, 'state', 'waiting', 'message') ?? reason
    return finding(runPodNotStarted, { pod: name, namespace, reason: message.slice(0, MAX_REASON) })
  }
  return undefined
}
