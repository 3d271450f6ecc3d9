/**
 * From the file to the Lab: document 004's answers, corrected, for everything that the file leaves open.
 *
 * Pure, and never throws: addresses that cannot be read stay as they were written, for the checks to name.
 */
import { createHash } from 'node:crypto'
import type { LabFile, NetworkName, NodeRole } from '../api/lab.ts'
import { networkNames } from '../api/lab.ts'
import { formatValue } from '../net/address.ts'
import { parseCidr } from '../net/cidr.ts'
import type { HostBudget, Lab, LabDisk, LabNetwork, LabNic, LabNode, TerraformSettings, VmImage } from './lab.ts'

type NodeFile = LabFile['spec']['nodes'][number]
type NetworkFile = LabFile['spec']['networks'][NetworkName]

/** The image that Lima 2.2.0 itself pins, so its checksum is known. */
const UBUNTU: Readonly<Record<Lab['arch'], { readonly date: string; readonly sha256: string | undefined }>> = {
  aarch64: {
    date: '20260705',
    sha256: '7df0201546f75b8bcc1044594c806c35749421ad3c9bc1be2a3ab806cfae39cc',
  },
  x86_64: { date: '20260705', sha256: undefined },
}

interface NetworkDefaults {
  readonly lima: string
  readonly mode: 'shared' | 'host'
  readonly interface: string
  readonly attached: readonly NodeRole[]
}

/** Document 004's network table: who is on which. */
const NETWORKS: Readonly<Record<NetworkName, NetworkDefaults>> = {
  management: {
    lima: 'mgmt',
    mode: 'shared',
    interface: 'mgmt0',
    attached: ['control', 'network', 'monitoring', 'compute', 'storage', 'ceph-mon'],
  },
  tunnel: { lima: 'tunnel', mode: 'host', interface: 'tun0', attached: ['network', 'compute'] },
  external: { lima: 'external', mode: 'host', interface: 'ext0', attached: ['network'] },
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
    nodes: spec.nodes.map((node, at) => resolveNode(name, node, at, networks)),
    storage: spec.storage?.phase ?? 'lvm',
    tls: resolveTls(spec.tls ?? true),
    monitoring: resolveMonitoring(spec.monitoring),
    logging: spec.logging ?? 'none',
    dns: resolveDns(spec.dns, gateway),
    terraform: resolveTerraform(arch, spec.terraform),
    ...resolveOpenstack(spec.openstack),
  }
}

function resolveMonitoring(file: LabFile['spec']['monitoring']): Lab['monitoring'] {
  const { prometheus = true, grafana = true } = file ?? {}
  return { prometheus, grafana }
}

function resolveDns(file: LabFile['spec']['dns'], gateway: string): Lab['dns'] {
  const { domain = 'openstack.local', forwarders = [gateway] } = file ?? {}
  return { domain, forwarders }
}

function resolveOpenstack(file: LabFile['spec']['openstack']): Pick<Lab, 'release' | 'overrides'> {
  const { release = '2025.2', globals = {}, hostVars = {}, config = {} } = file ?? {}
  return { release, overrides: { globals, hostVars, config } }
}

function resolveHost({ cores, memory, disk, reserve, storage }: LabFile['spec']['host']): HostBudget {
  return {
    cores,
    memory: parseGiB(memory),
    disk: parseGiB(disk),
    reserve: { memory: parseGiB(reserve?.memory ?? '16GiB'), disk: parseGiB(reserve?.disk ?? '30GiB') },
    storage,
  }
}

function resolveContainers(arch: Lab['arch'], file: LabFile['spec']['containers'], gateway: string): Lab['containers'] {
  const { base = 'debian', registry } = file ?? {}
  // Nobody publishes Ubuntu images of this release for aarch64, so they are built unless a registry is named.
  const unpublished = base === 'ubuntu' && arch === 'aarch64' && registry === undefined
  const build = file?.build ?? (unpublished ? 'all' : undefined)
  return { base, build, registry: registry ?? (build ? `${gateway}:4000` : undefined) }
}

function resolveTls(file: NonNullable<LabFile['spec']['tls']>): Lab['tls'] {
  if (typeof file === 'boolean') return { internal: file, external: file, backend: file }
  const { internal = true, external = true, backend = true } = file
  return { internal, external, backend }
}

function parseGiB(size: string): number {
  return Number.parseInt(size, 10)
}

