/**
 * Resolves the defaults of a lab file.
 *
 * Pure. It never throws: an address that cannot be parsed is kept as written, for the checks to report.
 */
import { createHash } from 'node:crypto'
import { type LabFile, type NetworkName, type NodeRole, networkNames } from '../api/lab.ts'
import { formatValue } from '../net/address.ts'
import { parseCidr } from '../net/cidr.ts'
import {
  cirrosFile,
  type HostBudget,
  type Lab,
  type LabDisk,
  type LabNetwork,
  type LabNic,
  type LabNode,
  type TerraformSettings,
  type VmImage,
} from './lab.ts'

type Spec = LabFile['spec']
type NodeFile = Spec['nodes'][number]

/** The image that Lima 2.2.0 pins, with its checksum. */
const UBUNTU: Readonly<Record<Lab['arch'], { readonly date: string; readonly sha256: string | undefined }>> = {
  aarch64: { date: '20260705', sha256: '7df0201546f75b8bcc1044594c806c35749421ad3c9bc1be2a3ab806cfae39cc' },
  x86_64: { date: '20260705', sha256: undefined },
}

interface NetworkDefaults {
  readonly lima: string
  readonly mode: 'shared' | 'host'
  readonly interface: string
  readonly attached: readonly NodeRole[]
}

const NETWORKS: Readonly<Record<NetworkName, NetworkDefaults>> = {
  management: {
    lima: 'mgmt',
    mode: 'shared',
    interface: 'mgmt0',
    attached: ['control', 'network', 'monitoring', 'compute', 'storage', 'ceph-mon'],
  },
  tunnel: { lima: 'tunnel', mode: 'host', interface: 'tun0', attached: ['network', 'compute'] },
  // NAT to the internet: instances leave the lab through their router.
  external: { lima: 'external', mode: 'shared', interface: 'ext0', attached: ['network'] },
  storage: {
    lima: 'storage',
    mode: 'host',
    interface: 'stor0',
    attached: ['control', 'compute', 'storage', 'ceph-mon'],
  },
}

export function resolveLab(file: LabFile): Lab {
  const { spec } = file
  const name = file.metadata.name
  const networks = Object.fromEntries(
    networkNames.map((networkName) => [networkName, resolveNetwork(name, networkName, spec.networks[networkName])]),
  ) as Record<NetworkName, LabNetwork>
  const arch = spec.vm?.arch ?? 'aarch64'
  const { gateway } = networks.management
  return {
    name,
    host: resolveHost(spec.host),
    arch,
    image: resolveImage(arch, spec.vm?.image),
    user: spec.vm?.user ?? 'kolla',
    containers: resolveContainers(arch, spec.containers, gateway),
    networks,
    vips: { ...spec.vips, routerId: spec.vips.routerId ?? 51 },
    nodes: spec.nodes.map((node, index) => resolveNode(name, node, index, networks)),
    storage: spec.storage?.phase ?? 'lvm',
    tls: resolveTls(spec.tls ?? true),
    monitoring: resolveMonitoring(spec.monitoring),
    logging: spec.logging ?? 'none',
    dns: resolveDns(spec.dns, gateway),
    terraform: resolveTerraform(arch, spec.terraform),
    ...resolveOpenstack(spec.openstack),
  }
}

function resolveMonitoring(file: Spec['monitoring']): Lab['monitoring'] {
  const { prometheus = true, grafana = true } = file ?? {}
  return { prometheus, grafana }
}

function resolveDns(file: Spec['dns'], gateway: string): Lab['dns'] {
  const { domain = 'openstack.local', forwarders = [gateway] } = file ?? {}
  return { domain, forwarders }
}

function resolveOpenstack(file: Spec['openstack']): Pick<Lab, 'release' | 'overrides'> {
  const { release = '2025.2', globals = {}, hostVars = {}, config = {} } = file ?? {}
  return { release, overrides: { globals, hostVars, config } }
}

function resolveHost({ cores, memory, disk, reserve, storage }: Spec['host']): HostBudget {
  return {
    cores,
    memory: parseGiB(memory),
    disk: parseGiB(disk),
    reserve: { memory: parseGiB(reserve?.memory ?? '16GiB'), disk: parseGiB(reserve?.disk ?? '30GiB') },
    storage,
  }
}

function resolveContainers(arch: Lab['arch'], file: Spec['containers'], gateway: string): Lab['containers'] {
  const { base = 'debian', registry } = file ?? {}
  // Upstream publishes no Ubuntu images of this release for aarch64, so they are built, unless a registry has them.
  const unpublished = base === 'ubuntu' && arch === 'aarch64' && registry === undefined
  const build = file?.build ?? (unpublished ? 'all' : undefined)
  return { base, build, registry: registry ?? (build ? `${gateway}:4000` : undefined) }
}

function resolveTls(file: NonNullable<Spec['tls']>): Lab['tls'] {
  if (typeof file === 'boolean') return { internal: file, external: file, backend: file }
  const { internal = true, external = true, backend = true } = file
  return { internal, external, backend }
}

