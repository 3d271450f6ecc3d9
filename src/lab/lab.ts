/**
 * Defines a lab with every default resolved, which all renderers, checks and stages read.
 *
 * Plain data. Sizes are in whole GiB. An address that cannot be parsed is kept as written, for the checks to report.
 */
import type { NetworkName, NodeRole } from '../api/lab.ts'

export type Arch = 'aarch64' | 'x86_64'
export type StoragePhase = 'lvm' | 'ceph' | 'both'

export interface Lab {
  readonly name: string
  readonly host: HostBudget
  readonly release: string
  readonly arch: Arch
  readonly image: VmImage
  readonly user: string
  readonly containers: {
    readonly base: 'debian' | 'ubuntu'
    readonly build: 'all' | readonly string[] | undefined
    readonly registry: string | undefined
  }
  readonly networks: Readonly<Record<NetworkName, LabNetwork>>
  readonly vips: { readonly internal: string; readonly external: string; readonly routerId: number }
  readonly nodes: readonly LabNode[]
  readonly storage: StoragePhase
  readonly tls: { readonly internal: boolean; readonly external: boolean; readonly backend: boolean }
  readonly monitoring: { readonly prometheus: boolean; readonly grafana: boolean }
  readonly logging: 'none' | 'opensearch'
  readonly dns: { readonly domain: string; readonly forwarders: readonly string[] }
  readonly terraform: TerraformSettings
  readonly overrides: {
    readonly globals: Readonly<Record<string, unknown>>
    readonly hostVars: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly config: Readonly<Record<string, string>>
  }
}

export interface HostBudget {
  readonly cores: number
  readonly memory: number
  readonly disk: number
  readonly reserve: { readonly memory: number; readonly disk: number }
  readonly storage: string | undefined
}

export type VmImage =
  | {
      readonly kind: 'ubuntu'
      readonly date: string
      readonly sha256: string | undefined
      readonly fallback: boolean
    }
  | { readonly kind: 'path'; readonly path: string; readonly sha256: string | undefined }

export interface LabNetwork {
  readonly name: NetworkName
  /** The network's name in Lima. */
  readonly lima: string
  readonly mode: 'shared' | 'host'
  readonly subnet: string
  /** The host's address. The gateway of the management network is the nodes' default route. */
  readonly gateway: string
  readonly dhcpEnd: string
  readonly attached: readonly NodeRole[]
  readonly interface: string
  /** Used by the external network only: its second NIC. */
  readonly vipInterface: string
  readonly floating: string
}

export interface LabNode {
  readonly name: string
  /** The VM's name in Lima. */
  readonly instance: string
  /** Name of its definition in `lima/`, without the extension. */
  readonly file: string
  readonly roles: readonly NodeRole[]
  readonly cpus: number
  readonly memory: number
  readonly disk: number
  readonly disks: readonly LabDisk[]
  readonly nics: readonly LabNic[]
  /** Address on the management network. */
  readonly address: string
}

export type DiskUse = 'lvm' | 'osd' | 'state'

export interface LabDisk {
  readonly use: DiskUse
  /** The disk's name in Lima. */
  readonly name: string
  readonly size: number
  /** `/dev/vdb`: the boot disk is vda, and data disks follow in the order of the definition. */
  readonly device: string
}

export interface LabNic {
  readonly network: NetworkName
  readonly interface: string
  readonly mac: string
  /** Undefined on the raw port. */
  readonly address: string | undefined
  readonly prefix: number
}

export interface TerraformSettings {
  readonly tenantSubnet: string
  readonly image: { readonly name: string; readonly file: string }
  readonly flavors: readonly {
    readonly name: string
    readonly vcpus: number
    readonly ram: number
    readonly disk: number
  }[]
}

export function hasRole(node: LabNode, role: NodeRole): boolean {
  return node.roles.includes(role)
}

export function nodesWithRole(lab: Lab, role: NodeRole): readonly LabNode[] {
  return lab.nodes.filter((node) => hasRole(node, role))
}

export function findNic(node: LabNode, network: NetworkName, name?: string): LabNic | undefined {
  return node.nics.find((nic) => nic.network === network && (name === undefined || nic.interface === name))
}

export function addressOnNetwork(node: LabNode, network: NetworkName): string | undefined {
  return node.nics.find((nic) => nic.network === network && nic.address !== undefined)?.address
}

export function usesLvm({ storage }: Lab): boolean {
  return storage !== 'ceph'
}

export function usesCeph({ storage }: Lab): boolean {
  return storage !== 'lvm'
}

export function usesTls({ tls }: Lab): boolean {
  return tls.internal || tls.external || tls.backend
}

/** kolla-build builds images that upstream does not publish for this architecture or that the lab file lists. */
export function buildsImages({ containers }: Lab): boolean {
  return containers.build !== undefined
}

/** Whether the OS disk holds data that cannot be created again: the database, the queue, Glance's files. */
export function keepsStateOnOsDisk(node: LabNode): boolean {
  return hasRole(node, 'control') && !node.disks.some((disk) => disk.use === 'state')
}

export const internalFqdn = (lab: Lab): string => `internal.${lab.dns.domain}`
export const externalFqdn = (lab: Lab): string => `api.${lab.dns.domain}`

/** The node that runs BIND: the first controller. */
export function dnsNode(lab: Lab): LabNode {
  const node = lab.nodes.find(({ roles }) => roles.includes('control')) ?? lab.nodes[0]
  if (!node) throw new TypeError('a lab has nodes')
  return node
}

/** The nameserver on the external network, which instances reach through their router. */
export function instanceNameserver(lab: Lab): string {
  return addressOnNetwork(dnsNode(lab), 'external') ?? nameserverAddress(lab)
}

/** The default image, below the folder of the Terraform files. */
export function cirrosFile(arch: Arch): string {
  return `images/cirros-${CIRROS_VERSION}-${arch}-disk.img`
}

export const CIRROS_VERSION = '0.6.3'

export function nameserverAddress(lab: Lab): string {
  return dnsNode(lab).address
}
