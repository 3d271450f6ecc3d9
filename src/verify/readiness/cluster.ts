/** Namespaces, CRDs and admission webhooks. */
import type { KubeObject } from '../../api/object.ts'
import { conditionOf, listAt, nameOf, textAt } from '../../api/raw-object.ts'
import { hasEndpoints } from './services.ts'
import { failed, progressing, type ReadinessRule, ready } from './verdict.ts'

export const namespaceReadiness: ReadinessRule = (namespace) =>
  textAt(namespace, 'status', 'phase') === 'Active' ? ready : progressing(`${nameOf(namespace)} to be active`)

export const crdReadiness: ReadinessRule = (crd) => {
  const names = conditionOf(crd, 'NamesAccepted')
  if (names?.status === 'False')
    return failed(
      `${nameOf(crd)}: ${names.message ?? names.reason}`,
      `kubectl describe crd ${crd.metadata.name}`,
    )
  return conditionOf(crd, 'Established')?.status === 'True'
    ? ready
    : progressing(`${nameOf(crd)} to be established`)
}

/** A webhook that refuses when nobody answers (`Fail`) stops every write of its kinds. */
export const webhookReadiness: ReadinessRule = (configuration, { around }) => {
  const silent = listAt(configuration, 'webhooks').find((hook) => {
    const name = textAt(hook, 'clientConfig', 'service', 'name')
    const namespace = textAt(hook, 'clientConfig', 'service', 'namespace')
    if (name === undefined || namespace === undefined || textAt(hook, 'failurePolicy') === 'Ignore')
      return false
    return !hasEndpoints(around, namespace, name)
  })
  if (silent === undefined) return ready
  return progressing(`webhook ${textAt(silent, 'name')} to have somebody who answers (${whoAnswers(silent)})`)
}

function whoAnswers(hook: unknown): string {
  const service = (hook as { clientConfig: { service: KubeObject['metadata'] } }).clientConfig.service
  return `Service ${service.namespace}/${service.name} has no endpoints`
}
