/** Builds the webhook configurations that register webhooks with the API server. Pure. */
import type { KubeObject } from '../api/object.ts'

type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

export interface Webhook {
  readonly kind: 'validate' | 'mutate'
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly operations: readonly Operation[]
  /** A named CEL condition: the webhook is called only for objects that satisfy it. */
  readonly only?: { readonly name: string; readonly expression: string }
}

/** The same paths as those of upstream's operators: `/validate-network-openstack-org-v1beta1-ipset`. */
export function webhookPath({
  kind,
  group,
  version,
  singular,
}: Pick<Webhook, 'kind' | 'group' | 'version' | 'singular'>): string {
  return `/${kind}-${group.replaceAll('.', '-')}-${version}-${singular}`
}

/** Where the API server reaches the webhooks: a Service in the cluster, or an address outside it. */
export type WebhookTarget =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }

export const CONFIGURATION_NAME = 'stackloom-operator'

const configurationKinds = {
  mutate: 'MutatingWebhookConfiguration',
  validate: 'ValidatingWebhookConfiguration',
} as const

/** One configuration per webhook kind. Without an authority the API server does not trust the server yet. */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  target: WebhookTarget,
  authority?: string,
): readonly KubeObject[] {
  return buildConfigurations(webhooks, (webhook) => ({
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
    ...(webhook.only && { matchConditions: [webhook.only] }),
    rules: [
      {
        apiGroups: [webhook.group],
        apiVersions: [webhook.version],
        resources: [webhook.plural],
        operations: webhook.operations,
        scope: 'Namespaced',
      },
    ],
    clientConfig: { ...clientConfig(webhook, target), ...(authority !== undefined && caBundle(authority)) },
  }))
}

/** The certificate authority alone, which only a running operator knows; the installer writes the rest. */
export function caBundleConfigurations(webhooks: readonly Webhook[], authority: string): readonly KubeObject[] {
  return buildConfigurations(webhooks, () => ({ clientConfig: caBundle(authority) }))
}

function buildConfigurations(
  webhooks: readonly Webhook[],
  buildContent: (webhook: Webhook) => Readonly<Record<string, unknown>>,
): readonly KubeObject[] {
  return (['mutate', 'validate'] as const).map((kind) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: configurationKinds[kind],
    metadata: { name: CONFIGURATION_NAME, labels: { 'app.kubernetes.io/name': 'stackloom-operator' } },
    webhooks: webhooks
      .filter((webhook) => webhook.kind === kind)
      .map((webhook) => ({ name: `${kind}-${webhook.singular}.stackloom.dev`, ...buildContent(webhook) })),
  }))
}

function clientConfig(webhook: Webhook, target: WebhookTarget): Readonly<Record<string, unknown>> {
  const path = webhookPath(webhook)
  return 'url' in target ? { url: `${target.url.replace(/\/$/, '')}${path}` } : { service: { ...target.service, path } }
}

function caBundle(authority: string): { readonly caBundle: string } {
  return { caBundle: Buffer.from(authority).toString('base64') }
}
