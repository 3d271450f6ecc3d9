/** Two small healthy clouds; each state breaks one thing. */
import type { KubeObject } from '../../src/api/object.ts'
import {
  attachment,
  cr,
  deployment,
  enactment,
  endpoints,
  good,
  l2,
  netConfig,
  node,
  object,
  policy,
  pool,
  requests,
  service,
} from './objects.ts'

interface CloudNumbers {
  readonly namespace: string
  readonly octet: number
  readonly vlan: number
  readonly bridge: string
}

export const first: CloudNumbers = { namespace: 'openstack', octet: 17, vlan: 20, bridge: 'ospbr' }
const second: CloudNumbers = { namespace: 'openstack2', octet: 27, vlan: 30, bridge: 'ospbr2' }

const nodes = ['worker-0', 'worker-1']

function cloud({ namespace, octet, vlan, bridge }: CloudNumbers): readonly KubeObject[] {
  const net = `172.${octet}.0`
  const ctl = `192.168.${octet}`
  const api = `${namespace}-internalapi`
  const own = { 'metallb.io/loadBalancerIPs': `${net}.80`, 'metallb.io/allow-shared-ip': api }
  const whereabouts = (name: string, prefix: string) => ({
    type: 'whereabouts',
    range: `${prefix}.0/24`,
    range_start: `${prefix}.30`,
    range_end: `${prefix}.70`,
    network_name: `${namespace}-${name}`,
  })
  return [
    object('v1/Namespace', namespace, { status: { phase: 'Active' } }),
    ...nodes.flatMap((name, index) => [
      policy(`${namespace}-${name}`, name, [
        { name: `enp6s0.${vlan}`, addresses: [`${net}.${10 + index}`] },
        {
          name: bridge,
          ports: [bridge === 'ospbr' ? 'enp6s0' : `enp6s0.${vlan + 9}`],
          addresses: [`${ctl}.${10 + index}`],
        },
      ]),
      enactment(name, `${namespace}-${name}`),
    ]),
    pool(api, [`${net}.80-${net}.90`], [namespace]),
    pool(`${namespace}-ctlplane`, [`${ctl}.80-${ctl}.90`], [namespace]),
    l2(api, [api], [`enp6s0.${vlan}`]),
    l2(`${namespace}-ctlplane`, [`${namespace}-ctlplane`], [bridge]),
    attachment(`${namespace}/internalapi`, {
      type: 'macvlan',
      master: `enp6s0.${vlan}`,
      ipam: whereabouts('internalapi', net),
    }),
    attachment(`${namespace}/ctlplane`, {
      type: 'macvlan',
      master: bridge,
      ipam: whereabouts('ctlplane', ctl),
    }),
    netConfig(`${namespace}/netconfig`, [
      { name: 'ctlplane', cidr: `${ctl}.0/24`, hosts: [`${ctl}.100`, `${ctl}.250`] },
      { name: 'internalapi', cidr: `${net}.0/24`, hosts: [`${net}.100`, `${net}.250`] },
    ]),
    object('v1/Secret', `${namespace}/osp-secret`, {
      data: { DbRootPassword: 'given', AdminPassword: 'given', PlacementPassword: 'given' },
    }),
    cr('core.openstack.org/v1beta1/OpenStackControlPlane', `${namespace}/controlplane`, {
      secret: 'osp-secret',
      keystone: {
        enabled: true,
        template: { override: { service: { internal: { metadata: { annotations: requests(api, own) } } } } },
      },
      galera: { enabled: true },
      placement: { enabled: true },
    }),
    cr('mariadb.openstack.org/v1beta1/Galera', `${namespace}/openstack`, { replicas: 1 }),
    object('v1/Pod', `${namespace}/openstack-galera-0`, {
      status: { phase: 'Running', conditions: [good('Ready')] },
    }),
    object('v1/PersistentVolumeClaim', `${namespace}/mysql-db-openstack-galera-0`, {
      spec: { storageClassName: 'local' },
      status: { phase: 'Bound' },
    }),
    cr('keystone.openstack.org/v1beta1/KeystoneAPI', `${namespace}/keystone`, {
      databaseInstance: 'openstack',
    }),
    object('keystone.openstack.org/v1beta1/KeystoneEndpoint', `${namespace}/keystone`, {
      spec: { endpoints: { internal: `https://keystone-internal.${namespace}.svc:5000` } },
    }),
    service(`${namespace}/keystone-internal`, {
      ip: `${net}.80`,
      ports: [5000],
      annotations: requests(api, own),
    }),
    service(`${namespace}/placement-internal`, {
      ip: `${net}.80`,
      ports: [8778],
      annotations: requests(api, own),
    }),
    service(`${namespace}/rabbitmq`, {
      ip: `${net}.85`,
      ports: [5671],
      annotations: requests(api, { 'metallb.io/loadBalancerIPs': `${net}.85` }),
    }),
    service(`${namespace}/dnsmasq-dns`, {
      ip: `${ctl}.80`,
      ports: [53],
      annotations: requests(`${namespace}-ctlplane`, { 'metallb.io/loadBalancerIPs': `${ctl}.80` }),
    }),
    cr('network.openstack.org/v1beta1/DNSMasq', `${namespace}/dns`, {
      dnsDataLabelSelectorValue: 'dnsdata',
      options: [{ key: 'server', values: ['192.168.122.1'] }],
    }),
    cr('network.openstack.org/v1beta1/DNSData', `${namespace}/hosts`, {
      dnsDataLabelSelectorValue: 'dnsdata',
      hosts: [{ ip: `${net}.100`, hostnames: ['compute-0'] }],
    }),
    cr('network.openstack.org/v1beta1/IPSet', `${namespace}/compute-0`, {
      networks: [{ name: 'internalapi', subnetName: 'subnet1' }],
    }),
    object('network.openstack.org/v1beta1/Reservation', `${namespace}/compute-0`, {
      spec: {
        ipSetRef: { name: 'compute-0', namespace },
        reservation: { internalapi: { network: 'internalapi', subnet: 'subnet1', address: `${net}.100` } },
      },
    }),
    object('v1/Secret', `${namespace}/ssh`, { data: { 'ssh-privatekey': 'given' } }),
    cr(
      'dataplane.openstack.org/v1beta1/OpenStackDataPlaneNodeSet',
      `${namespace}/computes`,
      {
        nodeTemplate: { ansibleSSHPrivateKeySecret: 'ssh' },
        nodes: { 'compute-0': { hostName: `compute-0.${namespace}` } },
        services: ['bootstrap', 'nova'],
      },
      undefined,
      { configHash: 'a', deployedConfigHash: 'a' },
    ),
    cr(
      'dataplane.openstack.org/v1beta1/OpenStackDataPlaneDeployment',
      `${namespace}/deploy-1`,
      { nodeSets: ['computes'] },
      undefined,
      { deployed: true },
    ),
    object('stackloom.dev/v1alpha1/NovaHosts', `${namespace}/nova`, { hosts: [`compute-0.${namespace}`] }),
  ]
}

