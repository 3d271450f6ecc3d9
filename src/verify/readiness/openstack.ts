/** Readiness of OpenStack kinds. For a control plane that is not ready, a failed object of its namespace is the better cause. */
import type { KubeObject } from '../../api/object.ts'
import { formatObjectName, getField, getNumber, getString } from '../../api/raw-object.ts'
import { claimReadiness } from './cluster.ts'
import { conditionReadiness, outdatedStatus, readyCondition } from './conditions.ts'
import { serviceReadiness } from './load-balancer.ts'
import { podReadiness } from './pods.ts'
import { applyRule, progressing, type Readiness, type ReadinessContext, type ReadinessRule, ready } from './verdict.ts'
import { jobReadiness } from './workloads.ts'

export const controlPlaneReadiness: ReadinessRule = (controlPlane, context) => {
  const readiness = notObservedYet(controlPlane) ?? readyCondition(controlPlane, context)
  return readiness.kind === 'progressing'
    ? (findFailure(controlPlane.metadata.namespace, context) ?? readiness)
    : readiness
}

export const nodeSetReadiness: ReadinessRule = (nodeSet, context) =>
  notObservedYet(nodeSet) ?? readyCondition(nodeSet, context)

/** Whether a node set is ready for a deployment: addresses and inventory exist. */
export const nodeSetSetupReadiness: ReadinessRule = (nodeSet, context) =>
  notObservedYet(nodeSet) ?? outdatedStatus(nodeSet) ?? conditionReadiness(nodeSet, 'SetupReady', context)

/** A deployment runs once: `deployed` is final, regardless of its conditions. */
export const dataPlaneDeploymentReadiness: ReadinessRule = (deployment, context) => {
  if (getField(deployment, 'status', 'deployed') === true) return outdatedStatus(deployment) ?? ready
  const readiness = notObservedYet(deployment) ?? readyCondition(deployment, context)
  if (readiness.kind !== 'progressing') return readiness
  return findFailedJob(deployment, context) ?? readiness
}

export const versionReadiness: ReadinessRule = (version, context) => {
  const early = notObservedYet(version) ?? outdatedStatus(version)
  if (early) return early
  const target = getString(version, 'spec', 'targetVersion') ?? getString(version, 'status', 'availableVersion')
  const deployed = getString(version, 'status', 'deployedVersion')
  if (target !== undefined && deployed === target) return ready
  const readiness = readyCondition(version, context)
  return readiness.kind === 'ready'
    ? progressing(`${formatObjectName(version)} to go from ${deployed ?? 'nothing'} to ${target ?? 'a version'}`)
    : readiness
}

/** These operators always set observedGeneration; without it the object was not reconciled yet. */
function notObservedYet(object: KubeObject): Readiness | undefined {
  return getNumber(object, 'status', 'observedGeneration') === undefined
    ? progressing(`the operator to see ${formatObjectName(object)}`)
    : undefined
}

/** The first failed object of a control plane. */
function findFailure(namespace: string | undefined, context: ReadinessContext): Readiness | undefined {
  const candidates: readonly (readonly [string, ReadinessRule])[] = [
    ['PersistentVolumeClaim', claimReadiness],
    ['Pod', podReadiness],
    ['batch/Job', jobReadiness],
    ['Service', serviceReadiness],
  ]
  for (const [groupKind, rule] of candidates) {
    for (const object of context.around.all(groupKind)) {
      if (object.metadata.namespace !== namespace || isRetriedByOwner(object)) continue
      const verdict = applyRule(rule, object, context)
      if (verdict.kind === 'failed') return verdict
    }
  }
  return undefined
}

/** A Job retries its pods, and a data plane deployment reports its readiness Jobs. */
function isRetriedByOwner({ kind, metadata }: KubeObject): boolean {
  const owners = metadata.ownerReferences ?? []
  if (kind === 'Pod') return owners.some((owner) => owner.kind === 'Job')
  return owners.some((owner) => owner.kind === 'OpenStackDataPlaneDeployment')
}

function findFailedJob(owner: KubeObject, context: ReadinessContext): Readiness | undefined {
  return context.around
    .all('batch/Job')
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid))
    .map((job) => applyRule(jobReadiness, job, context))
    .find(({ kind }) => kind === 'failed')
}
