/**
 * Lists the workloads of each catalog package, with the names and labels of the upstream bundles. The workloads are
 * placeholders: the MetalLB of a sandbox runs as a process, not as the Deployment below.
 */
import type { GroupVersionKind } from '../../../api/object.ts'

export interface Workload {
  readonly kind: 'Deployment' | 'DaemonSet'
  readonly name: string
  /** If it differs from the namespace of the operator. */
  readonly namespace?: string
  /** Labels of its pods. */
  readonly labels: Readonly<Record<string, string>>
  /** The name of its Service, if it has one. */
  readonly service?: string
}

export interface Operand {
  readonly kind: GroupVersionKind
  readonly workloads: readonly Workload[]
  /** The condition when all workloads are available, if the real operand has one. */
  readonly condition?: { readonly type: string; readonly reason: string; readonly message: string }
}

export interface Package {
  readonly csv: string
  readonly version: string
  /** Channels of the catalog, the default first. */
  readonly channels: readonly string[]
  /** What an OperatorGroup may select. */
  readonly installModes: readonly ('OwnNamespace' | 'SingleNamespace' | 'AllNamespaces')[]
  readonly workloads: readonly Workload[]
  readonly operands: readonly Operand[]
}

const deployment = (name: string, labels: Workload['labels'], more: Partial<Workload> = {}): Workload => ({
  kind: 'Deployment',
  name,
  labels,
  ...more,
})

const daemonSet = (name: string, labels: Workload['labels']): Workload => ({ kind: 'DaemonSet', name, labels })

/** Operators that an OpenStack resource installs. */
const serviceOperators = [
  'barbican',
  'cinder',
  'designate',
  'glance',
  'heat',
  'horizon',
  'infra',
  'ironic',
  'keystone',
  'manila',
  'mariadb',
  'neutron',
  'nova',
  'octavia',
  'openstack',
  'openstack-baremetal',
  'ovn',
  'placement',
  'rabbitmq-cluster',
  'swift',
  'telemetry',
  'test',
  'watcher',
] as const

const withWebhooks: readonly string[] = ['openstack', 'openstack-baremetal', 'infra']

const serviceOperator = (name: string): Workload =>
  deployment(
    `${name}-operator-controller-manager`,
    { 'control-plane': 'controller-manager', 'openstack.org/operator-name': name },
    withWebhooks.includes(name) ? { service: `${name}-operator-webhook-service` } : {},
  )

const certManager = (name: string): Workload =>
  deployment(name, { app: name.replace('cert-manager-', '') }, { namespace: 'cert-manager', service: name })

export const packages: Readonly<Record<string, Package>> = {
  'kubernetes-nmstate-operator': {
    csv: 'kubernetes-nmstate-operator.v0.86.0',
    version: '0.86.0',
    channels: ['stable'],
    installModes: ['OwnNamespace', 'SingleNamespace'],
    workloads: [deployment('nmstate-operator', { app: 'kubernetes-nmstate-operator' })],
    operands: [
      {
        kind: { apiVersion: 'nmstate.io/v1', kind: 'NMState' },
        workloads: [
          deployment('nmstate-webhook', { component: 'kubernetes-nmstate-webhook' }, { service: 'nmstate-webhook' }),
          daemonSet('nmstate-handler', { component: 'kubernetes-nmstate-handler' }),
        ],
      },
    ],
  },
  'metallb-operator': {
    csv: 'metallb-operator.v0.14.2',
    version: '0.14.2',
    channels: ['stable'],
    installModes: ['OwnNamespace', 'SingleNamespace', 'AllNamespaces'],
    workloads: [
      deployment('metallb-operator-controller-manager', { 'control-plane': 'controller-manager' }),
      deployment(
        'metallb-operator-webhook-server',
        { component: 'webhook-server' },
        { service: 'metallb-operator-webhook-service' },
      ),
    ],
    operands: [
      {
        kind: { apiVersion: 'metallb.io/v1beta1', kind: 'MetalLB' },
        workloads: [
          deployment('controller', { app: 'metallb', component: 'controller' }),
          daemonSet('speaker', { app: 'metallb', component: 'speaker' }),
        ],
        condition: { type: 'Available', reason: 'Available', message: '' },
      },
    ],
  },
  'openshift-cert-manager-operator': {
    csv: 'cert-manager-operator.v1.19.1',
    version: '1.19.1',
    channels: ['stable-v1'],
    installModes: ['OwnNamespace', 'SingleNamespace', 'AllNamespaces'],
    workloads: [
      deployment('cert-manager-operator-controller-manager', { name: 'cert-manager-operator' }),
      // Its operator creates its operand automatically.
      certManager('cert-manager'),
      certManager('cert-manager-cainjector'),
      certManager('cert-manager-webhook'),
    ],
    operands: [],
  },
  'openstack-operator': {
    csv: 'openstack-operator.v0.6.0',
    version: '0.6.0',
    channels: ['stable-v1.0', 'alpha'],
    installModes: ['OwnNamespace', 'AllNamespaces'],
    workloads: [
      deployment('openstack-operator-controller-operator', { 'openstack.org/operator-name': 'openstack-init' }),
    ],
    operands: [
      {
        kind: { apiVersion: 'operator.openstack.org/v1beta1', kind: 'OpenStack' },
        workloads: serviceOperators.map(serviceOperator),
        condition: { type: 'Ready', reason: 'Ready', message: 'Setup complete' },
      },
    ],
  },
}

/** Catalogs that every cluster has; any other must exist as a CatalogSource. */
export const defaultCatalogs: readonly string[] = [
  'redhat-operators',
  'certified-operators',
  'community-operators',
  'redhat-marketplace',
  'operatorhubio-catalog',
]
