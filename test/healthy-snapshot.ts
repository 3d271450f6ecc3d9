/** Builds the snapshot of a healthy cluster with a deployed plan. */
import type { KubeObject } from '../src/api/object.ts'
import type { Snapshot } from '../src/api/snapshot.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../src/plan/plan.ts'
import { slotServiceName } from '../src/plan/slots/service-names.ts'
import { type RenderedDocument, renderDocuments } from '../src/render/render.ts'

/** The rendered documents of a plan. */
export function renderedDocuments(plan: Plan): readonly RenderedDocument[] {
  return renderDocuments(plan)
}

export function healthySnapshot(plan: Plan): Snapshot {
  const documents = renderDocuments(plan).map(({ object }) => ({
    ...object,
    metadata: { ...object.metadata, generation: 1 },
  }))
  const nodes = plan.from.cluster.nodes.map(({ name }) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    status: {
      allocatable: { cpu: '64', memory: '256Gi', pods: '250' },
      addresses: [{ type: 'InternalIP', address: '10.0.0.10' }],
    },
  }))
  const profiles = plan.from.cluster.nodes.map(({ name }) => ({
    apiVersion: 'tuned.openshift.io/v1',
    kind: 'Profile',
    metadata: { name, namespace: 'openshift-cluster-node-tuning-operator' },
    spec: { config: { tunedProfile: 'stackloom-node' } },
    status: { tunedProfile: 'stackloom-node', conditions: [{ type: 'Degraded', status: 'False' }] },
  }))
  const policies = documents.filter(({ kind }) => kind === 'NodeNetworkConfigurationPolicy')
  return {
    objects: [
      ...documents,
      ...nodes,
      ...profiles,
      ...policies.flatMap((policy) => enactmentsFor(policy)),
      ...plan.clouds.flatMap((cloud) => [
        ...servicesFor(cloud),
        ...podsFor(cloud),
        ...ipPoolsFor(cloud),
        ...reservationsFor(cloud),
        ...dnsDataFor(cloud),
        ...endpointsFor(cloud),
      ]),
    ],
    unread: [],
  }
}

function enactmentsFor(policy: KubeObject): readonly KubeObject[] {
  const selector = (policy as unknown as { spec: { nodeSelector: Record<string, string> } }).spec.nodeSelector
  const node = selector['kubernetes.io/hostname']
  return [
    {
      apiVersion: 'nmstate.io/v1beta1',
      kind: 'NodeNetworkConfigurationEnactment',
      metadata: { name: `${node}.${policy.metadata.name}` },
      status: { policyGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] },
    },
  ]
}

function servicesFor(cloud: PlannedCloud): readonly KubeObject[] {
  return cloud.uses.map((use) => {
    const network = cloud.networks.find(({ name }) => name === use.network) as PlannedNetwork
    const own = network.vips.filter(({ slot }) => slot === use.name).map(({ address }) => address)
    const name = slotServiceName(use) ?? use.name.replaceAll('.', '-')
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name,
        namespace: cloud.namespace,
        creationTimestamp: '2026-11-01T08:00:00Z',
        annotations: {
          'metallb.io/address-pool': network.pool ?? '',
          'metallb.io/loadBalancerIPs': own.join(','),
          'metallb.io/allow-shared-ip': use.alone ? '' : `${network.sharingKey}-${use.group}`,
          'metallb.io/ip-allocated-from-pool': network.pool ?? '',
          'dnsmasq.network.openstack.org/hostname': `${name}.${cloud.namespace}.svc`,
        },
      },
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: own.map((ip) => ({ ip })) } },
    }
  })
}

/** The first address of a span. */
function first(network: PlannedNetwork, role: string): string {
  return network.subnets[0]?.spans.find((span) => span.role === role)?.start ?? ''
}

function attached(cloud: PlannedCloud): readonly PlannedNetwork[] {
  return cloud.networks.filter((network) => first(network, 'pods') !== '')
}

