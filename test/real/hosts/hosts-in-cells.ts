/**
 * Deploys hosts into the cells of a real OpenStack by the operator, each host into a cell of its own. nova-compute has the
 * driver for tests unless another one is given; everything else is as on real hosts.
 *
 *     const deployment = useHostsInCells(['edpm-compute-0'])
 */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { netConfigs } from '../../../src/api/netconfig.ts'
import type { GroupVersionKind, KubeObject } from '../../../src/api/object.ts'
import { findCondition } from '../../../src/api/raw-object.ts'
import { dnsMasqs, services } from '../../../src/controllers/dns/dns-kinds.ts'
import { novaCells, novaExternalComputes } from '../../../src/dataplane/kinds/nova.ts'
import { keystoneApis } from '../../../src/dataplane/services/nova-control-plane.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import { CLOUD_PASSWORD } from '../../cloud-definition.ts'
import { type Cluster, useCluster } from '../../cluster.ts'
import { isSoak, requireSoak } from '../../counts.ts'
import { CELL, dataPlaneNode, dataPlaneRole, SSH_SECRET } from '../../data-plane.ts'
import { findHostRoot } from '../../hosts.ts'
import { waitFor } from '../../wait-for.ts'
import { type DataPlaneNodes, useNodes } from '../dataplane/nodes.ts'
import { secret } from '../dataplane/runs.ts'
import { KEYSTONE, startCloud, type TestCloud, VIP } from './cloud.ts'
import { connectCluster, type OperatorProcess, startOperatorProcess } from './operator.ts'

export const namespace = 'openstack'
export const FAKE_DRIVER = '[DEFAULT]\ncompute_driver = fake.FakeDriver\n'
/** What one more run needs, and what a host needs from nothing. */
export const soon = { timeout: 600_000, interval: 2000 }
export const deployed = { timeout: 2_700_000, interval: 2000 }

export interface HostsInCells {
  readonly cluster: Cluster
  readonly nodes: DataPlaneNodes
  readonly cloud: TestCloud
  readonly cellOf: (host: string) => string
  readonly stopOperator: () => Promise<void>
  readonly startOperator: () => Promise<void>
  readonly get: (kind: GroupVersionKind, name: string) => Promise<KubeObject | undefined>
  /** `True`, or why the object is not ready. */
  readonly ready: (kind: GroupVersionKind, name: string) => Promise<string>
  /** Merges a change into an object, as a person would. */
  readonly patch: (kind: GroupVersionKind, name: string, change: object) => Promise<KubeObject>
}

export interface HostsOptions {
  readonly customServiceConfig?: string
  /** Variables of one host. */
  readonly ansibleVars?: (host: string) => object
  /** Called when the machines run, before they are deployed. */
  readonly prepare?: (nodes: DataPlaneNodes) => Promise<void>
  /** Starts nothing in `make test`. */
  readonly soakOnly?: boolean
}

export function useHostsInCells(
  hosts: readonly string[],
  { soakOnly = false, prepare, ...options }: HostsOptions = {},
): HostsInCells {
  if (soakOnly && !isSoak()) {
    beforeEach(requireSoak)
    return {} as HostsInCells
  }
  const cellOf = (host: string): string => `cell${hosts.indexOf(host) + 1}`
  const cluster = useCluster({ crds: 'own-2023' })
  const nodes = useNodes(hosts, findHostRoot)
  let started: StartedCloud | undefined
  beforeAll(async () => {
    if ('refusal' in (await findHostRoot())) return
    await prepare?.(nodes)
    started = await startCloudForHosts(cluster, nodes, hosts.map(cellOf))
    for (const host of hosts) await createHost(cluster.client, nodes, host, cellOf(host), options)
  }, 1_800_000)
  afterAll(() => started?.stop(), 300_000)
  const get: HostsInCells['get'] = (kind, name) => cluster.client.get({ ...kind, namespace, name })
  return {
    cluster,
    nodes,
    get cloud() {
      if (!started) throw new Error('the cloud is there in tests only')
      return started.cloud
    },
    cellOf,
    stopOperator: async () => started?.operator.stop(),
    startOperator: async () => {
      if (started) started.operator = await startOperatorProcess(cluster)
    },
    get,
    ready: async (kind, name) => {
      const object = await get(kind, name)
      const condition = object && findCondition(object, 'Ready')
      return condition?.status === 'True' ? 'True' : `${condition?.status}: ${condition?.message}`
    },
    patch: (kind, name, change) =>
      cluster.client.patch({ ...kind, namespace, name }, change, { type: 'merge', fieldManager: 'person' }),
  }
}

