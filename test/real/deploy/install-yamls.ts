/**
 * Builds a cloud as install_yamls and the scripts of its fork create it: gen-nncp, gen-netatt, gen-metallb-config,
 * gen-service-kustomize on upstream's sample, and the fork's patch of the pools. It follows the output of those scripts,
 * not our renderers; interface, prefixes and VLANs come from the plan of the same cloud.
 */
import type { KubeObject } from '../../../src/api/object.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { retry } from '../../../src/deploy/retry.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Plan, PlannedCloud } from '../../../src/plan/plan.ts'
import { ingressAddresses } from '../../../src/verify/readiness/load-balancer.ts'
import { neverAborted } from '../../never-aborted.ts'

export interface InstalledBy {
  /** The script's name for the pool of a network: without a prefix (upstream), or with one (document 000). */
  readonly pool: (network: string) => string
  /** Its L2Advertisement; document 001 has a suffix there. */
  readonly advertisement?: (network: string) => string
  /** The fork scopes its pools to the namespace. */
  readonly scoped?: boolean
  /** Prefixes that differ from the plan's, because the environment does not set them. */
  readonly prefixes?: Readonly<Record<string, string>>
  /** The fork's script has put the names of its pools into the control plane. */
  readonly patched?: boolean
}

export const SAMPLE = 'openstack-galera-network-isolation'
const OLD = 'metallb.universe.tf'
const NIC = 'enp6s0'
const POOLED = ['ctlplane', 'internalapi', 'storage', 'tenant', 'designateext']
const VLANS = ['internalapi', 'storage', 'tenant', 'storagemgmt', 'octavia', 'designate', 'designateext']

/** What the scripts read from their environment. */
interface Environment {
  readonly namespace: string
  /** `172.17.0`, of a network. */
  readonly prefix: (network: string) => string
  readonly vlan: (network: string) => number
  readonly services: Readonly<Record<string, boolean | undefined>>
}

function environmentOf({ namespace, networks, from }: PlannedCloud, { prefixes = {} }: InstalledBy): Environment {
  const byName = new Map(networks.map((network) => [network.name, network]))
  const base = (byName.get('internalapi')?.vlan ?? 20) - VLANS.indexOf('internalapi')
  return {
    namespace,
    prefix: (network) =>
      prefixes[network] ?? (byName.get(network)?.subnets[0]?.cidr ?? '172.23.0.0/24').replace(/\.0\/24$/, ''),
    vlan: (network) => base + VLANS.indexOf(network),
    services: (from.file.services ?? {}) as Environment['services'],
  }
}

export function installedObjects(plan: Plan, cloud: PlannedCloud, by: InstalledBy): readonly KubeObject[] {
  const environment = environmentOf(cloud, by)
  const { namespace } = environment
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'osp-secret', namespace },
      stringData: { AdminPassword: 'x' },
    },
    ...plan.from.cluster.nodes.map(({ name }, index) => policy(name, index, environment)),
    ...attachments(environment),
    ...POOLED.flatMap((network) => [pool(network, environment, by), advertisement(network, environment, by)]),
    controlPlane(environment, by),
  ]
}

/** Belongs to no cloud: the last `make nncp` wins. */
function policy(node: string, at: number, { prefix, vlan }: Environment): KubeObject {
  const ipv4 = (network: string, first: number) => ({
    address: [{ ip: `${prefix(network)}.${first + at}`, 'prefix-length': 24 }],
    enabled: true,
    dhcp: false,
  })
  const vlans = VLANS.map((network) => ({
    description: network === 'octavia' ? 'Octavia vlan host interface' : `${network} vlan interface`,
    name: `${NIC}.${vlan(network)}`,
    state: 'up',
    type: 'vlan',
    vlan: { 'base-iface': NIC, id: vlan(network), 'reorder-headers': true },
    ...(network !== 'octavia' && { ipv4: ipv4(network, 5), ipv6: { enabled: false } }),
  }))
  const bridge = (name: string, port: object) => ({
    name,
    type: 'linux-bridge',
    state: 'up',
    mtu: 1500,
    bridge: { options: { stp: { enabled: false } }, port: [port] },
  })
  return {
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    metadata: { name: `${NIC}-${node}`, labels: { 'osp/interface': NIC } },
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node, 'node-role.kubernetes.io/worker': '' },
      desiredState: {
        interfaces: [
          ...vlans,
          bridge('octbr', { name: `${NIC}.${vlan('octavia')}` }),
          { ...bridge('ospbr', { name: NIC, vlan: {} }), ipv4: ipv4('ctlplane', 10) },
        ],
      },
    },
  }
}

