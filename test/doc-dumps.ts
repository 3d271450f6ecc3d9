/** Writes the folders of dumps that pages read: clusters in states that no sandbox has, such as a hundred hosts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { KubeObject } from '../src/api/object.ts'
import { hashSecret } from '../src/hosts/content-hash.ts'
import { createAuthority } from '../src/pki/authority.ts'
import { metallbStates } from './doctor/states/metallb-states.ts'

const DAY = 86_400_000
const DATA_PLANE = 'dataplane.openstack.org/v1beta1'
const NETWORK = 'network.openstack.org/v1beta1'

/** Writes `dumps/NAME/objects.json` for each. */
export async function writeDocDumps(folder: string): Promise<void> {
  const dumps = {
    capacity: capacityObjects(),
    certificates: await certificateObjects(),
    hosts: hostObjects(),
    images: imageObjects(),
    leaked: leakedObjects(),
    'same-pool-name': metallbStates.find(({ rule }) => rule === 'metallb/same-pool-name')?.objects ?? [],
  }
  for (const [name, items] of Object.entries(dumps)) {
    mkdirSync(path.join(folder, 'dumps', name), { recursive: true })
    const text = items.map((item) => JSON.stringify(item)).join('\n')
    writeFileSync(path.join(folder, 'dumps', name, 'objects.json'), text)
  }
}

const object = (apiVersion: string, kind: string, namespaced: string, fields: object, daysOld?: number): KubeObject => {
  const [namespace = '', name = ''] = namespaced.split('/')
  const creationTimestamp = new Date(Date.now() - (daysOld ?? 0) * DAY).toISOString()
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, ...(daysOld !== undefined && { creationTimestamp }) },
    ...fields,
  }
}

const toBase64 = (text: string): string => Buffer.from(text).toString('base64')

/** Half of the hosts' addresses are given, six a week; some pods and Services have theirs. */
function capacityObjects(): readonly KubeObject[] {
  const range = { start: '172.17.0.100', end: '172.17.0.250' }
  const subnet = { name: 'subnet1', cidr: '172.17.0.0/24', allocationRanges: [range] }
  const networks = [{ name: 'internalapi', dnsDomain: 'internalapi.example.com', subnets: [subnet] }]
  const hosts = Array.from({ length: 120 }, (_, index) => {
    const address = `172.17.0.${100 + index}`
    const reservation = { internalapi: { network: 'internalapi', subnet: 'subnet1', address } }
    const fields = { spec: { ipSetRef: { name: `compute-${index}` }, reservation } }
    return object(NETWORK, 'Reservation', `openstack/compute-${index}`, fields, index < 24 ? index + 1 : 300)
  })
  const pods = Array.from({ length: 17 }, (_, index) => [
    `${30 + index}`,
    { id: 'a', podref: `openstack/pod-${index}` },
  ])
  return [
    object(NETWORK, 'NetConfig', 'openstack/netconfig', { spec: { networks } }, 300),
    ...hosts,
    attachment('openstack/internalapi'),
    ipPool('openstack-internalapi', Object.fromEntries(pods)),
    object('metallb.io/v1beta1', 'IPAddressPool', 'metallb-system/openstack-internalapi', {
      spec: { addresses: ['172.17.0.80-172.17.0.90'], serviceAllocation: { namespaces: ['openstack'] } },
    }),
    ...['keystone-internal', 'rabbitmq', 'rabbitmq-cell1'].map((name, index) =>
      object(
        'v1',
        'Service',
        `openstack/${name}`,
        {
          spec: { type: 'LoadBalancer' },
          status: { loadBalancer: { ingress: [{ ip: `172.17.0.${80 + index}` }] } },
        },
        300,
      ),
    ),
  ]
}

/** Network attachments of whereabouts, as `up` makes them. */
function attachment(namespaced: string): KubeObject {
  const ipam = {
    type: 'whereabouts',
    range: '172.17.0.0/24',
    range_start: '172.17.0.30',
    range_end: '172.17.0.70',
    network_name: namespaced.replace('/', '-'),
  }
  const config = JSON.stringify({ type: 'macvlan', master: 'enp6s0.20', ipam })
  return object('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition', namespaced, { spec: { config } })
}

function ipPool(name: string, allocations: object): KubeObject {
  return object('whereabouts.cni.cncf.io/v1alpha1', 'IPPool', `openshift-multus/${name}-172.17.0.0-24`, {
    spec: { range: '172.17.0.0/24', allocations },
  })
}

