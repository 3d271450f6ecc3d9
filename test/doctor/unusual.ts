/** Unusual but healthy clusters: no rule may fire. */
import type { KubeObject } from '../../src/api/object.ts'
import {
  attachment,
  bad,
  cr,
  l2,
  netConfig,
  node,
  object,
  pool,
  requests,
  service,
  stackloomOperator,
} from './objects.ts'
import { changed, having, meta, spec, status } from './state.ts'

export interface Unusual {
  readonly when: string
  readonly objects: readonly KubeObject[]
}

const young = '2026-03-01T11:59:30Z'

const ansibleRun = (name: string, jobStatus: string, creationTimestamp: string): KubeObject =>
  object(
    'ansibleee.openstack.org/v1alpha1/OpenStackAnsibleEE',
    name,
    { status: { JobStatus: jobStatus } },
    { creationTimestamp, annotations: { 'stackloom.dev/step': 'nova', 'stackloom.dev/hosts': 'edpm-compute-0' } },
  )

export const unusual: readonly Unusual[] = [
  {
    when: 'a failed run on a host was repeated with success',
    objects: having(
      ansibleRun('openstack2/nova-edpm-compute-0-1', 'Failed', '2026-03-01T09:00:00Z'),
      ansibleRun('openstack2/nova-edpm-compute-0-2', 'Succeeded', '2026-03-01T09:10:00Z'),
    ),
  },
  {
    when: 'infra-operator is scaled to zero, and the operator of Stackloom assigns addresses',
    objects: changed(
      'Deployment openstack-operators/infra-operator-controller-manager',
      spec({ replicas: 0 }),
      having(stackloomOperator()),
    ),
  },
  {
    when: 'the operator of Stackloom observes the addresses of infra-operator',
    objects: having(stackloomOperator('--observe')),
  },
  {
    when: 'routes are announced by the frr-k8s of newer OpenShift',
    objects: having(
      object('apps/v1/DaemonSet', 'openshift-frr-k8s/frr-k8s'),
      object('network.openstack.org/v1beta1/BGPConfiguration', 'openstack/bgpconfiguration', {
        spec: { frrConfigurationNamespace: 'openshift-frr-k8s' },
      }),
    ),
  },
  {
    when: 'pods and VIPs share a span, and whereabouts excludes the VIPs',
    objects: having(
      attachment('openstack/internalapi', {
        type: 'macvlan',
        master: 'enp6s0.20',
        ipam: {
          type: 'whereabouts',
          range: '172.17.0.0/24',
          range_start: '172.17.0.30',
          range_end: '172.17.0.99',
          exclude: ['172.17.0.80/29', '172.17.0.88/31', '172.17.0.90/32'],
          network_name: 'openstack-internalapi',
        },
      }),
    ),
  },
  {
    when: 'addresses are announced on a NIC that is in no policy, and no node state was read',
    objects: changed('L2Advertisement metallb-system/openstack-ctlplane', spec({ interfaces: ['eno1'] })),
  },
  {
    when: 'a node without the VLANs runs no speaker',
    objects: having(
      node('master-0'),
      ...['worker-0', 'worker-1'].map((name) =>
        object(
          'v1/Pod',
          `metallb-system/speaker-${name}`,
          {
            spec: { nodeName: name },
            status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
          },
          { labels: { component: 'speaker' } },
        ),
      ),
    ),
  },
  {
    when: 'two teams outside the clouds share an address on purpose',
    objects: having(
      pool('teams', ['203.0.113.1-203.0.113.9'], [], { autoAssign: true }),
      l2('teams', ['teams'], ['enp6s0.20']),
      ...['red', 'blue'].map((team, index) =>
        service(`${team}/web`, {
          ip: '203.0.113.1',
          ports: [80 + index],
          annotations: { 'metallb.io/allow-shared-ip': 'teams' },
        }),
      ),
    ),
  },
  {
    when: 'an operator that may be installed for each namespace is installed twice',
    objects: having(
      ...['red', 'blue'].flatMap((team) => [
        object('operators.coreos.com/v1/OperatorGroup', `${team}/group`),
        object('operators.coreos.com/v1alpha1/Subscription', `${team}/keycloak`, {
          spec: { name: 'keycloak' },
        }),
      ]),
    ),
  },
  {
    when: 'a Service was created a moment ago',
    objects: having({
      ...service('openstack/new', { annotations: requests('openstack-internalapi') }),
      metadata: {
        name: 'new',
        namespace: 'openstack',
        creationTimestamp: young,
        annotations: requests('openstack-internalapi'),
      },
    }),
  },
  {
    when: 'a control plane has an error that is half a minute old',
    objects: changed(
      'OpenStackControlPlane openstack/controlplane',
      status({ conditions: [{ ...bad('Ready', 'not yet'), lastTransitionTime: young }] }),
    ),
  },
  {
    when: 'galera was scaled down, and the claim of a removed pod is pending',
    objects: having(
      object('v1/PersistentVolumeClaim', 'openstack/mysql-db-openstack-galera-1', {
        spec: { storageClassName: 'local' },
        status: { phase: 'Pending' },
      }),
    ),
  },
  {
    when: 'galera was created half a minute ago and has no volume yet',
    objects: changed('PersistentVolumeClaim openstack/mysql-db-openstack-galera-0', (one) =>
      status({ phase: 'Pending' })(meta({ creationTimestamp: young })(one)),
    ),
  },
  {
    when: 'an IPSet is being deleted',
    objects: changed(
      'IPSet openstack/compute-0',
      meta({ deletionTimestamp: young, finalizers: ['openstack.org/ipset'] }),
    ),
  },
  {
    when: 'a namespace that is not a cloud has the same subnets on another network',
    objects: having(
      attachment('elsewhere/internalapi', {
        type: 'macvlan',
        master: 'eno2',
        ipam: { type: 'whereabouts', range: '172.17.0.0/24', network_name: 'elsewhere' },
      }),
    ),
  },
  {
    when: 'a dual stack pool serves one cloud with one range per family',
    objects: having(
      pool('openstack-internalapi', ['172.17.0.80-172.17.0.90', 'fd00:17::80-fd00:17::90'], ['openstack']),
    ),
  },
  {
    when: 'the first deployment failed and the second one succeeded',
    objects: having(
      cr(
        'dataplane.openstack.org/v1beta1/OpenStackDataPlaneDeployment',
        'openstack/deploy-0',
        { nodeSets: ['computes'] },
        [bad('Ready', 'backoff limit')],
        { deployed: false },
      ),
    ).map((one) => (one.metadata.name === 'deploy-0' ? meta({ creationTimestamp: '2026-02-01T00:00:00Z' })(one) : one)),
  },
  {
    when: 'a third cloud has only its networks',
    objects: having(
      object('v1/Namespace', 'openstack3', { status: { phase: 'Active' } }),
      netConfig('openstack3/netconfig', [
        { name: 'internalapi', cidr: '172.37.0.0/24', hosts: ['172.37.0.100', '172.37.0.250'] },
      ]),
    ),
  },
  {
    when: 'there are ClusterIP Services, and Services of a cloud provider',
    objects: having(object('v1/Service', 'openstack/memcached', { spec: { type: 'ClusterIP' } }), {
      ...service('others/lb'),
      status: { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }] } },
    }),
  },
]
