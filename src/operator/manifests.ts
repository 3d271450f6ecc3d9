/**
 * Renders the objects of `operator install`, in the order in which they are applied.
 *
 * Pure. Permissions are in `permissions.ts`.
 */
import type { KubeObject } from '../api/object.ts'
import { type WebhookTarget, webhookConfigurations } from '../webhooks/webhook-configuration.ts'
import type { PolicyOptions } from './options.ts'
import type { OperatorPart } from './parts/part.ts'
import { collectRoles, type RoleRules } from './permissions.ts'

export interface Installation extends PolicyOptions {
  readonly namespace: string
  readonly image: string
  readonly replicas: number
  /** The parts that were selected by name: others have neither permissions nor webhooks. */
  readonly parts?: readonly string[]
  /** Serve the console on the pod's loopback, for a proxy that the administrator adds to the pod. */
  readonly console?: boolean
}

/** Not the namespace of the site's records, which is deleted with the site. */
export const OPERATOR_NAMESPACE = 'stackloom-operator'

const NAME = 'stackloom-operator'
const SERVICE = 'stackloom-webhook'
const WEBHOOK_PORT = 9443
const HEALTH_PORT = 8081
/** The Service of the console's proxy, and the name that its port has in the pod. */
export const CONSOLE_SERVICE = 'stackloom-console'
const CONSOLE_PROXY_PORT = 'console-proxy'
export const MEMORY = '512Mi'
/** Each caller of the console has watches and caches of its own. */
export const CONSOLE_MEMORY = '2Gi'
/** Without it Node uses up to 32 MB, from version 24 on 128 MB, for objects that were created just now. */
export const NODE_OPTIONS = '--max-semi-space-size=8'
const selector = { matchLabels: { 'app.kubernetes.io/name': NAME } }
const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/managed-by': 'stackloom' }

/** Everything but the CRDs, which depend on what the cluster has already. */
export function renderManifests(parts: readonly OperatorPart[], installation: Installation): readonly KubeObject[] {
  const { namespace } = installation
  const target: WebhookTarget = { service: { namespace, name: SERVICE, port: 443 } }
  return [
    serviceAccount(namespace),
    ...collectRoles(parts, installation).flatMap((role) => roleWithBinding(role, namespace)),
    service(namespace),
    networkPolicy(namespace),
    ...(installation.console ? [consoleService(namespace), consolePolicy(namespace)] : []),
    disruptionBudget(namespace),
    deployment(installation),
    ...webhookConfigurations(
      parts.flatMap((part) => part.webhooks),
      target,
      { ...(installation.namespaces && { namespaces: installation.namespaces }) },
    ).map(addLabels),
  ]
}

/** The operator needs nothing beyond the restricted profile of pod security. */
export function operatorNamespace(name: string): KubeObject {
  return addLabels({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
}

function addLabels(object: KubeObject): KubeObject {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } }
}

function serviceAccount(namespace: string): KubeObject {
  return addLabels({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: NAME, namespace } })
}

const RBAC = 'rbac.authorization.k8s.io'

function roleWithBinding({ namespace, suffix = '', rules }: RoleRules, home: string): readonly KubeObject[] {
  const apiVersion = `${RBAC}/v1`
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  const name = `${NAME}${suffix}`
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return [
    addLabels({
      apiVersion,
      kind,
      metadata,
      rules: rules.map(({ apiGroups, resources, resourceNames, verbs }) => ({
        apiGroups,
        resources,
        ...(resourceNames && { resourceNames }),
        verbs,
      })),
    }),
    addLabels({
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ kind: 'ServiceAccount', name: NAME, namespace: home }],
    }),
  ]
}

function service(namespace: string): KubeObject {
  return addLabels({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: SERVICE, namespace },
    spec: {
      selector: { 'app.kubernetes.io/name': NAME },
      ports: [{ name: 'webhooks', port: 443, protocol: 'TCP', targetPort: 'webhooks' }],
    },
  })
}

/** The API server, the kubelet and Prometheus have no labels to select, so only the ports are limited. */
function networkPolicy(namespace: string): KubeObject {
  const ports = [WEBHOOK_PORT, HEALTH_PORT].map((port) => ({ port, protocol: 'TCP' }))
  return addLabels({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: NAME, namespace },
    spec: { podSelector: selector, policyTypes: ['Ingress'], ingress: [{ ports }] },
  })
}

/** Has no endpoints until the pod has the proxy: the console itself listens on loopback only. */
function consoleService(namespace: string): KubeObject {
  return addLabels({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: CONSOLE_SERVICE, namespace },
    spec: {
      selector: { 'app.kubernetes.io/name': NAME },
      // A session is in the memory of one pod.
      sessionAffinity: 'ClientIP',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: CONSOLE_PROXY_PORT }],
    },
  })
}

function consolePolicy(namespace: string): KubeObject {
  return addLabels({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: CONSOLE_SERVICE, namespace },
    spec: {
      podSelector: selector,
      policyTypes: ['Ingress'],
      ingress: [{ ports: [{ port: CONSOLE_PROXY_PORT, protocol: 'TCP' }] }],
    },
  })
}

/** With one replica it must not block a drain. */
function disruptionBudget(namespace: string): KubeObject {
  return addLabels({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: NAME, namespace },
    spec: { maxUnavailable: 1, selector },
  })
}

/** Two replicas on one node fail together. Preferred, because a cluster may have one node. */
const antiAffinity = {
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 100, podAffinityTerm: { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' } },
    ],
  },
}

/** The options that `operator run` gets from `operator install`. */
function runArgs(installation: Installation): readonly string[] {
  const { segmentOwners, machineNamespaces, runVolumes, runServiceAccounts, runPrivileged } = installation
  const lists = {
    '--parts': installation.parts,
    '--namespaces': installation.namespaces,
    '--segment-owners': segmentOwners,
    '--machine-namespaces': machineNamespaces,
    '--run-volumes': runVolumes,
    '--run-service-accounts': runServiceAccounts,
  }
  return [
    ...Object.entries(lists).flatMap(([option, names]) => (names?.length ? [option, names.join(',')] : [])),
    ...(runPrivileged ? ['--run-privileged'] : []),
    ...(installation.console ? ['--console'] : []),
  ]
}

function deployment(installation: Installation): KubeObject {
  const { namespace, image, replicas } = installation
  const probe = (path: string, times: object): object => ({ httpGet: { path, port: 'health' }, ...times })
  return addLabels({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace },
    spec: {
      replicas,
      selector,
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          affinity: antiAffinity,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'operator',
              image,
              args: ['operator', 'run', '-n', namespace, '--webhook-service', SERVICE, ...runArgs(installation)],
              env: [{ name: 'NODE_OPTIONS', value: NODE_OPTIONS }],
              ports: [
                { name: 'webhooks', containerPort: WEBHOOK_PORT, protocol: 'TCP' },
                { name: 'health', containerPort: HEALTH_PORT, protocol: 'TCP' },
              ],
              // A busy node needs half a minute to start it, and a container that is killed meanwhile never starts.
              startupProbe: probe('/healthz', { periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 60 }),
              livenessProbe: probe('/healthz', { periodSeconds: 20, timeoutSeconds: 10 }),
              readinessProbe: probe('/readyz', { timeoutSeconds: 5 }),
              resources: {
                requests: { cpu: '50m', memory: '128Mi' },
                limits: { memory: installation.console ? CONSOLE_MEMORY : MEMORY },
              },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'] },
              },
              // The private key of the webhooks is written here and on no disk.
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } }],
        },
      },
    },
  })
}