/** A Route that ends in two days, a certificate that a host has an older copy of, and many without a problem. */
async function certificateObjects(): Promise<readonly KubeObject[]> {
  const AGE_DAYS = 88
  const clock = { now: () => Date.now() - AGE_DAYS * DAY }
  const authority = await createAuthority({ commonName: 'rootca-internal', days: 3650 }, clock)
  const other = await createAuthority({ commonName: 'Example CA', days: 3650 }, clock)
  const issue = (commonName: string, days: number, by = authority) =>
    by.issue({ commonName, uses: ['server'], days: AGE_DAYS + days })
  const [route, host, keystone] = await Promise.all([
    issue('cloud.example', 2, other),
    issue('compute-0', 318),
    issue('keystone-internal', 48),
  ])
  const tls = (namespaced: string, certificate: string): KubeObject =>
    object('v1', 'Secret', namespaced, {
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': toBase64(certificate), 'tls.key': '' },
    })
  const controlPlane = (namespace: string): KubeObject =>
    object('core.openstack.org/v1beta1', 'OpenStackControlPlane', `${namespace}/controlplane`, {
      spec: { secret: 'x' },
    })
  const secret = secretWith('rhoso2/nova-cell1-config', 'new')
  const written = new Date(Date.now() - 1.5 * DAY).toISOString()
  const managed = { apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }
  const managedFields = [{ ...managed, manager: 'nova', operation: 'Update' as const, time: written }]
  const containers = [{ name: 'conductor', envFrom: [{ secretRef: { name: 'nova-cell1-config' } }] }]
  const startedAt = new Date(Date.now() - 9 * DAY).toISOString()
  return [
    controlPlane('rhoso1'),
    controlPlane('rhoso2'),
    object('route.openshift.io/v1', 'Route', 'rhoso1/horizon', {
      spec: { host: 'cloud.example', tls: { termination: 'edge', certificate: route.certificate } },
    }),
    tls('rhoso1/keystone-internal', keystone.certificate),
    tls('rhoso2/cert-nova-compute-0', host.certificate),
    object('cert-manager.io/v1', 'Certificate', 'rhoso2/nova-compute-0', {
      spec: { secretName: 'cert-nova-compute-0' },
      status: { renewalTime: new Date(Date.now() + 196 * DAY).toISOString() },
    }),
    { ...secret, metadata: { ...secret.metadata, creationTimestamp: startedAt, managedFields } },
    object('v1', 'Pod', 'rhoso2/nova-cell1-conductor-0', {
      spec: { containers },
      status: {
        phase: 'Running',
        startTime: startedAt,
        containerStatuses: [{ name: 'conductor', state: { running: { startedAt } } }],
      },
    }),
    object(DATA_PLANE, 'OpenStackDataPlaneService', 'rhoso2/nova', {
      spec: {
        dataSources: [{ secretRef: { name: 'nova-cell1-config' } }, { secretRef: { name: 'cert-nova-compute-0' } }],
      },
    }),
    nodeSet('rhoso2/computes', 4, ['nova']),
    object(DATA_PLANE, 'OpenStackDataPlaneDeployment', 'rhoso2/edpm-1', {
      spec: { nodeSets: ['computes'] },
      status: {
        deployed: true,
        nodeSetHashes: { computes: 'b' },
        secretHashes: { 'nova-cell1-config': 'older', 'cert-nova-compute-0': 'older' },
      },
    }),
  ]
}

function secretWith(namespaced: string, text: string): KubeObject {
  return object('v1', 'Secret', namespaced, { type: 'Opaque', data: { 'nova.conf': toBase64(text) } })
}

function nodeSet(namespaced: string, hosts: number, services: readonly string[]): KubeObject {
  const names = Array.from({ length: hosts }, (_, index) => `compute-${index}`)
  return object(DATA_PLANE, 'OpenStackDataPlaneNodeSet', namespaced, {
    spec: { nodes: Object.fromEntries(names.map((name) => [name, { hostName: name }])), services },
    status: { configHash: 'b', deployedConfigHash: 'b' },
  })
}

