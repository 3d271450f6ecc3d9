/** SL9610 to SL9614: webhooks. */
import { problem } from '../../errors/finding.ts'

export const webhookLeftover = problem<{
  hook: string
  service: string
  kind: string
  configuration: string
}>({
  code: 'SL9610',
  severity: 'error',
  title: 'A webhook of an operator that is gone',
  message: ({ hook, service }) =>
    `${hook} asks Service ${service}, which does not exist: every write of its kinds is refused, deletions too`,
  remedy: ({ kind, configuration }) =>
    `if the operator is not to come back: kubectl delete ${kind.toLowerCase()} ${configuration}`,
  description: `An operator that is removed may leave its webhook configuration behind. With \`failurePolicy: Fail\` nothing of its kinds
can be created, changed or deleted any more, and namespaces do not end.`,
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
  title: 'A webhook that nobody answers for',
  message: ({ hook, service }) =>
    `${hook} asks Service ${service}, which has no endpoints: every write of its kinds is refused`,
  remedy: ({ namespace }) => `see why its pods are not ready: kubectl -n ${namespace} get pods`,
  description: `The API server asks the webhook before it stores an object, and with \`failurePolicy: Fail\` no answer is a refusal:
"failed calling webhook … no endpoints available". The pod behind the Service has not started yet, or has crashed.`,
  example: {
    hook: 'vnetconfig.kb.io',
    service: 'openstack-operators/infra-operator-webhook-service',
    namespace: 'openstack-operators',
  },
})

export const webhookUntrusted = problem<{ hook: string; configuration: string }>({
  code: 'SL9612',
  severity: 'error',
  title: 'A webhook without a certificate authority',
  message: ({ hook }) =>
    `${hook} has no caBundle: the API server does not trust whoever answers, and refuses every write of its kinds`,
  remedy: () =>
    'see whether the CA injector of cert-manager, or OLM, has done its work: kubectl -n cert-manager get pods',
  description: `\`caBundle\` is written into the configuration after it was created, by cert-manager's CA injector or by OLM. While it is
empty, writes fail with "x509: certificate signed by unknown authority".`,
  example: { hook: 'vnetconfig.kb.io', configuration: 'infra-operator' },
})
