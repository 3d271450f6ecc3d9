/** Deployments, DaemonSets, StatefulSets and Jobs: their own counts, and their pods' troubles as the cause. */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, describeCommand, nameOf, numberAt, textAt } from '../../api/raw-object.ts'
import { unsettled } from './conditions.ts'
import { judgeBy } from './deletion.ts'
import { podReadiness, podsOf } from './pods.ts'
import {
  failed,
  progressing,
  type Readiness,
  type ReadinessContext,
  type ReadinessRule,
  ready,
} from './verdict.ts'

export const deploymentReadiness: ReadinessRule = (deployment, context) => {
  const early = unobserved(deployment)
  if (early) return early
  const stuck = conditionOf(deployment, 'Progressing')
  const wanted = numberAt(deployment, 'spec', 'replicas') ?? 1
  const verdict = counts(deployment, [
    ['updatedReplicas', wanted, 'updated'],
    ['availableReplicas', wanted, 'available'],
  ])
  if (verdict.kind === 'ready') {
    const available = conditionOf(deployment, 'Available')
    const isAvailable = !available || available.status === 'True'
    return (
      surplus(deployment, wanted) ??
      (isAvailable ? ready : progressing(`${nameOf(deployment)} to be available`))
    )
  }
  const trouble = troubleOfPods(deployment, context)
  if (trouble) return trouble
  if (stuck?.reason === 'ProgressDeadlineExceeded')
    return failed(`${nameOf(deployment)}: ${stuck.message ?? 'no progress'}`, describeCommand(deployment))
  return verdict
}

export const daemonSetReadiness: ReadinessRule = (daemonSet, context) => {
  const early = unobserved(daemonSet)
  if (early) return early
  const wanted = numberAt(daemonSet, 'status', 'desiredNumberScheduled')
  if (wanted === undefined) return progressing(`${nameOf(daemonSet)} to be observed`)
  const verdict = counts(daemonSet, [
    ['updatedNumberScheduled', wanted, 'updated'],
    ['numberAvailable', wanted, 'available'],
  ])
  return verdict.kind === 'ready' ? ready : (troubleOfPods(daemonSet, context) ?? verdict)
}

export const statefulSetReadiness: ReadinessRule = (set, context) => {
  const early = unobserved(set)
  if (early) return early
  const wanted = numberAt(set, 'spec', 'replicas') ?? 1
  const verdict = counts(set, [['readyReplicas', wanted, 'ready']])
  if (verdict.kind !== 'ready') return troubleOfPods(set, context) ?? verdict
  return surplus(set, wanted) ?? rollOut(set, wanted)
}

/**
 * The current revision becomes the updated one only when every pod has rolled. Below a partition none does, and with
 * OnDelete none does until somebody deletes it: neither is something to wait for.
 */
function rollOut(set: KubeObject, wanted: number): Readiness {
  const update = textAt(set, 'status', 'updateRevision')
  if (textAt(set, 'status', 'currentRevision') === update) return ready
  if (textAt(set, 'spec', 'updateStrategy', 'type') === 'OnDelete') return ready
  const partition = numberAt(set, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0
  const rolled = numberAt(set, 'status', 'updatedReplicas') ?? 0
  return partition > 0 && rolled >= wanted - partition
    ? ready
    : progressing(`${nameOf(set)} to roll to revision ${update}`)
}

export const jobReadiness: ReadinessRule = (job, context) => {
  const done = conditionOf(job, 'Complete')
  if (done?.status === 'True') return ready
  const broken = conditionOf(job, 'Failed')
  if (broken?.status === 'True') {
    const why = broken.message ?? broken.reason ?? 'no reason given'
    const { namespace, name } = job.metadata
    return failed(`${nameOf(job)} gave up: ${why}`, `kubectl -n ${namespace} logs job/${name}`)
  }
  const tries = numberAt(job, 'status', 'failed') ?? 0
  const trouble = troubleOfPods(job, context)
  return trouble ?? progressing(`${nameOf(job)} to complete${tries > 0 ? ` (${tries} tries failed)` : ''}`)
}

/** A workload without a status has not been seen by its controller: that is no success. */
function unobserved(workload: KubeObject): Readiness | undefined {
  if (numberAt(workload, 'status', 'observedGeneration') === undefined)
    return progressing(`the controller of ${nameOf(workload)} to see it`)
  return unsettled(workload)
}

/** Pods of an older revision, or of a larger number, that are still to end. */
function surplus(workload: KubeObject, wanted: number): Readiness | undefined {
  const old = (numberAt(workload, 'status', 'replicas') ?? 0) - wanted
  return old > 0
    ? progressing(`${nameOf(workload)} to end ${old} more ${old === 1 ? 'pod' : 'pods'}`)
    : undefined
}

type Count = readonly [field: string, wanted: number, word: string]

function counts(workload: KubeObject, fields: readonly Count[]): Readiness {
  for (const [field, wanted, word] of fields) {
    const have = numberAt(workload, 'status', field) ?? 0
    if (have < wanted) return progressing(`${nameOf(workload)}: ${have} of ${wanted} pods ${word}`)
  }
  return ready
}

function troubleOfPods(workload: KubeObject, context: ReadinessContext): Readiness | undefined {
  const verdicts = podsOf(workload, context).map((pod) => judgeBy(podReadiness, pod, context))
  return verdicts.find((one) => one.kind === 'failed')
}
