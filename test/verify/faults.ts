/** A healthy cluster with one fault each, and the findings that `verify` must report. */
import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import type { Snapshot } from '../../src/api/snapshot.ts'
import { addOwnershipLabels } from '../../src/render/labels.ts'
import { changed, healthySnapshot, withObject } from '../healthy-snapshot.ts'
import { setOperatorLabels } from '../operator-labels.ts'
import { testPlan } from '../plan.ts'

const rhoso1 = { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] }
const rhoso2 = { name: 'rhoso2', namespace: 'openstack2' }
export const plan = testPlan({ nodes: 2, clouds: [rhoso1, rhoso2] })
export const healthy = healthySnapshot(plan)

export function spec(change: (spec: Record<string, unknown>) => Record<string, unknown>) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    spec: change(object['spec'] as Record<string, unknown>),
  })
}

function annotated(annotations: Record<string, string>) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
  })
}

function held(...ips: readonly string[]) {
  return (object: KubeObject): KubeObject => ({
    ...object,
    status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } },
  })
}

const metallb = (kind: string, name: string, content: object): KubeObject => ({
  apiVersion: 'metallb.io/v1beta1',
  kind,
  metadata: { name, namespace: 'metallb-system' },
  spec: content,
})

/** With the labels that its operator sets. */
export const removedService = (site: string): KubeObject => {
  const metadata = { name: 'nova-cell2', namespace: 'gone' }
  const object = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneService', metadata }
  return setOperatorLabels(addOwnershipLabels(object, { site, cloud: 'gone' }))
}

export const pool = 'IPAddressPool metallb-system/openstack-internalapi'
const tuning = 'openshift-cluster-node-tuning-operator'
const keystone = 'Service openstack/keystone-internal'