/** Designate's prefixes are literals in the script, and the name of one is misspelt. */
function attachments(environment: Environment): readonly KubeObject[] {
  const { prefix, vlan } = environment
  const whereabouts = (base: string) => ({
    type: 'whereabouts',
    range: `${base}.0/24`,
    range_start: `${base}.30`,
    range_end: `${base}.70`,
  })
  const macvlan = (network: string, base: string, master = `${NIC}.${vlan(network)}`) =>
    ({ name: network, config: { type: 'macvlan', master, ipam: whereabouts(base) } }) as const
  const octavia = {
    ...whereabouts('172.23.0'),
    routes: [{ dst: '172.24.0.0/16', gw: '172.23.0.150' }],
  }
  const all: readonly { readonly name: string; readonly title?: string; readonly config: object }[] = [
    macvlan('ctlplane', prefix('ctlplane'), 'ospbr'),
    ...['internalapi', 'storage', 'tenant', 'storagemgmt'].map((network) => macvlan(network, prefix(network))),
    { name: 'datacentre', config: { type: 'bridge', bridge: 'ospbr', ipam: {} } },
    { name: 'octavia', config: { type: 'bridge', bridge: 'octbr', ipam: octavia } },
    macvlan('designate', '172.28.0'),
    { ...macvlan('designateext', '172.50.0'), title: 'designatext' },
  ]
  return all.map(({ name, title = name, config }) => ({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: environment.namespace },
    spec: { config: JSON.stringify({ cniVersion: '0.3.1', name: title, ...config }, null, 2) },
  }))
}

/** Upstream's sample of the NetConfig, with the prefixes of the environment. */
export function installedNetConfig(cloud: PlannedCloud, by: InstalledBy): KubeObject {
  const { namespace, prefix, vlan } = environmentOf(cloud, by)
  const ranges = (base: string, ...spans: readonly (readonly [number, number])[]) =>
    spans.map(([start, end]) => ({ start: `${base}.${start}`, end: `${base}.${end}` }))
  const subnet = (network: string) => ({
    name: 'subnet1',
    cidr: `${prefix(network)}.0/24`,
    ...(network === 'ctlplane'
      ? { gateway: `${prefix(network)}.1`, allocationRanges: ranges(prefix(network), [100, 120], [150, 200]) }
      : { vlan: vlan(network), allocationRanges: ranges(prefix(network), [100, 250]) }),
  })
  return {
    apiVersion: 'network.openstack.org/v1beta1',
    kind: 'NetConfig',
    metadata: { name: 'netconfig', namespace },
    spec: {
      networks: ['ctlplane', 'internalapi', 'storage', 'tenant'].map((name) => ({
        name,
        dnsDomain: `${name}.example.com`,
        mtu: 1500,
        subnets: [subnet(name)],
      })),
    },
  }
}

function pool(network: string, { namespace, prefix }: Environment, by: InstalledBy): KubeObject {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name: by.pool(network), namespace: 'metallb-system' },
    spec: {
      addresses: [`${prefix(network)}.80-${prefix(network)}.90`],
      ...(network === 'designateext' && { autoAssign: false }),
      ...(by.scoped && { serviceAllocation: { namespaces: [namespace] } }),
    },
  }
}

function advertisement(network: string, { vlan }: Environment, by: InstalledBy): KubeObject {
  const name = (by.advertisement ?? by.pool)(network)
  const interfaces = [network === 'ctlplane' ? 'ospbr' : `${NIC}.${vlan(network)}`]
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'L2Advertisement',
    metadata: { name, namespace: 'metallb-system' },
    spec: { ipAddressPools: [by.pool(network)], interfaces },
  }
}

/** The services of the fork's script; heat, manila, designate and others are missing. */
const PATCHED = ['dns', 'keystone', 'glance', 'placement', 'neutron', 'nova', 'cinder', 'barbican', 'swift']

/**
 * Upstream's sample: the old spelling only, one address for all APIs, one for each message queue. Required fields that
 * the sample leaves out are empty here: the operator's webhook fills them in.
 */
