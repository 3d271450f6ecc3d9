/** Readiness of workloads, from their replica counts and failed pods. */
import type { KubeObject } from '../../api/object.ts'
import { describeCommand, findCondition, formatObjectName, getNumber, getString } from '../../api/raw-object.ts'
import { outdatedStatus } from './conditions.ts'
import { podReadiness, podsOfWorkload } from './pods.ts'
import {
  applyRule,
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

export const deploymentReadiness: ReadinessRule = (deployment, context) => {
  const pending = notObservedYet(deployment)
  if (pending) return pending
  const stuck = findCondition(deployment, 'Progressing')
  const desired = getNumber(deployment, 'spec', 'replicas') ?? 1
  const verdict = replicaReadiness(deployment, [
    ['updatedReplicas', desired, 'updated'],
    ['availableReplicas', desired, 'available'],
  ])
  if (verdict.kind === 'ready') {
    const available = findCondition(deployment, 'Available')
    const isAvailable = !available || available.status === 'True'
    return (
      surplusPods(deployment, desired) ??
      (isAvailable ? ready : progressing(`${formatObjectName(deployment)} to be available`))
    )
  }
  const trouble = findFailedPod(deployment, context)
  if (trouble) return trouble
  if (stuck?.reason === 'ProgressDeadlineExceeded')
    return failed(`${formatObjectName(deployment)}: ${stuck.message ?? 'no progress'}`, describeCommand(deployment))
  return verdict
}

export const daemonSetReadiness: ReadinessRule = (daemonSet, context) => {
  const pending = notObservedYet(daemonSet)
  if (pending) return pending
  const desired = getNumber(daemonSet, 'status', 'desiredNumberScheduled')
  if (desired === undefined) return progressing(`${formatObjectName(daemonSet)} to be observed`)
  const verdict = replicaReadiness(daemonSet, [
    ['updatedNumberScheduled', desired, 'updated'],
    ['numberAvailable', desired, 'available'],
  ])
  return verdict.kind === 'ready' ? ready : (findFailedPod(daemonSet, context) ?? verdict)
}

export const statefulSetReadiness: ReadinessRule = (set, context) => {
  const pending = notObservedYet(set)
  if (pending) return pending
  const desired = getNumber(set, 'spec', 'replicas') ?? 1
  const verdict = replicaReadiness(set, [['readyReplicas', desired, 'ready']])
  if (verdict.kind !== 'ready') return findFailedPod(set, context) ?? verdict
  return surplusPods(set, desired) ?? rolloutReadiness(set, desired)
}

/** The revision changes only when every pod is updated; with a partition or OnDelete some pods are never updated. */
function rolloutReadiness(set: KubeObject, desired: number): Readiness {
  const update = getString(set, 'status', 'updateRevision')
  if (getString(set, 'status', 'currentRevision') === update) return ready
  if (getString(set, 'spec', 'updateStrategy', 'type') === 'OnDelete') return ready
  const partition = getNumber(set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0
  const rolled = getNumber(set, 'status', 'updatedReplicas') ?? 0
  return partition > 0 && rolled >= desired - partition
    ? ready
    : progressing(`${formatObjectName(set)} to roll to revision ${update}`)
}

export const jobReadiness: ReadinessRule = (job, context) => {
  const done = findCondition(job, 'Complete')
  if (done?.status === 'True') return ready
  const broken = findCondition(job, 'Failed')
  if (broken?.status === 'True') {
    const why = broken.message ?? broken.reason ?? 'no reason given'
    const { namespace, name } = job.metadata
    return failed(`${formatObjectName(job)} failed: ${why}`, `kubectl -n ${namespace} logs job/${name}`)
  }
  const attempts = getNumber(job, 'status', 'failed') ?? 0
  const trouble = findFailedPod(job, context)
  return (
    trouble ??
    progressing(`${formatObjectName(job)} to complete${attempts > 0 ? ` (${attempts} attempts failed)` : ''}`)
  )
}

/** A workload without a status was not reconciled yet. */
function notObservedYet(workload: KubeObject): Readiness | undefined {
  if (getNumber(workload, 'status', 'observedGeneration') === undefined)
    return progressing(`the controller of ${formatObjectName(workload)} to see it`)
  return outdatedStatus(workload)
}

/** Surplus pods of an older revision or a larger replica count. */
function surplusPods(workload: KubeObject, desired: number): Readiness | undefined {
  const old = (getNumber(workload, 'status', 'replicas') ?? 0) - desired
  return old > 0
    ? progressing(`${formatObjectName(workload)} to end ${old} more ${old === 1 ? 'pod' : 'pods'}`)
    : undefined
}

type Count = readonly [field: string, desired: number, word: string]

function replicaReadiness(workload: KubeObject, fields: readonly Count[]): Readiness {
  for (const [field, desired, word] of fields) {
    const have = getNumber(workload, 'status', field) ?? 0
    if (have < desired) return progressing(`${formatObjectName(workload)}: ${have} of ${desired} pods ${word}`)
  }
  return ready
}

function findFailedPod(workload: KubeObject, context: ReadinessContext): Readiness | undefined {
  const verdicts = podsOfWorkload(workload, context).map((pod) => applyRule(podReadiness, pod, context))
  return verdicts.find((verdict) => verdict.kind === 'failed')
}
