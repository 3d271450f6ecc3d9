/** Namespaces, CRDs and admission webhooks. */
import type { KubeObject } from '../../api/object.ts'
import { findCondition, formatObjectName, getList, getString } from '../../api/raw-object.ts'
import { hasEndpoints } from './load-balancer.ts'
import { failed, progressing, type ReadinessRule, ready } from './verdict.ts'

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

/** A webhook that refuses when nobody answers (`Fail`) stops every write of its kinds. */
export const webhookReadiness: ReadinessRule = (configuration, { around }) => {
  const silent = getList(configuration, 'webhooks').find((hook) => {
    const name = getString(hook, 'clientConfig', 'service', 'name')
    const namespace = getString(hook, 'clientConfig', 'service', 'namespace')
    if (name === undefined || namespace === undefined || getString(hook, 'failurePolicy') === 'Ignore') return false
    return !hasEndpoints(around, namespace, name)
  })
  if (silent === undefined) return ready
  return progressing(
    `webhook ${getString(silent, 'name')} to have somebody who answers (${describeWebhookService(silent)})`,
  )
}

function describeWebhookService(hook: unknown): string {
  const service = (hook as { clientConfig: { service: KubeObject['metadata'] } }).clientConfig.service
  return `Service ${service.namespace}/${service.name} has no endpoints`
}
