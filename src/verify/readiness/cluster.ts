/** Readiness of Namespaces, CRDs, admission webhooks, Tuned objects and volume claims. */
import type { KubeObject } from '../../api/object.ts'
import {
  ageMs,
  describeCommand,
  findCondition,
  formatObjectName,
  getField,
  getList,
  getString,
} from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { hasEndpoints } from './load-balancer.ts'
import { latestEvent } from './object-events.ts'
import { errorAgeMs, failed, progressing, type ReadinessRule, ready } from './verdict.ts'

export const namespaceReadiness: ReadinessRule = (namespace) =>
  getString(namespace, 'status', 'phase') === 'Active'
    ? ready
    : progressing(`${formatObjectName(namespace)} to be active`)

export const crdReadiness: ReadinessRule = (crd) => {
  const names = findCondition(crd, 'NamesAccepted')
  if (names?.status === 'False')
    return failed(
      `${formatObjectName(crd)}: ${names.message ?? names.reason}`,
      `kubectl describe crd ${crd.metadata.name}`,
    )
  return findCondition(crd, 'Established')?.status === 'True'
    ? ready
    : progressing(`${formatObjectName(crd)} to be established`)
}

/** Without endpoints, a webhook with the failure policy `Fail` rejects every write of its kinds. */
export const webhookReadiness: ReadinessRule = (configuration, { around }) => {
  const silent = getList(configuration, 'webhooks').find((hook) => {
    const name = getString(hook, 'clientConfig', 'service', 'name')
    const namespace = getString(hook, 'clientConfig', 'service', 'namespace')
    if (name === undefined || namespace === undefined || getString(hook, 'failurePolicy') === 'Ignore') return false
    return !hasEndpoints(around, namespace, name)
  })
  if (silent === undefined) return ready
  return progressing(`webhook ${getString(silent, 'name')} to have an endpoint (${describeWebhookService(silent)})`)
}

function describeWebhookService(hook: unknown): string {
  const service = (hook as { clientConfig: { service: KubeObject['metadata'] } }).clientConfig.service
  return `Service ${service.namespace}/${service.name} has no endpoints`
}

/** The nodes apply it in their own time, which the check `node-tuning` judges; older operators write no condition. */
export const tunedReadiness: ReadinessRule = (tuned) => {
  const valid = findCondition(tuned, 'Valid')
  return valid?.status === 'False'
    ? failed(`${formatObjectName(tuned)}: ${valid.message ?? valid.reason}`, describeCommand(tuned))
    : ready
}

const CLASS = 'storage.k8s.io/StorageClass'
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

export const claimReadiness: ReadinessRule = (claim, context) => {
  const { around, now, grace } = context
  const phase = getString(claim, 'status', 'phase')
  const describe = `kubectl -n ${claim.metadata.namespace} describe pvc ${claim.metadata.name}`
  if (phase === 'Bound') return ready
  if (phase === 'Lost') return failed(`${formatObjectName(claim)} has lost its volume`, describe)
  const missing = missingStorageClass(claim, around)
  const old = ageMs(claim.metadata.creationTimestamp, now) >= grace.allocationMs
  // A default class may still be created; it is then assigned to waiting claims.
  if (missing && (getField(claim, 'spec', 'storageClassName') !== undefined || old))
    return failed(`${formatObjectName(claim)} ${missing}`, 'kubectl get storageclass')
  const event = latestEvent(claim, ['ProvisioningFailed', 'FailedBinding'], around)
  if (event && errorAgeMs(event.first, context) >= grace.allocationMs)
    return failed(`${formatObjectName(claim)} stays pending: ${event.message}`, describe)
  return progressing(`${formatObjectName(claim)} to be bound${event ? `: ${event.message}` : ''}`)
}

/** The missing storage class, if any. An empty class name means a volume that is created manually. */
function missingStorageClass(claim: KubeObject, around: SnapshotIndex): string | undefined {
  const asked = getField(claim, 'spec', 'storageClassName')
  const classes = around.all(CLASS)
  if (asked === '' || classes.length === 0) return undefined
  if (typeof asked === 'string') {
    const known = classes.some(({ metadata }) => metadata.name === asked)
    return known ? undefined : `requests the storage class ${asked}, which does not exist`
  }
  const hasDefault = classes.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
  return hasDefault ? undefined : 'requests the default storage class, but no class is the default'
}