export interface StartedCloud {
  readonly cloud: TestCloud
  operator: OperatorProcess
  readonly stop: () => Promise<void>
}

/** Starts a cloud on the switch of the nodes, and the operator with all that hosts need but the hosts. */
export async function startCloudForHosts(
  cluster: Cluster,
  nodes: DataPlaneNodes,
  cells: readonly string[],
): Promise<StartedCloud> {
  const { client } = cluster
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await serveKeystone(client)
  await connectCluster(cluster, nodes)
  const [cloud, operator] = await Promise.all([startCloud(nodes, cells), startOperatorProcess(cluster)])
  const started: StartedCloud = {
    cloud,
    operator,
    stop: async () => {
      await started.operator.stop()
      await cloud.stop()
    },
  }
  try {
    await create(client, secret(namespace, SSH_SECRET, { 'ssh-privatekey': nodes.privateKey }))
    await publishControlPlane(client, cloud, cells)
    await createNetwork(client)
    await createRole(client)
    return started
  } catch (error) {
    await started.stop()
    throw error
  }
}

function create(client: KubeClient, object: KubeObject): Promise<KubeObject> {
  return client.create({ ...object, metadata: { ...object.metadata, namespace } }, { fieldManager: 'person' })
}

async function setStatus(client: KubeClient, object: KubeObject, status: object): Promise<void> {
  await client.update({ ...(await create(client, object)), status }, { subresource: 'status' })
}

const isReady = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] }