/** Objects that the clouds share. */
function shared(): readonly KubeObject[] {
  const group = 'operators.coreos.com/v1alpha1'
  return [
    ...nodes.map(node),
    object('v1/Namespace', 'metallb-system', { status: { phase: 'Active' } }),
    object('v1/Namespace', 'openstack-operators', { status: { phase: 'Active' } }),
    object(
      'storage.k8s.io/v1/StorageClass',
      'local',
      {},
      {
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
    ),
    object('operators.coreos.com/v1/OperatorGroup', 'openstack-operators/openstack'),
    object(`${group}/Subscription`, 'openstack-operators/openstack-operator', {
      spec: { name: 'openstack-operator' },
      status: { installedCSV: 'openstack-operator.v1', state: 'AtLatestKnown' },
    }),
    object(`${group}/ClusterServiceVersion`, 'openstack-operators/openstack-operator.v1', {
      status: { phase: 'Succeeded' },
    }),
    cr('operator.openstack.org/v1beta1/OpenStack', 'openstack-operators/openstack'),
    deployment('openstack-operators/infra-operator-controller-manager'),
    object('v1/Service', 'openstack-operators/infra-operator-webhook-service', {
      spec: { type: 'ClusterIP' },
    }),
    endpoints('openstack-operators/infra-operator-webhook-service'),
    webhook('infra-operator'),
  ]
}

export function webhook(name: string, more: Readonly<Record<string, unknown>> = {}): KubeObject {
  return object('admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration', name, {
    webhooks: [
      {
        name: `v${name}.kb.io`,
        failurePolicy: 'Fail',
        clientConfig: {
          service: { namespace: 'openstack-operators', name: `${name}-webhook-service` },
          caBundle: 'Z2l2ZW4=',
        },
        ...more,
      },
    ],
  })
}

export function healthy(): readonly KubeObject[] {
  return [...shared(), ...cloud(first), ...cloud(second)]
}