function podsFor(cloud: PlannedCloud): readonly KubeObject[] {
  const networks = attached(cloud)
  const status = networks.map((network) => ({
    name: `${cloud.namespace}/${network.name}`,
    ips: [first(network, 'pods')],
  }))
  return [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'glance-0',
        namespace: cloud.namespace,
        annotations: {
          'k8s.v1.cni.cncf.io/networks': JSON.stringify(networks.map(({ name }) => ({ name }))),
          'k8s.v1.cni.cncf.io/network-status': JSON.stringify(status),
        },
      },
      status: { phase: 'Running' },
    },
  ]
}

function ipPoolsFor(cloud: PlannedCloud): readonly KubeObject[] {
  return attached(cloud).flatMap((network) =>
    network.subnets
      .filter(({ family }) => family === 4)
      .map(({ cidr }) => ({
        apiVersion: 'whereabouts.cni.cncf.io/v1alpha1',
        kind: 'IPPool',
        metadata: {
          name: `${cloud.namespace}-${network.name}-${cidr.replace('/', '-')}`,
          namespace: 'kube-system',
        },
        spec: {
          range: cidr,
          allocations: {
            [first(network, 'pods').split('.').at(-1) ?? '']: {
              id: 'x',
              ifname: 'net1',
              podref: `${cloud.namespace}/glance-0`,
            },
          },
        },
      })),
  )
}

function reservationsFor(cloud: PlannedCloud): readonly KubeObject[] {
  const held = cloud.networks
    .filter((network) => first(network, 'hosts') !== '')
    .map((network) => [network.name, { network: network.name, address: first(network, 'hosts'), subnet: 'subnet1' }])
  return [
    {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'Reservation',
      metadata: {
        name: 'edpm-compute-0',
        namespace: cloud.namespace,
        creationTimestamp: '2026-11-02T08:00:00Z',
      },
      spec: { ipSetRef: { name: 'edpm-compute-0' }, reservation: Object.fromEntries(held) },
    },
  ]
}

function dnsDataFor(cloud: PlannedCloud): readonly KubeObject[] {
  const hosts = servicesFor(cloud).map(({ metadata, status }) => ({
    hostnames: [metadata.annotations?.['dnsmasq.network.openstack.org/hostname']],
    ip: (status as { loadBalancer: { ingress: { ip: string }[] } }).loadBalancer.ingress[0]?.ip,
  }))
  return [
    {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'DNSData',
      metadata: { name: 'dnsmasq-dns-svc', namespace: cloud.namespace },
      spec: { dnsDataLabelSelectorValue: 'dnsdata', hosts },
    },
  ]
}

function endpointsFor(cloud: PlannedCloud): readonly KubeObject[] {
  const host = `keystone-public-${cloud.namespace}.apps.example.com`
  return [
    {
      apiVersion: 'route.openshift.io/v1',
      kind: 'Route',
      metadata: { name: 'keystone-public', namespace: cloud.namespace },
      spec: { host },
    },
    {
      apiVersion: 'keystone.openstack.org/v1beta1',
      kind: 'KeystoneEndpoint',
      metadata: { name: 'keystone', namespace: cloud.namespace },
      spec: {
        serviceName: 'keystone',
        endpoints: {
          internal: `https://keystone-internal.${cloud.namespace}.svc:5000`,
          public: `https://${host}`,
        },
      },
    },
  ]
}

/** The snapshot with one changed object, which must exist. */
export function changed(
  snapshot: Snapshot,
  name: string,
  change: (object: KubeObject) => KubeObject | undefined,
): Snapshot {
  const [kind = '', key = ''] = name.split(' ')
  const matches = ({ kind: is, metadata }: KubeObject): boolean =>
    is === kind && (metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name) === key
  if (!snapshot.objects.some(matches)) throw new Error(`there is no ${name}`)
  return {
    ...snapshot,
    objects: snapshot.objects.flatMap((object) => (matches(object) ? (change(object) ?? []) : [object])),
  }
}

export function withObject(snapshot: Snapshot, object: KubeObject): Snapshot {
  return { ...snapshot, objects: [...snapshot.objects, object] }
}