/** A hundred hosts: 96 have what is declared, 3 were left out by a limit, and one did not answer. */
function hostObjects(): readonly KubeObject[] {
  const current = secretWith('rhoso1/nova-config', 'new')
  const deployment = (name: string, day: number, spec: object, status: object): KubeObject => {
    const created = object(DATA_PLANE, 'OpenStackDataPlaneDeployment', `rhoso1/${name}`, {
      spec: { nodeSets: ['computes'], ...spec },
      status,
    })
    return { ...created, metadata: { ...created.metadata, creationTimestamp: `2026-01-0${day}T00:00:00Z` } }
  }
  return [
    nodeSet('rhoso1/computes', 100, ['bootstrap', 'nova']),
    object(DATA_PLANE, 'OpenStackDataPlaneService', 'rhoso1/bootstrap', { spec: {} }),
    object(DATA_PLANE, 'OpenStackDataPlaneService', 'rhoso1/nova', {
      spec: { dataSources: [{ secretRef: { name: 'nova-config' } }] },
    }),
    current,
    deployment(
      'edpm-1',
      1,
      {},
      {
        deployed: true,
        nodeSetHashes: { computes: 'a' },
        secretHashes: { 'nova-config': hashSecret(secretWith('rhoso1/nova-config', 'old')) },
      },
    ),
    deployment(
      'edpm-2',
      2,
      { ansibleLimit: '!compute-96,!compute-97,!compute-98' },
      {
        deployed: true,
        nodeSetHashes: { computes: 'b' },
        secretHashes: { 'nova-config': hashSecret(current) },
      },
    ),
    deployment(
      'edpm-3',
      3,
      { ansibleLimit: 'compute-99' },
      {
        conditions: [{ type: 'DeploymentReady', status: 'False', severity: 'Error', message: 'backoff limit' }],
        ansibleExecutionSummaries: { 'bootstrap-edpm-3-computes': { unreachableHostList: ['compute-99'] } },
      },
    ),
  ]
}

function imageObjects(): readonly KubeObject[] {
  const digest = (letter: string): string => `sha256:${letter.repeat(64)}`
  const image = (name: string, letter: string): string => `registry.redhat.io/rhoso/${name}@${digest(letter)}`
  return [
    object('core.openstack.org/v1beta1', 'OpenStackVersion', 'openstack/controlplane', {
      status: {
        containerImages: {
          novaAPIImage: image('openstack-nova-api-rhel9', 'a'),
          glanceAPIImage: image('openstack-glance-api-rhel9', 'b'),
        },
      },
    }),
    object('operators.coreos.com/v1alpha1', 'CatalogSource', 'openshift-marketplace/redhat-operators', {
      spec: { sourceType: 'grpc', image: 'registry.redhat.io/redhat/redhat-operator-index:v4.18' },
    }),
  ]
}

/** A pod that is gone, one that whereabouts does not know, and a Reservation without its IPSet, among others. */
function leakedObjects(): readonly KubeObject[] {
  const status = JSON.stringify([{ name: 'rhoso1/internalapi', ips: ['172.17.0.40'] }])
  const pods = Array.from({ length: 40 }, (_, index) =>
    object('v1', 'Pod', `rhoso1/ovn-${index + 1}`, { status: { phase: 'Running' } }),
  )
  const [pod] = pods
  const reservations = Array.from({ length: 250 }, (_, index) => {
    const address = `192.168.${122 + Math.floor(index / 150)}.${100 + (index % 150)}`
    return object(NETWORK, 'Reservation', `rhoso2/compute-${index}`, {
      spec: {
        ipSetRef: { name: `compute-${index}` },
        reservation: { ctlplane: { network: 'ctlplane', subnet: 'subnet1', address } },
      },
    })
  })
  const ipSets = reservations
    .map(({ metadata }) => object(NETWORK, 'IPSet', `rhoso2/${metadata.name}`, { spec: { networks: [] } }))
    .filter(({ metadata }) => metadata.name !== 'compute-7')
  if (pod) Object.assign(pod.metadata, { annotations: { 'k8s.v1.cni.cncf.io/network-status': status } })
  return [
    attachment('rhoso1/internalapi'),
    ipPool('rhoso1-internalapi', { '31': { id: 'a', podref: 'rhoso1/ovn-0' } }),
    ...pods,
    ...reservations,
    ...ipSets,
    ...emptyLists,
  ]
}

/** Kinds that the cluster has no objects of: a dump that does not mention a kind says nothing about it. */
const emptyLists = [
  ['v1', 'Service'],
  ['v1', 'Node'],
  ['v1', 'ConfigMap'],
  ['nmstate.io/v1', 'NodeNetworkConfigurationPolicy'],
  ['nmstate.io/v1beta1', 'NodeNetworkState'],
  ['whereabouts.cni.cncf.io/v1alpha1', 'OverlappingRangeIPReservation'],
].map(([apiVersion, kind]) => ({ apiVersion, kind: `${kind}List`, items: [] }) as unknown as KubeObject)
