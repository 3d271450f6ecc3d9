/** SL9610 to SL9614: webhooks. */
import { problem } from '../../errors/finding.ts'

export const webhookLeftover = problem<{ hook: string; service: string; kind: string; configuration: string }>({
  code: 'SL9610',
  severity: 'error',
  title: 'A webhook is left over from a removed operator',
  message: ({ hook, service }) =>
    `${hook} calls Service ${service}, which does not exist: every write of its kinds is rejected, including deletions`,
  remedy: ({ kind, configuration }) =>
    `if the operator was removed permanently: kubectl delete ${kind.toLowerCase()} ${configuration}`,
  description: `A removed operator may leave its webhook configuration behind. With \`failurePolicy: Fail\` no object of its kinds can be
created, changed or deleted any more, and namespaces stay in Terminating.`,
  example: {
    hook: 'vopenstackcontrolplane.kb.io',
    service: 'openstack-operators/openstack-operator-webhook-service',
    kind: 'ValidatingWebhookConfiguration',
    configuration: 'vopenstackcontrolplane-v1beta1.kb.io',
  },
})

export const webhookSilent = problem<{ hook: string; service: string; namespace: string }>({
  code: 'SL9611',
  severity: 'error',
  title: 'A webhook has no endpoints',
  message: ({ hook, service }) =>
    `${hook} calls Service ${service}, which has no endpoints: every write of its kinds is rejected`,
  remedy: ({ namespace }) => `check why its pods are not ready: kubectl -n ${namespace} get pods`,
  description: `The API server calls the webhook before it stores an object. With \`failurePolicy: Fail\` a missing answer rejects the write:
"failed calling webhook … no endpoints available". The pod behind the Service has not started yet, or crashed.`,
  example: {
    hook: 'vnetconfig.kb.io',
    service: 'openstack-operators/infra-operator-webhook-service',
    namespace: 'openstack-operators',
  },
})

export const webhookUntrusted = problem<{ hook: string; configuration: string }>({
  code: 'SL9612',
  severity: 'error',
  title: 'A webhook has no CA bundle',
  message: ({ hook }) =>
    `${hook} has no caBundle: the API server does not trust its certificate and rejects every write of its kinds`,
  remedy: () => 'check that the CA injector of cert-manager, or OLM, runs: kubectl -n cert-manager get pods',
  description: `The CA injector of cert-manager, or OLM, sets \`caBundle\` after the configuration was created. While it is empty, writes fail
with "x509: certificate signed by unknown authority".`,
  example: { hook: 'vnetconfig.kb.io', configuration: 'infra-operator' },
})
