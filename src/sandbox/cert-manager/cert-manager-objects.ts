/** Renders the admission of cert-manager: its webhook is called by URL, because it runs as a process without a Service. Pure. */
import type { KubeObject } from '../../api/object.ts'

export const WEBHOOK_PORT = 10_260
/** Its certificates have names and no addresses. */
export const WEBHOOK_HOST = 'localhost'
/** The Secret in which the webhook keeps the authority of its certificates, and from which the CA injector copies it. */
export const WEBHOOK_CA = { namespace: 'kube-system', name: 'cert-manager-webhook-ca' }

const NAME = 'cert-manager-webhook'
const admission = 'admissionregistration.k8s.io/v1'

const paths = { ValidatingWebhookConfiguration: 'validate', MutatingWebhookConfiguration: 'mutate' } as const

export const certManagerWebhooks = Object.keys(paths).map((kind) => ({ apiVersion: admission, kind, name: NAME }))

/** Without the authority, which the CA injector adds. */
export function certManagerObjects(): readonly KubeObject[] {
  return Object.entries(paths).map(([kind, path]) => ({
    apiVersion: admission,
    kind,
    metadata: {
      name: NAME,
      annotations: { 'cert-manager.io/inject-ca-from-secret': `${WEBHOOK_CA.namespace}/${WEBHOOK_CA.name}` },
    },
    webhooks: [
      {
        name: 'webhook.cert-manager.io',
        clientConfig: { url: `https://${WEBHOOK_HOST}:${WEBHOOK_PORT}/${path}` },
        rules: [
          {
            apiGroups: ['cert-manager.io', 'acme.cert-manager.io'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['*/*'],
          },
        ],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        matchPolicy: 'Equivalent',
        timeoutSeconds: 10,
      },
    ],
  }))
}

export function hasAuthority(configuration: KubeObject | undefined): boolean {
  const webhooks = (configuration?.['webhooks'] ?? []) as readonly { readonly clientConfig: { caBundle?: string } }[]
  return webhooks.length > 0 && webhooks.every(({ clientConfig }) => Boolean(clientConfig.caBundle))
}
