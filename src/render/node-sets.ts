/**
 * Renders the data plane by the NodeSet API: the NodeSets, the nova services of their cells, and a Deployment of all.
 *
 * A Deployment runs once, so its name contains the hash of what it deploys, and a change creates a new one. It has all
 * NodeSets, because its step ssh-known-hosts knows only the hosts of its own NodeSets.
 */
import { createHash } from 'node:crypto'
import { computeConfigSecret, MIGRATION_SECRET, SSH_SECRET } from '../api/node-secrets.ts'
import type { KubeObject } from '../api/object.ts'
import type { SiteFileCloud, SiteFileHost } from '../api/site.ts'
import { type HostNodeSet, hostNodeSets, novaServiceName } from '../plan/node-sets.ts'
import type { Plan, PlannedCloud, PlannedHostAddress, PlannedNetwork } from '../plan/plan.ts'
import { nodeSetRawFields } from '../plan/slots/raw-fields.ts'
import { detectEra } from '../plan/slots/slots.ts'
import { novaComputeConfig } from './control-plane/ceph.ts'
import { dnsServers } from './control-plane/templates.ts'
import { addOwnershipLabels } from './labels.ts'
import { type Fields, mergePatch } from './merge.ts'
import { findSubnet } from './spans.ts'

const DATA_PLANE = 'dataplane.openstack.org/v1beta1'

/** The settings of a node set, with those of the cloud for what it leaves out. */
type HostSettings = NonNullable<SiteFileCloud['dataPlane']>

function hostSettings({ from }: PlannedCloud, { settings }: HostNodeSet): HostSettings {
  const { dataPlane = {} } = from.file
  return {
    ...dataPlane,
    ...settings,
    ...(settings.baremetalSetTemplate && { preProvisioned: false }),
  }
}

function nodeSetServices(cloud: PlannedCloud, set: HostNodeSet): readonly string[] {
  const { services, role } = set.settings
  // The services of the cloud are those of its computes.
  return services ?? (role ? undefined : cloud.from.file.dataPlane?.services) ?? defaultServices(cloud, set)
}

/** In the order in which they must run on a host. */
function defaultServices(cloud: PlannedCloud, set: HostNodeSet): readonly string[] {
  const { role = 'compute' } = set.settings
  return [
    'bootstrap',
    'configure-network',
    'validate-network',
    'install-os',
    ...(role === 'hci' ? ['ceph-hci-pre'] : []),
    'configure-os',
    'ssh-known-hosts',
    'run-os',
    'reboot-os',
    'install-certs',
    ...(mountsCeph(cloud, set) ? ['ceph-client'] : []),
    'ovn',
    'neutron-metadata',
    ...(role === 'networker' ? [] : ['libvirt', novaServiceName(set)]),
  ]
}

function mountsCeph(cloud: PlannedCloud, { settings }: HostNodeSet): boolean {
  return cloud.from.file.ceph !== undefined && settings.role !== 'networker'
}

export function renderDataPlane(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const sets = hostNodeSets(cloud.from)
  // The 2023 release has the Role/Node API instead, which Stackloom's own controllers serve.
  if (sets.length === 0 || detectEra(plan.slots) === '2023') return []
  const objects = [...novaServices(cloud, sets), ...sets.map((set) => nodeSet(plan, cloud, set))]
  return [...objects, deployment(cloud, objects)].map((object) =>
    addOwnershipLabels(object, { site: plan.site, cloud: cloud.name }),
  )
}

/** The nova services that the sets run, and their configuration. A set that is not declared always has its cell's. */
function novaServices(cloud: PlannedCloud, sets: readonly HostNodeSet[]): readonly KubeObject[] {
  const { ceph } = cloud.from.file
  const services = new Map<string, readonly KubeObject[]>()
  for (const set of sets) {
    const name = novaServiceName(set)
    const isUsed = set.settings.name === undefined || nodeSetServices(cloud, set).includes(name)
    if (isUsed && !services.has(name)) services.set(name, novaService(cloud, set))
  }
  const objects = [...services.values()].flat()
  return ceph && objects.length > 0 ? [cephNova(cloud, ceph), ...objects] : objects
}