function parseGiB(size: string): number {
  return Number.parseInt(size, 10)
}

function resolveImage(arch: Lab['arch'], file: NonNullable<Spec['vm']>['image']): VmImage {
  if (file?.path !== undefined) return { kind: 'path', path: file.path, sha256: file.sha256 }
  const known = UBUNTU[arch]
  const date = file?.date ?? known.date
  const sha256 = file?.sha256 ?? (date === known.date ? known.sha256 : undefined)
  return { kind: 'ubuntu', date, sha256, fallback: file?.fallback ?? true }
}

function resolveNetwork(lab: string, name: NetworkName, file: Spec['networks'][NetworkName]): LabNetwork {
  const defaults = NETWORKS[name]
  return {
    name,
    lima: `${lab}-${defaults.lima}`,
    mode: file.mode ?? defaults.mode,
    subnet: file.subnet,
    gateway: file.gateway ?? nthAddress(file.subnet, 1),
    dhcpEnd: file.dhcpEnd ?? nthAddress(file.subnet, 9),
    attached: file.attached ?? defaults.attached,
    interface: file.interface ?? defaults.interface,
    vipInterface: file.vipInterface ?? 'vip0',
    floating: file.floating ?? `${nthAddress(file.subnet, 150)}-${nthAddress(file.subnet, 199)}`,
  }
}

/** Returns an empty string when the subnet cannot be parsed. */
function nthAddress(subnet: string, nth: number): string {
  const network = parseCidr(subnet)
  return network ? formatValue(network.family, network.base + BigInt(nth)) : ''
}

function resolveNode(
  lab: string,
  file: NodeFile,
  index: number,
  networks: Readonly<Record<NetworkName, LabNetwork>>,
): LabNode {
  const number = file.host ?? 10 + Number(/(\d{1,2})$/.exec(file.name)?.[1] ?? index + 1)
  const nics = networkNames.flatMap((name, position) => resolveNics(lab, file, number, networks[name], position))
  return {
    name: file.name,
    instance: `${lab}-${file.name}`,
    file: `${file.name}-${fileSuffix(file.roles)}`,
    roles: file.roles,
    cpus: file.cpus,
    memory: parseGiB(file.memory),
    disk: parseGiB(file.disk),
    disks: resolveDisks(lab, file),
    nics,
    address: nics.find((nic) => nic.network === 'management')?.address ?? '',
  }
}

/** `node1-controller.yaml`, `node2-compute.yaml`. */
function fileSuffix(roles: readonly NodeRole[]): string {
  if (roles.includes('control')) return 'controller'
  return roles.find((role) => role !== 'monitoring' && role !== 'ceph-mon') ?? roles[0] ?? 'node'
}

function resolveDisks(lab: string, { name, disks = {} }: NodeFile): readonly LabDisk[] {
  const uses = (['lvm', 'osd', 'state'] as const).filter((use) => disks[use] !== undefined)
  return uses.map((use, index) => ({
    use,
    name: `${lab}-${name}-${use}`,
    size: parseGiB(disks[use] ?? '0'),
    device: `/dev/vd${'bcd'[index]}`,
  }))
}

function resolveNics(
  lab: string,
  file: NodeFile,
  number: number,
  network: LabNetwork,
  networkIndex: number,
): readonly LabNic[] {
  if (!file.roles.some((role) => network.attached.includes(role))) return []
  const prefix = parseCidr(network.subnet)?.prefix ?? 24
  const address = file.addresses?.[network.name] ?? nthAddress(network.subnet, number)
  const nic = (name: string, offset: number, nicAddress: string | undefined): LabNic => ({
    network: network.name,
    interface: name,
    mac: macAddress(lab, number, networkIndex * 2 + offset),
    address: nicAddress,
    prefix,
  })
  if (network.name !== 'external') return [nic(network.interface, 0, address)]
  // The raw port is a member of br-ex and must have no address, so the VIP is on a second NIC.
  const raw = nic(network.interface, 0, file.addresses?.[network.interface])
  if (network.vipInterface === network.interface) return [raw]
  return [raw, nic(network.vipInterface, 1, address)]
}

/** The same on every machine; Lima's default depends on the machine and the path. */
function macAddress(lab: string, number: number, index: number): string {
  const labByte = createHash('sha256').update(lab).digest().readUInt8(0)
  const byte = (value: number): string => value.toString(16).padStart(2, '0')
  return `52:55:55:${byte(labByte)}:${byte(number % 256)}:${byte(index)}`
}

function resolveTerraform(arch: Lab['arch'], file: Spec['terraform']): TerraformSettings {
  return {
    tenantSubnet: file?.tenantSubnet ?? '10.10.0.0/24',
    image: file?.image ?? { name: 'cirros', file: cirrosFile(arch) },
    flavors: file?.flavors ?? [
      { name: 'm1.tiny', vcpus: 1, ram: 512, disk: 1 },
      { name: 'm1.small', vcpus: 1, ram: 2048, disk: 10 },
    ],
  }
}