/** The fault, the cluster, and each finding as `check cloud CODE location`. */
export const faults: readonly (readonly [string, Snapshot, readonly string[]])[] = [
  [
    'a pool with another range',
    changed(
      healthy,
      pool,
      spec((old) => ({ ...old, addresses: ['172.17.0.80-172.17.0.95'] })),
    ),
    ['ipaddresspools rhoso1 SL9003 IPAddressPool metallb-system/openstack-internalapi'],
  ],
  [
    'a missing pool',
    changed(healthy, pool, () => undefined),
    ['ipaddresspools rhoso1 SL9002 IPAddressPool metallb-system/openstack-internalapi'],
  ],
  [
    'a foreign pool with addresses of this cloud',
    withObject(healthy, metallb('IPAddressPool', 'lab', { addresses: ['172.17.0.88-172.17.0.99'] })),
    ['ipaddresspools rhoso1 SL9012 IPAddressPool metallb-system/lab'],
  ],
  [
    'a pool without a scope',
    changed(
      healthy,
      pool,
      spec((old) => ({ ...old, serviceAllocation: undefined })),
    ),
    ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
  ],
  [
    'a pool for two namespaces',
    changed(
      healthy,
      pool,
      spec((old) => ({ ...old, serviceAllocation: { namespaces: ['openstack', 'openstack2'] } })),
    ),
    ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
  ],
  [
    'a pool with a namespace selector',
    changed(
      healthy,
      pool,
      spec((old) => ({
        ...old,
        serviceAllocation: { namespaces: ['openstack'], namespaceSelectors: [{ matchLabels: { a: 'b' } }] },
      })),
    ),
    ['namespace-scoping rhoso1 SL9011 IPAddressPool metallb-system/openstack-internalapi'],
  ],
  [
    'an advertisement on another interface',
    changed(
      healthy,
      'L2Advertisement metallb-system/openstack-internalapi',
      spec((old) => ({ ...old, interfaces: ['enp6s0'] })),
    ),
    ['l2advertisements rhoso1 SL9003 L2Advertisement metallb-system/openstack-internalapi'],
  ],
  [
    'an advertisement of all pools on all interfaces',
    withObject(healthy, metallb('L2Advertisement', 'all', {})),
    [
      'l2advertisements rhoso1 SL9013 L2Advertisement metallb-system/all',
      'l2advertisements rhoso2 SL9013 L2Advertisement metallb-system/all',
    ],
  ],
  [
    'a Service without its address',
    changed(healthy, 'Service openstack/rabbitmq', held()),
    ['service-ip-allocation rhoso1 SL9021 Service openstack/rabbitmq'],
  ],
  [
    "a Service with another Service's address",
    changed(healthy, keystone, held('172.17.0.85')),
    ['service-ip-allocation rhoso1 SL9022 Service openstack/keystone-internal'],
  ],
  [
    'a Service with an address of a pool that is not its own',
    changed(healthy, keystone, annotated({ 'metallb.io/ip-allocated-from-pool': 'internalapi' })),
    ['service-ip-allocation rhoso1 SL9023 Service openstack/keystone-internal'],
  ],
  [
    'a VIP without a Service',
    changed(healthy, 'Service openstack/rabbitmq', () => undefined),
    ['service-ip-allocation rhoso1 SL9024'],
  ],
  [
    "a Service that holds another cloud's address",
    changed(healthy, 'Service openstack2/rabbitmq', held('172.17.1.85', '172.17.0.90')),
    [
      'foreign-holders rhoso1 SL9025 Service openstack2/rabbitmq',
      'service-ip-allocation rhoso2 SL9022 Service openstack2/rabbitmq',
    ],
  ],
  [
    'a sharing key in two clouds',
    changed(
      healthy,
      'Service openstack2/keystone-internal',
      annotated({ 'metallb.io/allow-shared-ip': 'openstack-internalapi-internal' }),
    ),
    [
      'sharing-keys rhoso1 SL9026 Service openstack2/keystone-internal',
      expect.stringMatching(/^sharing-keys rhoso2 SL9026 Service openstack\//) as unknown as string,
    ],
  ],
  [
    'an attachment on another master',
    changed(
      healthy,
      'NetworkAttachmentDefinition openstack/storage',
      spec(({ config }) => ({ config: String(config).replace('enp6s0.21', 'enp6s0.31') })),
    ),
    ['network-attachments rhoso1 SL9003 NetworkAttachmentDefinition openstack/storage'],
  ],
  [
    'a NetConfig with another range',
    changed(
      healthy,
      'NetConfig openstack/netconfig',
      spec(() => ({ networks: [{ name: 'ctlplane', dnsDomain: 'x', subnets: [] }] })),
    ),
    expect.arrayContaining(['netconfig rhoso1 SL9003 NetConfig openstack/netconfig']) as unknown as string[],
  ],
  [
    'a pod address outside its span',
    changed(
      healthy,
      'IPPool kube-system/openstack-internalapi-172.17.0.0-24',
      spec((old) => ({ ...old, allocations: { 85: { podref: 'openstack/glance-0' } } })),
    ),
    ['whereabouts-pools rhoso1 SL9031 IPPool kube-system/openstack-internalapi-172.17.0.0-24'],
  ],
  [
    'a pod of another cloud in this subnet',
    changed(
      healthy,
      'IPPool kube-system/openstack-internalapi-172.17.0.0-24',
      spec((old) => ({ ...old, allocations: { 31: { podref: 'openstack2/glance-0' } } })),
    ),
    ['whereabouts-pools rhoso1 SL9032 IPPool kube-system/openstack-internalapi-172.17.0.0-24'],
  ],
  [
    'a Reservation in the span of the pods',
    changed(
      healthy,
      'Reservation openstack/edpm-compute-0',
      spec(() => ({ reservation: { InternalApi: { address: '172.17.0.31' } } })),
    ),
    ['reservations rhoso1 SL9033 Reservation openstack/edpm-compute-0'],
  ],
  [
    'a pod that lacks a network',
    changed(healthy, 'Pod openstack/glance-0', annotated({ 'k8s.v1.cni.cncf.io/networks': 'datacentre@net9' })),
    ['pod-networks rhoso1 SL9034 Pod openstack/glance-0'],
  ],
  [
    "a pod with another cloud's address",
    changed(
      healthy,
      'Pod openstack/glance-0',
      annotated({
        'k8s.v1.cni.cncf.io/networks': 'storage',
        'k8s.v1.cni.cncf.io/network-status': '[{"name":"openstack/storage","ips":["172.18.1.30"]}]',
      }),
    ),
    ['pod-networks rhoso1 SL9035 Pod openstack/glance-0'],
  ],
  [
    'a policy of an older generation',
    changed(healthy, 'NodeNetworkConfigurationPolicy openstack-worker-0', (policy) => ({
      ...policy,
      metadata: { ...policy.metadata, generation: 2 },
    })),
    ['node-policies - SL9041 NodeNetworkConfigurationPolicy /openstack-worker-0'],
  ],
  [
    'a node with the TuneD profile of a PerformanceProfile',
    changed(
      healthy,
      `Profile ${tuning}/worker-1`,
      spec(() => ({ config: { tunedProfile: 'openshift-node-performance-fast' } })),
    ),
    [`node-tuning - SL9098 Profile ${tuning}/worker-1`],
  ],
  [
    'a node that could not apply its TuneD profile',
    changed(healthy, `Profile ${tuning}/worker-0`, (profile) => ({
      ...profile,
      status: { conditions: [{ type: 'Degraded', status: 'True', message: 'no such sysctl' }] },
    })),
    [`node-tuning - SL9098 Profile ${tuning}/worker-0`],
  ],
  [
    'missing kernel settings of the nodes',
    changed(healthy, `Tuned ${tuning}/stackloom`, () => undefined),
    [`node-tuning - SL9002 Tuned ${tuning}/stackloom`],
  ],
  [
    'a DNS record with another address',
    changed(
      healthy,
      'DNSData openstack/dnsmasq-dns-svc',
      spec(() => ({ hosts: [{ ip: '172.17.0.99', hostnames: ['keystone-internal.openstack.svc'] }] })),
    ),
    ['dns-names rhoso1 SL9051 DNSData openstack/dnsmasq-dns-svc'],
  ],
  [
    'an internal endpoint without its Service',
    changed(
      healthy,
      'KeystoneEndpoint openstack/keystone',
      spec(() => ({ endpoints: { internal: 'https://missing.openstack.svc:5000' } })),
    ),
    ['keystone-endpoints rhoso1 SL9061 KeystoneEndpoint openstack/keystone'],
  ],
  [
    'a public endpoint without its Route',
    changed(
      healthy,
      'KeystoneEndpoint openstack/keystone',
      spec(() => ({ endpoints: { public: 'https://keystone-public-openstack.apps.other.com' } })),
    ),
    ['keystone-endpoints rhoso1 SL9061 KeystoneEndpoint openstack/keystone'],
  ],
  [
    "endpoints that name another cloud's Service, Route and address",
    changed(
      healthy,
      'KeystoneEndpoint openstack/keystone',
      spec(() => ({
        endpoints: {
          internal: 'https://keystone-internal.openstack2.svc:5000',
          public: 'https://keystone-public-openstack2.apps.example.com',
          admin: 'http://172.17.1.80:5000',
        },
      })),
    ),
    Array<string>(3).fill('keystone-endpoints rhoso1 SL9062 KeystoneEndpoint openstack/keystone'),
  ],
  [
    'another namespace that uses nearly all addresses of a span',
    withObject(healthy, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { type: 'LoadBalancer' },
      status: {
        loadBalancer: {
          ingress: [81, 82, 83, 84, 87, 88, 89, 90, 86].map((at) => ({ ip: `172.17.0.${at}` })),
        },
      },
    }),
    ['room - SL9204', ...Array<string>(9).fill('foreign-holders rhoso1 SL9025 Service shop/web')],
  ],
  [
    'a pool without a prefix',
    withObject(healthy, metallb('IPAddressPool', 'internalapi', { addresses: ['10.9.9.1-10.9.9.9'] })),
    ['leftovers - SL9071 IPAddressPool metallb-system/internalapi'],
  ],
  [
    "another tool's advertisement",
    withObject(healthy, metallb('L2Advertisement', 'internalapi-openstack', { ipAddressPools: ['internalapi'] })),
    ['leftovers - SL9071 L2Advertisement metallb-system/internalapi-openstack'],
  ],
  [
    'an object of a removed cloud',
    changed(
      withObject(healthy, metallb('IPAddressPool', 'gone-storage', { addresses: ['10.9.9.1-10.9.9.9'] })),
      'IPAddressPool metallb-system/gone-storage',
      (object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          labels: {
            'app.kubernetes.io/managed-by': 'stackloom',
            'app.kubernetes.io/part-of': 'lab',
            'stackloom.dev/cloud': 'gone',
          },
        },
      }),
    ),
    ['leftovers - SL9071 IPAddressPool metallb-system/gone-storage'],
  ],
  [
    'a data plane service of a removed cloud, with the labels that its operator sets',
    withObject(healthy, removedService('lab')),
    ['leftovers - SL9071 OpenStackDataPlaneService gone/nova-cell2'],
  ],
  [
    'services without a keystone endpoint',
    changed(healthy, 'KeystoneEndpoint openstack/keystone', () => undefined),
    ['keystone-endpoints rhoso1 SL9063'],
  ],
  [
    'a control plane with networks but no attached pods',
    changed(healthy, 'Pod openstack/glance-0', () => undefined),
    ['pod-networks rhoso1 SL9036'],
  ],
]
