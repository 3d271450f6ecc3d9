/** How the API server is told of our webhooks: which kinds, which paths, whom to trust. */
import { networkGroup } from '../api/netconfig.ts'
import type { KubeObject } from '../api/object.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { defaultIpSet, validateIpSet, validateReservation } from './ipset.ts'
import { defaultNetConfig, validateNetConfig } from './netconfig.ts'
import type { NetworkView } from './network-view.ts'

type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

interface Webhook {
  readonly kind: 'validate' | 'mutate'
  readonly plural: string
  readonly singular: string
  readonly operations: readonly Operation[]
}

const webhooks: readonly Webhook[] = [
  { kind: 'mutate', plural: 'netconfigs', singular: 'netconfig', operations: ['CREATE', 'UPDATE'] },
  { kind: 'mutate', plural: 'ipsets', singular: 'ipset', operations: ['CREATE'] },
  {
    kind: 'validate',
    plural: 'netconfigs',
    singular: 'netconfig',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
  },
  { kind: 'validate', plural: 'ipsets', singular: 'ipset', operations: ['CREATE', 'UPDATE'] },
  { kind: 'validate', plural: 'reservations', singular: 'reservation', operations: ['CREATE', 'UPDATE'] },
]

/** The same paths as infra-operator's. */
function pathOf(kind: Webhook['kind'], singular: string): string {
  return `/${kind}-network-openstack-org-v1beta1-${singular}`
}

export function networkHandlers(
  view: NetworkView,
  finalizers: readonly string[],
): Readonly<Record<string, AdmissionHandler>> {
  return {
    [pathOf('mutate', 'netconfig')]: defaultNetConfig(view),
    [pathOf('validate', 'netconfig')]: validateNetConfig(view),
    [pathOf('mutate', 'ipset')]: defaultIpSet(finalizers),
    [pathOf('validate', 'ipset')]: validateIpSet(view),
    [pathOf('validate', 'reservation')]: validateReservation,
  }
}

/** Where the API server finds us: a Service in the cluster, or an address outside it. */
export type WebhookPlace =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export const CONFIGURATION_NAME = 'stackloom-operator'

export function webhookConfigurations(place: WebhookPlace, authority: string): readonly KubeObject[] {
  return (['mutate', 'validate'] as const).map((kind) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: kind === 'mutate' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
    metadata: { name: CONFIGURATION_NAME, labels: { 'app.kubernetes.io/name': 'stackloom-operator' } },
    webhooks: webhooks
      .filter((one) => one.kind === kind)
      .map(({ plural, singular, operations }) => ({
        name: `${kind}-${singular}.stackloom.dev`,
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        timeoutSeconds: 10,
        rules: [
          {
            apiGroups: [networkGroup.group],
            apiVersions: [networkGroup.version],
            resources: [plural],
            operations,
            scope: 'Namespaced',
          },
        ],
        clientConfig: {
          caBundle: Buffer.from(authority).toString('base64'),
          ...('url' in place
            ? { url: `${place.url.replace(/\/$/, '')}${pathOf(kind, singular)}` }
            : { service: { ...place.service, path: pathOf(kind, singular) } }),
        },
      })),
  }))
}