function resolveImage(arch: Lab['arch'], file: NonNullable<LabFile['spec']['vm']>['image']): VmImage {
  if (file?.path !== undefined) return { kind: 'path', path: file.path, sha256: file.sha256 }
  const known = UBUNTU[arch]
  const date = file?.date ?? known.date
  const sha256 = file?.sha256 ?? (date === known.date ? known.sha256 : undefined)
  return { kind: 'ubuntu', date, sha256, fallback: file?.fallback ?? true }
}

function resolveNetwork(lab: string, name: NetworkName, file: NetworkFile): LabNetwork {
  const usual = NETWORKS[name]
  return {
    name,
    lima: `${lab}-${usual.lima}`,
    mode: file.mode ?? usual.mode,
    subnet: file.subnet,
    gateway: file.gateway ?? nthAddress(file.subnet, 1),
    dhcpEnd: file.dhcpEnd ?? nthAddress(file.subnet, 9),
    attached: file.attached ?? usual.attached,
    interface: file.interface ?? usual.interface,
    vipInterface: file.vipInterface ?? 'vip0',
    floating: file.floating ?? `${nthAddress(file.subnet, 150)}-${nthAddress(file.subnet, 199)}`,
  }
}

/** The nth address of a subnet; what is no subnet has none. */
function nthAddress(subnet: string, nth: number): string {
  const network = parseCidr(subnet)
  return network ? formatValue(network.family, network.base + BigInt(nth)) : ''
}

function resolveNode(
  lab: string,
  file: NodeFile,
  at: number,
  networks: Readonly<Record<NetworkName, LabNetwork>>,
): LabNode {
  const number = file.host ?? 10 + Number(/(\d{1,2})$/.exec(file.name)?.[1] ?? at + 1)
  const nics = networkNames.flatMap((name, index) => resolveNics(lab, file, number, networks[name], index))
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

/** `node1-controller.yaml`: document 004's names of the files. */
function fileSuffix(roles: readonly NodeRole[]): string {
  if (roles.includes('control')) return 'controller'
  return roles.find((role) => role !== 'monitoring' && role !== 'ceph-mon') ?? roles[0] ?? 'node'
}

function resolveDisks(lab: string, { name, disks = {} }: NodeFile): readonly LabDisk[] {
  const uses = (['lvm', 'osd', 'state'] as const).filter((use) => disks[use] !== undefined)
  return uses.map((use, at) => ({
    use,
    name: `${lab}-${name}-${use}`,
    size: parseGiB(disks[use] ?? '0'),
    device: `/dev/vd${'bcd'[at]}`,
  }))
}

function resolveNics(
  lab: string,
  file: NodeFile,
  number: number,
  network: LabNetwork,
  index: number,
): readonly LabNic[] {
  if (!file.roles.some((role) => network.attached.includes(role))) return []
  const prefix = parseCidr(network.subnet)?.prefix ?? 24
  const address = file.addresses?.[network.name] ?? nthAddress(network.subnet, number)
  const nic = (name: string, offset: number, own: string | undefined): LabNic => ({
    network: network.name,
    interface: name,
    mac: macAddress(lab, number, index * 2 + offset),
    address: own,
    prefix,
  })
  if (network.name !== 'external') return [nic(network.interface, 0, address)]
  // The raw port goes into br-ex and must have no address; the VIP lives on a NIC of its own beside it.
  const raw = nic(network.interface, 0, file.addresses?.[network.interface])
  if (network.vipInterface === network.interface) return [raw]
  return [raw, nic(network.vipInterface, 1, address)]
}

/** Lima's own default depends on the machine and the path; these are the same everywhere. */
function macAddress(lab: string, number: number, index: number): string {
  const own = createHash('sha256').update(lab).digest().readUInt8(0)
  const byte = (value: number): string => value.toString(16).padStart(2, '0')
  return `52:55:55:${byte(own)}:${byte(number % 256)}:${byte(index)}`
}

function resolveTerraform(arch: Lab['arch'], file: LabFile['spec']['terraform']): TerraformSettings {
  return {
    tenantSubnet: file?.tenantSubnet ?? '10.10.0.0/24',
    image: file?.image ?? { name: 'cirros', file: `images/cirros-0.6.3-${arch}-disk.img` },
    flavors: file?.flavors ?? [
      { name: 'm1.tiny', vcpus: 1, ram: 512, disk: 1 },
      { name: 'm1.small', vcpus: 1, ram: 2048, disk: 10 },
    ],
  }
}