function controlPlane(environment: Environment, by: InstalledBy): KubeObject {
  const { namespace, prefix, services } = environment
  const asks = (service: string, network: string, last: number, shared: boolean) => {
    const isPatched = by.patched && (PATCHED.includes(service) || service === 'rabbitmq')
    const name = by.patched && !isPatched ? network : by.pool(network)
    // The fork's script gives the message queues a sharing key too.
    const key = shared || isPatched ? { [`${OLD}/allow-shared-ip`]: name } : {}
    const annotations = {
      [`${OLD}/address-pool`]: name,
      ...key,
      [`${OLD}/loadBalancerIPs`]: `${prefix(network)}.${last}`,
    }
    return { metadata: { annotations }, spec: { type: 'LoadBalancer' } }
  }
  const internal = (service: string) => ({
    override: { service: { internal: asks(service, 'internalapi', 80, true) } },
  })
  const queue = (last: number) => ({
    replicas: 1,
    override: { service: asks('rabbitmq', 'internalapi', last, false) },
  })
  const database = { storageRequest: '10G', storageClass: 'local-storage', secret: 'osp-secret', replicas: 1 }
  const base = { databaseInstance: 'openstack', secret: 'osp-secret' }
  const image = { containerImage: 'quay.io/podified-antelope-centos9/openstack-glance-api:current-podified' }
  const isOn = (service: string): boolean => services[service] ?? false
  return {
    apiVersion: 'core.openstack.org/v1beta1',
    kind: 'OpenStackControlPlane',
    metadata: { name: SAMPLE, namespace, labels: { 'created-by': 'install_yamls' } },
    spec: {
      secret: 'osp-secret',
      storageClass: 'local-storage',
      dns: {
        template: {
          override: { service: asks('dns', 'ctlplane', 80, true) },
          options: [{ key: 'server', values: ['192.168.122.1'] }],
          replicas: 1,
        },
      },
      galera: { templates: { openstack: database, 'openstack-cell1': database } },
      memcached: { templates: { memcached: { replicas: 1 } } },
      rabbitmq: { templates: { rabbitmq: queue(85), 'rabbitmq-cell1': queue(86) } },
      keystone: { template: { ...base, ...internal('keystone') } },
      placement: { template: { ...base, ...internal('placement') } },
      glance: {
        template: {
          ...base,
          imageCache: {},
          storage: { storageRequest: '10G' },
          glanceAPIs: {
            default: { ...image, replicas: 1, networkAttachments: ['storage'], ...internal('glance') },
          },
        },
      },
      neutron: { template: { ...base, ...internal('neutron'), networkAttachments: ['internalapi'] } },
      nova: {
        template: {
          secret: 'osp-secret',
          apiServiceTemplate: internal('nova'),
          metadataServiceTemplate: { override: { service: asks('nova', 'internalapi', 80, true) } },
        },
      },
      ovn: {
        template: {
          ovnDBCluster: {
            'ovndbcluster-nb': { dbType: 'NB', storageRequest: '10G', networkAttachment: 'internalapi' },
            'ovndbcluster-sb': { dbType: 'SB', storageRequest: '10G', networkAttachment: 'internalapi' },
          },
          ovnController: { networkAttachment: 'tenant', nicMappings: { datacentre: 'ospbr' } },
        },
      },
      cinder: {
        enabled: isOn('cinder'),
        template: {
          ...base,
          cinderAPI: internal('cinder'),
          cinderScheduler: {},
          cinderVolumes: { volume1: { replicas: 0 } },
        },
      },
      barbican: {
        enabled: isOn('barbican'),
        template: {
          ...base,
          serviceAccount: 'barbican',
          barbicanAPI: internal('barbican'),
          barbicanWorker: {},
          barbicanKeystoneListener: {},
        },
      },
      swift: {
        enabled: isOn('swift'),
        template: {
          swiftProxy: { replicas: 1, ...internal('swift') },
          swiftRing: { ringReplicas: 1 },
          swiftStorage: { replicas: 1 },
        },
      },
      designate: designate({ ...base, designateAPI: internal('designate') }, environment, by),
      heat: {
        enabled: false,
        template: { ...base, heatAPI: internal('heat'), heatCfnAPI: {}, heatEngine: {} },
      },
      manila: { enabled: false, template: { ...base, manilaAPI: internal('manila'), manilaScheduler: {} } },
      telemetry: { enabled: false },
    },
  }
}

/** The sample leaves the name servers to the user: an entry for each replica, on the external network. */
function designate(template: object, environment: Environment, by: InstalledBy): object {
  const server = (last: number) => {
    const annotations = {
      [`${OLD}/address-pool`]: by.pool('designateext'),
      [`${OLD}/loadBalancerIPs`]: `${environment.prefix('designateext')}.${last}`,
    }
    return { override: { services: [{ metadata: { annotations }, spec: { type: 'LoadBalancer' } }] } }
  }
  return {
    enabled: environment.services['designate'] ?? false,
    template: {
      ...template,
      designateCentral: {},
      designateProducer: {},
      designateWorker: {},
      designateBackendbind9: { ...server(85), storageRequest: '10G' },
      designateMdns: server(86),
      designateUnbound: server(87),
    },
  }
}

/** Overwrites as `oc apply` does, and retries while a webhook is busy. */
export async function installCloud(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const quiet = { emit: () => undefined, stop: neverAborted(), clock: systemClock }
  for (const object of objects) await retry(() => installed(client, object), quiet)
}

async function installed(client: KubeClient, object: KubeObject): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const live = await client.get({ apiVersion, kind, ...metadata })
  const fieldManager = 'kubectl-client-side-apply'
  if (live) await client.patch({ apiVersion, kind, ...metadata }, object, { type: 'merge', fieldManager })
  else await client.create(object, { fieldManager })
}

/** `name -> addresses` of a namespace's LoadBalancer Services. */
export async function addressesIn(client: KubeClient, namespace: string): Promise<ReadonlyMap<string, string>> {
  const { items } = await client.list({ apiVersion: 'v1', kind: 'Service' }, { namespace })
  const balancers = items.filter((item) => (item['spec'] as { type?: string }).type === 'LoadBalancer')
  return new Map(balancers.map((balancer) => [balancer.metadata.name, ingressAddresses(balancer).join(',')]))
}

/** Waits until the operators and MetalLB are idle. */
export async function settled(
  client: KubeClient,
  namespace: string,
  services: number,
): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const addresses = await addressesIn(client, namespace)
    if (addresses.size >= services && [...addresses.values()].every((address) => address !== '')) return addresses
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
