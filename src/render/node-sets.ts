/**
 * Renders the data plane by the NodeSet API: a NodeSet and a nova service for each cell with hosts, and a Deployment.
 *
 * A Deployment runs once, so its name contains the hash of what it deploys, and a change creates a new one.
 */
import { createHash } from 'node:crypto'
import { MIGRATION_SECRET, SSH_SECRET } from '../api/node-secrets.ts'
import type { KubeObject } from '../api/object.ts'
import type { SiteFileCloud } from '../api/site.ts'
import type { Plan, PlannedCloud, PlannedHostAddress, PlannedNetwork } from '../plan/plan.ts'
import { hostCell } from '../plan/slots/cloud-services.ts'
import { detectEra } from '../plan/slots/slots.ts'
import { novaComputeConfig } from './control-plane/ceph.ts'
import { dnsServers } from './control-plane/templates.ts'
import { addOwnershipLabels } from './labels.ts'
import { type Fields, mergePatch } from './merge.ts'
import { findSubnet } from './spans.ts'

const DATA_PLANE = 'dataplane.openstack.org/v1beta1'

type Host = NonNullable<SiteFileCloud['hosts']>[number]
type DataPlane = NonNullable<SiteFileCloud['dataPlane']>

/** In the order in which they must run on a host. */
function defaultServices(cloud: PlannedCloud, cell: string): readonly string[] {
  return [
    'bootstrap',
    'configure-network',
    'validate-network',
    'install-os',
    'configure-os',
    'ssh-known-hosts',
    'run-os',
    'reboot-os',
    'install-certs',
    ...(cloud.from.file.ceph ? ['ceph-client'] : []),
    'ovn',
    'neutron-metadata',
    'libvirt',
    novaServiceName(cell),
  ]
}

export function renderDataPlane(plan: Plan, cloud: PlannedCloud): readonly KubeObject[] {
  const hosts = cloud.from.file.hosts ?? []
  // The 2023 release has the Role/Node API instead, which Stackloom's own controllers serve.
  if (hosts.length === 0 || detectEra(plan.slots) === '2023') return []
  const cells = groupHostsByCell(cloud, hosts)
  const objects = [
    ...cells.flatMap(([cell]) => novaService(cloud, cell)),
    ...cells.map(([cell, cellHosts]) => nodeSet(plan, cloud, cell, cellHosts)),
  ]
  return [...objects, deployment(cloud, objects)].map((object) =>
    addOwnershipLabels(object, { site: plan.site, cloud: cloud.name }),
  )
}

function groupHostsByCell(
  cloud: PlannedCloud,
  hosts: readonly Host[],
): readonly (readonly [string, readonly Host[]])[] {
  const byCell = new Map<string, Host[]>()
  for (const host of hosts) {
    const cell = hostCell(cloud.from, host)
    byCell.set(cell, [...(byCell.get(cell) ?? []), host])
  }
  return [...byCell]
}

/** nova-compute of one cell: the built-in service is for cell1 only. */
function novaService(cloud: PlannedCloud, cell: string): readonly KubeObject[] {
  const { ceph } = cloud.from.file
  const migration = cloud.from.file.dataPlane?.migrationSecret ?? MIGRATION_SECRET
  const service = {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneService',
    metadata: { name: novaServiceName(cell), namespace: cloud.namespace },
    spec: {
      edpmServiceType: 'nova',
      playbook: 'osp.edpm.nova',
      caCerts: 'combined-ca-bundle',
      tlsCerts: {
        default: { contents: ['dnsnames', 'ips'], networks: ['ctlplane'], issuer: 'osp-rootca-issuer-internal' },
      },
      dataSources: [
        { secretRef: { name: `nova-${cell}-compute-config` } },
        { secretRef: { name: migration } },
        ...(ceph ? [{ configMapRef: { name: CEPH_NOVA } }] : []),
      ],
    },
  }
  return ceph ? [cephNova(cloud, ceph), service] : [service]
}

function novaServiceName(cell: string): string {
  return `nova-${cell}`
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

function nodeSet(plan: Plan, cloud: PlannedCloud, cell: string, hosts: readonly Host[]): KubeObject {
  const dataPlane = cloud.from.file.dataPlane ?? {}
  const networks = cloud.networks.filter((network) => network.hosts.length > 0)
  const spec = {
    preProvisioned: dataPlane.preProvisioned ?? true,
    networkAttachments: ['ctlplane'],
    services: dataPlane.services ?? defaultServices(cloud, cell),
    nodeTemplate: {
      ansibleSSHPrivateKeySecret: dataPlane.sshSecret ?? SSH_SECRET,
      managementNetwork: 'ctlplane',
      ansible: {
        ansibleUser: dataPlane.ansibleUser ?? 'cloud-admin',
        ansibleVars: ansibleVars(plan, cloud, dataPlane, networks),
      },
      ...(cloud.from.file.ceph && { extraMounts: cephOnHosts(cloud.from.file.ceph.secret) }),
    },
    nodes: Object.fromEntries(hosts.map((host) => [host.name, renderNode(host, networks)])),
  }
  return {
    apiVersion: DATA_PLANE,
    kind: 'OpenStackDataPlaneNodeSet',
    metadata: { name: `edpm-${cell}`, namespace: cloud.namespace },
    spec: mergePatch(spec, cloud.from.file.overrides?.nodeSet),
  }
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
  dataPlane: DataPlane,
  networks: readonly PlannedNetwork[],
): Fields {
  const { registry } = dataPlane
  const bridge = 'br-ex'
  const nic = dataPlane.nic ?? 'nic1'
  const vars = {
    edpm_network_config_template: osNetConfigTemplate(networks, nic, bridge),
    neutron_physical_bridge_name: bridge,
    neutron_public_interface_name: nic,
    timesync_ntp_servers: (dataPlane.ntp ?? []).map((hostname) => ({ hostname })),
    dns_search_domains: networks.map((network) => network.dnsDomain),
    ctlplane_dns_nameservers: hostDns(plan, cloud),
    edpm_sshd_allowed_ranges: sshRanges(cloud),
    ...(registry?.url !== undefined && { registry_url: registry.url }),
    ...(registry?.prefix !== undefined && { image_prefix: registry.prefix }),
    ...(registry?.tag !== undefined && { image_tag: registry.tag }),
  }
  return mergePatch(vars, dataPlane.ansibleVars)
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

function renderNode(host: Host, networks: readonly PlannedNetwork[]): Fields {
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
