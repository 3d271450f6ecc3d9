/** Problems of admission webhooks. */
import type { KubeObject } from '../../api/object.ts'
import { getList, getString } from '../../api/raw-object.ts'
import { hasEndpoints } from '../../verify/readiness/load-balancer.ts'
import type { ClusterState } from '../cluster-state.ts'
import * as problems from '../findings/webhooks-findings.ts'
import { type Rule, rule } from '../rule.ts'

const CONFIGURATIONS = [
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
]
const SLICES = 'discovery.k8s.io/EndpointSlice'

interface Hook {
  readonly configuration: KubeObject
  readonly name: string
  readonly namespace: string | undefined
  readonly service: string | undefined
  readonly hasAuthority: boolean
}

/** Webhooks whose failure rejects requests. */
function strictHooks(cluster: ClusterState): readonly Hook[] {
  return CONFIGURATIONS.flatMap((kind) => cluster.all(kind)).flatMap((configuration) =>
    getList(configuration, 'webhooks')
      .filter((hook) => getString(hook, 'failurePolicy') !== 'Ignore')
      .map((hook) => ({
        configuration,
        name: getString(hook, 'name') ?? configuration.metadata.name,
        namespace: getString(hook, 'clientConfig', 'service', 'namespace'),
        service: getString(hook, 'clientConfig', 'service', 'name'),
        hasAuthority: getString(hook, 'clientConfig', 'caBundle') !== undefined,
      })),
  )
}

const webhookLeftover = rule({
  id: 'webhooks/leftover',
  problem: problems.webhookLeftover,
  looksAt: ['Service'],
  also: CONFIGURATIONS,
  match: (cluster) =>
    cluster.knows('Service')
      ? cluster.derive(strictHooks).flatMap(({ configuration, name, namespace, service }) => {
          if (service === undefined || namespace === undefined || cluster.get('Service', service, namespace)) return []
          const facts = {
            hook: name,
            service: `${namespace}/${service}`,
            kind: configuration.kind,
            configuration: configuration.metadata.name,
          }
          return [{ about: configuration, facts }]
        })
      : [],
})

const webhookSilent = rule({
  id: 'webhooks/nobody-answers',
  problem: problems.webhookSilent,
  looksAt: ['Service', SLICES],
  also: [...CONFIGURATIONS, 'apps/Deployment', 'Pod'],
  match: (cluster) =>
    cluster.knows(SLICES)
      ? cluster.derive(strictHooks).flatMap(({ configuration, name, namespace, service }) => {
          if (service === undefined || namespace === undefined || !cluster.get('Service', service, namespace)) return []
          if (hasEndpoints(cluster, namespace, service)) return []
          const facts = { hook: name, service: `${namespace}/${service}`, namespace }
          const dependsOn = [
            ...cluster.inNamespace('Pod', namespace),
            ...cluster.inNamespace('apps/Deployment', namespace),
          ]
          return [{ about: configuration, facts, dependsOn }]
        })
      : [],
})

const webhookUntrusted = rule({
  id: 'webhooks/no-authority',
  problem: problems.webhookUntrusted,
  looksAt: ['Service'],
  also: CONFIGURATIONS,
  likelihood: 'likely',
  match: (cluster) =>
    cluster
      .derive(strictHooks)
      .filter(({ hasAuthority, service }) => service !== undefined && !hasAuthority)
      .map(({ configuration, name }) => ({
        about: configuration,
        facts: { hook: name, configuration: configuration.metadata.name },
      })),
})

export const webhookRules: readonly Rule[] = [webhookLeftover, webhookSilent, webhookUntrusted]
