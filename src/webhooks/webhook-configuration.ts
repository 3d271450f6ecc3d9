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

/** What the API server does with a write while no operator answers. */
export interface FailurePolicy {
  readonly policy: 'Fail' | 'Ignore'
  readonly reason: string
}

export interface RegisteredWebhook {
  readonly name: string
  readonly webhook: Webhook
  readonly operations: readonly Operation[]
  readonly whenDown: FailurePolicy
}

const policies: Readonly<Record<'mutate' | 'validate' | 'delete', FailurePolicy>> = {
  mutate: { policy: 'Fail', reason: 'without its defaults and finalizers an object would be incomplete' },
  validate: { policy: 'Fail', reason: 'an object that breaks a rule would be stored' },
  delete: {
    policy: 'Ignore',
    reason: 'a namespace must not stay Terminating; addresses and nodes are kept by their own records and finalizers',
  },
}

/** Deletions are registered separately, because they must work without the operator. */
export function registeredWebhooks(webhooks: readonly Webhook[]): readonly RegisteredWebhook[] {
  return webhooks.flatMap((webhook) => {
    const name = `${webhook.kind}-${webhook.singular}`
    const writes = webhook.operations.filter((operation) => operation !== 'DELETE')
    const deletes = webhook.operations.filter((operation) => operation === 'DELETE')
    return [
      { name: `${name}.stackloom.dev`, webhook, operations: writes, whenDown: policies[webhook.kind] },
      { name: `${name}-delete.stackloom.dev`, webhook, operations: deletes, whenDown: policies.delete },
    ].filter(({ operations }) => operations.length > 0)
  })
}

export interface ConfigurationOptions {
  /** Without one the API server does not trust the server yet. */
  readonly authority?: string
  /** The only namespaces that the operator serves; all by default. */
  readonly namespaces?: readonly string[]
}

/** A person must be able to remove the finalizers of a deleted object while no operator answers. */
const NOT_DELETED = { name: 'not-being-deleted', expression: '!has(object.metadata.deletionTimestamp)' }

/** One configuration per webhook kind. */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  target: WebhookTarget,
  { authority, namespaces }: ConfigurationOptions = {},
): readonly KubeObject[] {
  return buildConfigurations(webhooks, ({ webhook, operations, whenDown }) => {
    const conditions = [
      ...(operations.includes('UPDATE') ? [NOT_DELETED] : []),
      ...(webhook.only && !operations.includes('DELETE') ? [webhook.only] : []),
    ]
    return {
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: whenDown.policy,
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      ...(conditions.length > 0 && { matchConditions: conditions }),
      ...(namespaces && {
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }],
        },
      }),
      rules: [
        {
          apiGroups: [webhook.group],
          apiVersions: [webhook.version],
          resources: [webhook.plural],
          operations,
          scope: 'Namespaced',
        },
      ],
      clientConfig: { ...clientConfig(webhook, target), ...(authority !== undefined && caBundle(authority)) },
    }
  })
}

/** The certificate authority alone, which only a running operator knows; the installer writes the rest. */
export function caBundleConfigurations(webhooks: readonly Webhook[], authority: string): readonly KubeObject[] {
  return buildConfigurations(webhooks, () => ({ clientConfig: caBundle(authority) }))
}

function buildConfigurations(
  webhooks: readonly Webhook[],
  buildContent: (registered: RegisteredWebhook) => Readonly<Record<string, unknown>>,
): readonly KubeObject[] {
  return (['mutate', 'validate'] as const).map((kind) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: configurationKinds[kind],
    metadata: { name: CONFIGURATION_NAME, labels: { 'app.kubernetes.io/name': 'stackloom-operator' } },
    webhooks: registeredWebhooks(webhooks)
      .filter(({ webhook }) => webhook.kind === kind)
      .map((registered) => ({ name: registered.name, ...buildContent(registered) })),
  }))
}

function clientConfig(webhook: Webhook, target: WebhookTarget): Readonly<Record<string, unknown>> {
  const path = webhookPath(webhook)
  return 'url' in target ? { url: `${target.url.replace(/\/$/, '')}${path}` } : { service: { ...target.service, path } }
}

function caBundle(authority: string): { readonly caBundle: string } {
  return { caBundle: Buffer.from(authority).toString('base64') }
}