/** The releases of 2023 that are known here have no CRD of Keystone. */
async function serveKeystone(client: KubeClient): Promise<void> {
  const [group = '', version = ''] = keystoneApis.apiVersion.split('/')
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await client.create({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `keystoneapis.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: keystoneApis.kind, plural: 'keystoneapis' },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  })
  const served = async (): Promise<void> => {
    if (!(await client.resource(keystoneApis))) throw new Error('not served yet')
  }
  await waitFor(served, soon)
}

/** What the operators of the control plane publish for data plane nodes. */
async function publishControlPlane(client: KubeClient, cloud: TestCloud, cells: readonly string[]): Promise<void> {
  const createSecret = (name: string, values: Readonly<Record<string, string>>): Promise<KubeObject> =>
    create(client, secret(namespace, name, values))
  const keystone = { ...keystoneApis, metadata: { name: 'keystone' }, spec: {} }
  await setStatus(client, keystone, { apiEndpoints: { internal: KEYSTONE } })
  await createSecret('combined-ca-bundle', { 'tls-ca-bundle.pem': cloud.authority })
  await createSecret('nova-secret', { ServicePassword: CLOUD_PASSWORD })
  for (const cell of cells) await createCell(client, cloud, cell)
  // Nova's scheduler discovers hosts by itself; there are no pods here.
  await create(client, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'nova-cell0-conductor-0', annotations: { 'sandbox.stackloom.dev/played': 'true' } },
    spec: { containers: [{ name: 'conductor', image: 'played' }] },
  })
  const metadata = `[DEFAULT]\nnova_metadata_host = ${VIP}\nnova_metadata_protocol = https\nmetadata_proxy_shared_secret = ${CLOUD_PASSWORD}\n`
  await createSecret('nova-metadata-neutron-config', { '05-nova-metadata.conf': metadata })
  const southbound = `[ovn]\novn_sb_connection = tcp:${VIP}:6642\n`
  await createSecret('neutron-ovn-metadata-agent-neutron-config', { '10-neutron-metadata.conf': southbound })
}

/** What data plane nodes see of a cell. */
export async function createCell(client: KubeClient, cloud: TestCloud, cellName: string): Promise<void> {
  await create(client, secret(namespace, `${cellName}-bus`, { transport_url: cloud.transportUrl(cellName) }))
  const spec = {
    cellName,
    cellDatabaseHostname: 'db',
    cellMessageBusSecretName: `${cellName}-bus`,
    conductorServiceTemplate: {},
    noVNCProxyServiceTemplate: {},
    keystoneAuthURL: KEYSTONE,
    secret: 'nova-secret',
    serviceUser: 'nova',
    serviceAccount: 'nova',
  }
  await setStatus(client, { ...novaCells, metadata: { name: `nova-${cellName}` }, spec }, isReady)
}

async function createNetwork(client: KubeClient): Promise<void> {
  const subnet = {
    name: 'subnet1',
    cidr: '192.168.122.0/24',
    gateway: '192.168.122.1',
    allocationRanges: [{ start: '192.168.122.100', end: '192.168.122.200' }],
  }
  const networks = [{ name: 'ctlplane', mtu: 1500, dnsDomain: 'ctlplane.example.org', subnets: [subnet] }]
  await create(client, { ...netConfigs, metadata: { name: 'netconfig' }, spec: { networks } })
  const override = { service: { spec: { type: 'LoadBalancer' } } }
  await create(client, { ...dnsMasqs, metadata: { name: 'dns' }, spec: { override } })
  // MetalLB does not run here.
  const status = { loadBalancer: { ingress: [{ ip: '192.168.122.81' }] } }
  const giveAddress = async (): Promise<void> => {
    const service = await client.get({ ...services, namespace, name: 'dnsmasq-dns' })
    if (!service) throw new Error('DNSMasq dns has no Service')
    await client.update({ ...service, status }, { subresource: 'status' })
  }
  await waitFor(giveAddress, soon)
}

/** The kernel of the machine has no Open vSwitch: its datapath is a process. */
export const hostVariables = {
  ansible_user: 'root',
  ansible_pipelining: true,
  stackloom_services_from: 'packages',
  stackloom_ovn_remote: `tcp:${VIP}:6642`,
  stackloom_ovs_datapath: 'netdev',
  stackloom_start_seconds: 120,
  stackloom_ca: '/var/lib/openstack/cacerts/tls-ca-bundle.pem',
}

async function createRole(client: KubeClient): Promise<void> {
  const extraMounts = [
    {
      volumes: [{ name: 'ca', secret: { secretName: 'combined-ca-bundle' } }],
      mounts: [{ name: 'ca', mountPath: '/var/lib/openstack/cacerts' }],
    },
  ]
  const nodeTemplate = {
    ansibleSSHPrivateKeySecret: SSH_SECRET,
    // YAML includes JSON.
    ansibleVars: JSON.stringify(hostVariables),
    networks: [{ name: 'ctlplane', subnetName: 'subnet1', defaultRoute: true }],
    extraMounts,
  }
  const annotations = { [CELL]: 'nova-cell1', 'neutron.openstack.org/ovn-metadata-agent': 'true' }
  const role = { nodeTemplate, deployStrategy: { deploy: true }, preProvisioned: true }
  await create(client, dataPlaneRole('edpm-compute', role, annotations))
}

export async function createHost(
  client: KubeClient,
  nodes: DataPlaneNodes,
  name: string,
  cell: string,
  { customServiceConfig = FAKE_DRIVER, ansibleVars }: HostsOptions = {},
): Promise<void> {
  const cellName = `nova-${cell}`
  await create(client, {
    ...novaExternalComputes,
    metadata: { name },
    spec: { cellName, dataplaneNodeName: name, customServiceConfig },
  })
  const node = ansibleVars && { node: { ansibleVars: JSON.stringify(ansibleVars(name)) } }
  const spec = { ansibleHost: nodes.node(name).address, hostName: name, role: 'edpm-compute', ...node }
  await create(client, dataPlaneNode(name, spec, cellName === 'nova-cell1' ? {} : { [CELL]: cellName }))
}