/** nova-compute of one cell, or of one node set with its own configuration: the built-in service is for cell1 only. */
function novaService(cloud: PlannedCloud, set: HostNodeSet): readonly KubeObject[] {
  const { ceph } = cloud.from.file
  const { novaConfig } = set.settings
  const migration = cloud.from.file.dataPlane?.migrationSecret ?? MIGRATION_SECRET
  const config = `${set.name}-nova-config`
  const service = {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneService',
    metadata: { name: novaServiceName(set), namespace: cloud.namespace },
    spec: {
      edpmServiceType: 'nova',
      playbook: 'osp.edpm.nova',
      caCerts: 'combined-ca-bundle',
      tlsCerts: {
        default: { contents: ['dnsnames', 'ips'], networks: ['ctlplane'], issuer: 'osp-rootca-issuer-internal' },
      },
      dataSources: [
        { secretRef: { name: computeConfigSecret(set.cell) } },
        { secretRef: { name: migration } },
        ...(ceph ? [{ configMapRef: { name: CEPH_NOVA } }] : []),
        ...(novaConfig === undefined ? [] : [{ configMapRef: { name: config } }]),
      ],
    },
  }
  if (novaConfig === undefined) return [service]
  const metadata = { name: config, namespace: cloud.namespace }
  // The name sorts after the generated files, so that oslo.config reads it last.
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { '25-nova-custom.conf': novaConfig } }, service]
}

const CEPH_NOVA = 'ceph-nova'

function cephNova(cloud: PlannedCloud, ceph: NonNullable<SiteFileCloud['ceph']>): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: CEPH_NOVA, namespace: cloud.namespace },
    data: { '03-ceph-nova.conf': novaComputeConfig(ceph) },
  }
}

function nodeSet(plan: Plan, cloud: PlannedCloud, set: HostNodeSet): KubeObject {
  const settings = hostSettings(cloud, set)
  const { ceph } = cloud.from.file
  const { sshSecret = SSH_SECRET, ansibleUser = 'cloud-admin' } = settings
  const networks = nodeSetNetworks(cloud, set)
  const spec = {
    preProvisioned: settings.preProvisioned ?? true,
    ...(set.settings.baremetalSetTemplate && {
      baremetalSetTemplate: { deploymentSSHSecret: sshSecret, cloudUserName: ansibleUser },
    }),
    networkAttachments: ['ctlplane'],
    services: nodeSetServices(cloud, set),
    nodeTemplate: {
      ansibleSSHPrivateKeySecret: sshSecret,
      managementNetwork: 'ctlplane',
      ansible: { ansibleUser, ansibleVars: ansibleVars(plan, cloud, set, settings, networks) },
      ...(ceph && mountsCeph(cloud, set) && { extraMounts: cephOnHosts(ceph.secret) }),
    },
    nodes: Object.fromEntries(set.hosts.map((host) => [host.name, renderNode(host, networks)])),
  }
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneNodeSet',
    metadata: { name: set.name, namespace: cloud.namespace },
    spec: nodeSetRawFields(cloud.from, set.name)
      .map(({ value }) => value)
      .reduce(mergePatch, spec),
  }
}

/** The networks of the cloud that have hosts; where node sets are declared, those with a host of this set. */
function nodeSetNetworks({ networks, from }: PlannedCloud, { hosts }: HostNodeSet): readonly PlannedNetwork[] {
  if (!from.file.nodeSets) return networks.filter((network) => network.hosts.length > 0)
  const names = new Set(hosts.map(({ name }) => name))
  return networks.filter((network) => network.hosts.some(({ name }) => names.has(name)))
}

function cephOnHosts(secret: string): readonly unknown[] {
  return [
    {
      extraVolType: 'Ceph',
      volumes: [{ name: 'ceph', secret: { secretName: secret } }],
      mounts: [{ name: 'ceph', mountPath: '/etc/ceph', readOnly: true }],
    },
  ]
}

function ansibleVars(
  plan: Plan,
  cloud: PlannedCloud,
  set: HostNodeSet,
  settings: HostSettings,
  networks: readonly PlannedNetwork[],
): Fields {
  const { registry } = settings
  const bridge = 'br-ex'
  const nic = settings.nic ?? 'nic1'
  const vars = {
    edpm_network_config_template: osNetConfigTemplate(networks, nic, bridge),
    neutron_physical_bridge_name: bridge,
    neutron_public_interface_name: nic,
    timesync_ntp_servers: (settings.ntp ?? []).map((hostname) => ({ hostname })),
    dns_search_domains: networks.map((network) => network.dnsDomain),
    ctlplane_dns_nameservers: hostDns(plan, cloud),
    edpm_sshd_allowed_ranges: sshRanges(cloud),
    ...(registry?.url !== undefined && { registry_url: registry.url }),
    ...(registry?.prefix !== undefined && { image_prefix: registry.prefix }),
    ...(registry?.tag !== undefined && { image_tag: registry.tag }),
    ...(set.settings.role === 'networker' && { edpm_enable_chassis_gw: true }),
  }
  return mergePatch(mergePatch(vars, cloud.from.file.dataPlane?.ansibleVars), set.settings.ansibleVars)
}

