/** Webhooks that reject every write. */
import { webhook } from '../healthy-cluster.ts'
import { changed, having, type State, without } from '../state.ts'

export const webhookStates: readonly State[] = [
  {
    rule: 'webhooks/leftover',
    when: 'an operator was removed without its webhook',
    objects: having(webhook('old')),
    about: 'ValidatingWebhookConfiguration old',
    says: [
      'openstack-operators/old-webhook-service, which does not exist',
      'kubectl delete validatingwebhookconfiguration old',
    ],
  },
  {
    rule: 'webhooks/nobody-answers',
    when: 'the pod behind a webhook is not ready',
    objects: without('EndpointSlice openstack-operators/infra-operator-webhook-service-abc'),
    about: 'ValidatingWebhookConfiguration infra-operator',
    says: ['has no endpoints', 'kubectl -n openstack-operators get pods'],
  },
  {
    rule: 'webhooks/no-authority',
    when: "cert-manager's injector has not set the CA bundle",
    objects: changed('ValidatingWebhookConfiguration infra-operator', (one) => ({
      ...one,
      webhooks: [
        {
          name: 'v.kb.io',
          clientConfig: {
            service: { namespace: 'openstack-operators', name: 'infra-operator-webhook-service' },
          },
        },
      ],
    })),
    about: 'ValidatingWebhookConfiguration infra-operator',
    says: ['v.kb.io has no caBundle'],
  },
]