/** The cloud's own dnsmasq, because only it resolves the internal endpoints. */
function hostDns(plan: Plan, cloud: PlannedCloud): readonly string[] {
  const dnsVips = cloud.networks.flatMap((network) => network.vips).filter((vip) => vip.slot === 'dns')
  return dnsVips.length > 0 ? dnsVips.map((vip) => vip.address) : dnsServers(plan, cloud)
}

function sshRanges(cloud: PlannedCloud): readonly string[] {
  const ctlplane = cloud.networks.find((network) => network.name === 'ctlplane')
  return (ctlplane?.subnets ?? []).map((subnet) => subnet.cidr)
}

function renderNode(host: SiteFileHost, networks: readonly PlannedNetwork[]): Fields {
  const places = networks.flatMap((network) =>
    network.hosts.filter(({ name }) => name === host.name).map((address) => ({ network, address })),
  )
  const ctlplane = places.find(({ network }) => network.name === 'ctlplane')
  return {
    hostName: host.name,
    ansible: { ansibleHost: host.ansibleHost ?? ctlplane?.address.address ?? host.name },
    networks: places.map(({ network, address }) => renderNodeNetwork(network, address)),
  }
}

/** Every address is planned, so every address is fixed: an IPSet that is created later gets the same. */
function renderNodeNetwork(network: PlannedNetwork, { address }: PlannedHostAddress): Fields {
  return {
    name: network.name,
    subnetName: findSubnet(network, address)?.name ?? 'subnet1',
    ...(network.name === 'ctlplane' && { defaultRoute: true }),
    fixedIP: address,
  }
}

function deployment(cloud: PlannedCloud, objects: readonly KubeObject[]): KubeObject {
  const sets = objects.filter((object) => object.kind === 'OpenStackDataPlaneNodeSet')
  const hash = createHash('sha256').update(JSON.stringify(objects)).digest('hex').slice(0, 10)
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneDeployment',
    metadata: { name: `edpm-${hash}`, namespace: cloud.namespace },
    spec: { nodeSets: sets.map((set) => set.metadata.name) },
  }
}

/**
 * Renders the network of a host for os-net-config: an OVS bridge over the host's NIC and a VLAN for each tagged network.
 * Addresses and routes differ from host to host, so they are Ansible variables. `nic` is `nic1` or a name.
 */
function osNetConfigTemplate(networks: readonly PlannedNetwork[], nic: string, bridge: string): string {
  const mtu = Math.max(1500, ...networks.map((network) => network.mtu))
  const untagged = networks.find((network) => networkVlan(network) === undefined)
  const tagged = networks.filter((network) => networkVlan(network) !== undefined)
  const lines = [
    '---',
    'network_config:',
    '- type: ovs_bridge',
    `  name: ${bridge}`,
    `  mtu: ${mtu}`,
    '  use_dhcp: false',
    '  dns_servers: {{ ctlplane_dns_nameservers }}',
    '  domain: {{ dns_search_domains }}',
    ...(untagged ? addressing(untagged, '  ') : []),
    '  members:',
    '  - type: interface',
    `    name: ${nic}`,
    `    mtu: ${mtu}`,
    // The bridge takes the MAC address of this member, so it stays the same after a restart.
    '    primary: true',
    ...tagged.flatMap((network) => [
      '  - type: vlan',
      `    vlan_id: ${networkVlan(network)}`,
      `    mtu: ${network.mtu}`,
      ...addressing(network, '    '),
    ]),
  ]
  return `${lines.join('\n')}\n`
}

function addressing({ name }: PlannedNetwork, indent: string): readonly string[] {
  return [
    `${indent}addresses:`,
    `${indent}- ip_netmask: {{ ${name}_ip }}/{{ ${name}_cidr }}`,
    `${indent}routes: {{ ${name}_host_routes }}`,
  ]
}

function networkVlan(network: PlannedNetwork): number | undefined {
  return network.vlan ?? network.subnets[0]?.vlan
}
