/**
 * Defines the schema of the lab file. Defaults are resolved in `lab/`, and values are checked in `lab/check/`.
 *
 * It uses zod/mini, because a schema of full zod takes longer to build than a lab takes to check.
 */
import * as z from 'zod/mini'

/** For editors and the reference page. */
interface FieldMeta {
  readonly default?: unknown
  readonly examples?: readonly unknown[]
  /** The kind of known names that the keys of a mapping, or a text, may be. */
  readonly names?: string
  readonly minimum?: number
  readonly maximum?: number
}

/** A required field. The type is cloned, because other fields use the same type with other descriptions. */
const field = <T extends z.ZodMiniType>(type: T, description: string, meta: FieldMeta = {}): T =>
  described(type.clone(), description, meta)

const optional = <T extends z.ZodMiniType>(type: T, description: string, meta: FieldMeta = {}): z.ZodMiniOptional<T> =>
  described(z.optional(type), description, meta)

function described<T extends z.ZodMiniType>(type: T, description: string, meta: FieldMeta): T {
  z.globalRegistry.add(type, { description, ...meta } as z.core.GlobalMeta)
  return type
}

// The findings of `lab/check/` can be accepted in the lab file, those of the schema cannot. So the schema refuses every
// character that has a meaning in a shell, in ssh_config, in HCL or in a path.
const fileText = z.string().check(z.minLength(1))
const text = fileText.check(z.regex(/^\P{Cc}+$/u, 'a text without control characters'))
const name = z.string().check(z.regex(/^[A-Za-z0-9][\w-]*$/, 'a name of letters, digits and dashes'))
const domainName = z.string().check(z.regex(/^[A-Za-z0-9][\w.-]*$/, 'a domain such as openstack.internal'))
const interfaceName = z.string().check(z.regex(/^[\w.-]+$/, 'the name of an interface, such as mgmt0'))
const address = field(
  z.string().check(z.regex(/^[\da-fA-F.:]+$/, 'an IPv4 address, such as 192.168.105.250')),
  'an IPv4 address, such as 192.168.105.250',
)
const subnet = z.string().check(z.regex(/^[\da-fA-F.:/]+$/, 'a subnet such as 10.0.1.0/24'))
const range = z.string().check(z.regex(/^[\da-fA-F.: -]+$/, 'a range such as 10.0.2.150-10.0.2.199'))
const userName = z.string().check(z.regex(/^[a-z_][a-z0-9_-]{0,31}$/, 'the name of a Linux user, such as kolla'))
const registryAddress = z.string().check(z.regex(/^[A-Za-z0-9][\w.-]*(:\d{1,5})?$/, 'host:port of a registry'))
const imageName = z.string().check(z.regex(/^[a-z0-9][\w.-]*$/, 'the name of an image, such as nova-compute'))
const configPath = z
  .string()
  .check(
    z.regex(
      /^(?!\.\.?(\/|$))[\w.@+-]+(\/(?!\.\.?(\/|$))[\w.@+-]+)*$/,
      'a path below kolla/config, such as nova/nova-compute.conf',
    ),
  )
/** Relative paths stay below terraform/openstack. */
const imageFile = z
  .string()
  .check(z.regex(/^(?!(.*\/)?\.\.(\/|$))\P{Cc}+$/u, 'a file below terraform/openstack, an absolute path, or a URL'))
const size = z.string().check(z.regex(/^[1-9]\d{0,5}(GiB|GB)$/, 'a size in whole gibibytes, such as 32GiB'))
const raw = z.record(z.string(), z.unknown())
const integerFrom = (minimum: number) => z.int().check(z.minimum(minimum))

const nodeRoles = ['control', 'network', 'monitoring', 'compute', 'storage', 'ceph-mon'] as const
export const networkNames = ['management', 'tunnel', 'external', 'storage'] as const

const network = z.strictObject({
  mode: optional(z.enum(['shared', 'host']), 'shared: NAT to the internet; host: isolated'),
  subnet: field(subnet, 'subnet in CIDR form, such as 10.0.1.0/24', { examples: ['10.0.1.0/24'] }),
  gateway: optional(address, 'address of the host; the first of the subnet by default'),
  dhcpEnd: optional(address, 'last address that macOS assigns by DHCP; the ninth of the subnet by default'),
  attached: optional(z.array(z.enum(nodeRoles)), 'roles whose nodes are attached'),
  interface: optional(interfaceName, 'name of the interface in the nodes, at most 15 characters'),
  vipInterface: optional(interfaceName, 'external only: the second NIC, which has the external VIP; vip0 by default', {
    default: 'vip0',
  }),
  floating: optional(range, 'external only: the range of floating addresses, such as 10.0.2.150-10.0.2.199', {
    examples: ['10.0.2.150-10.0.2.199'],
  }),
})

const node = z.strictObject({
  name: field(name, 'name and hostname, such as node1', { examples: ['node1'] }),
  roles: field(z.array(z.enum(nodeRoles)).check(z.minLength(1)), 'top groups of the inventory'),
  cpus: field(integerFrom(1), 'virtual CPUs', { examples: [4] }),
  memory: field(size, 'RAM', { examples: ['16GiB'] }),
  disk: field(size, 'operating system disk; a replacement of the VM deletes it', { examples: ['40GiB'] }),
  disks: optional(
    z.strictObject({
      lvm: optional(size, 'for the volume group cinder-volumes'),
      osd: optional(size, 'for a Ceph OSD; unformatted'),
      state: optional(size, 'for /var/lib/docker, so that a replacement of the VM keeps it'),
    }),
    'data disks, which are kept when the VM is replaced',
  ),
  host: optional(integerFrom(2).check(z.maximum(254)), 'last part of the addresses; 11 for node1', { examples: [11] }),
  addresses: optional(
    z.record(z.string(), address),
    'pinned addresses by network; for external, the address of the VIP interface',
    { names: 'network' },
  ),
})

const image = z.strictObject({
  date: optional(
    z.string().check(z.regex(/^\d{8}$/, 'the date of a release such as 20260705')),
    'dated release of the Ubuntu 24.04 cloud image',
  ),
  sha256: optional(
    z.string().check(z.regex(/^[0-9a-f]{64}$/, 'a SHA-256 in 64 hexadecimal digits')),
    'checksum of the image',
  ),
  fallback: optional(z.boolean(), 'use the current image when the dated one no longer exists; true by default', {
    default: true,
  }),
  path: optional(text, 'an image on this machine, such as one built with Packer'),
})

const acceptance = z.strictObject({
  code: field(text, 'code of the finding, such as SL8103', { examples: ['SL8103'] }),
  where: optional(text, 'a word of the finding: a node, a network, an address'),
  reason: field(text, 'why the finding is acceptable'),
})

const host = z.strictObject({
  cores: field(integerFrom(1), 'CPU cores of this machine'),
  memory: field(size, 'RAM of this machine'),
  disk: field(size, 'free disk space for the lab'),
  reserve: optional(
    z.strictObject({
      memory: optional(size, 'RAM for the host', { default: '16GiB' }),
      disk: optional(size, 'disk space for the host', { default: '30GiB' }),
    }),
    'reserved for the host; 16GiB and 30GiB by default',
  ),
  storage: optional(text, 'a folder for all disks, such as one on an external drive'),
})

const openstack = z.strictObject({
  release: optional(z.enum(['2025.2']), 'OpenStack release', { default: '2025.2' }),
  globals: optional(raw, 'variables for globals.yml, merged last'),
  hostVars: optional(z.record(z.string(), raw), 'variables of single nodes'),
  config: optional(z.record(configPath, fileText), 'files below kolla/config/ by path, which the services merge'),
})

const vm = z.strictObject({
  type: optional(z.enum(['qemu']), 'hypervisor; snapshots and vmnet need qemu', { default: 'qemu' }),
  arch: optional(z.enum(['aarch64', 'x86_64']), 'architecture of this machine', { default: 'aarch64' }),
  image: optional(image, 'Ubuntu 24.04 image of the nodes'),
  user: optional(userName, 'user of Ansible; kolla by default', { default: 'kolla' }),
})

const containers = z.strictObject({
  base: optional(z.enum(['debian', 'ubuntu']), 'distribution of the container images', { default: 'debian' }),
  build: optional(
    z.union([z.literal('all'), z.array(imageName).check(z.minLength(1))]),
    'images to build with kolla-build: all, or names such as nova-compute',
  ),
  registry: optional(registryAddress, 'registry of the built images, host:port'),
})

const networks = z.strictObject({
  management: field(network, 'APIs, database, queue, SSH, internet'),
  tunnel: field(network, 'traffic between instances'),
  external: field(network, 'floating addresses: a raw port for OVN, and the external VIP'),
  storage: field(network, 'iSCSI and Ceph'),
})

const vips = z.strictObject({
  internal: field(address, 'kolla_internal_vip_address, in the management network'),
  external: field(address, 'kolla_external_vip_address, in the external network'),
  routerId: optional(z.int(), "keepalived's virtual router id; 51 by default", {
    default: 51,
    minimum: 1,
    maximum: 255,
  }),
})

const tls = z.union([
  z.boolean(),
  z.strictObject({
    internal: optional(z.boolean(), 'on the internal VIP', { default: true }),
    external: optional(z.boolean(), 'on the external VIP', { default: true }),
    backend: optional(z.boolean(), 'between the load balancer and the services', { default: true }),
  }),
])

const terraform = z.strictObject({
  tenantSubnet: optional(subnet, 'subnet of the demo network', { default: '10.10.0.0/24' }),
  image: optional(
    z.strictObject({
      name: field(text, 'name in Glance'),
      file: field(imageFile, 'a qcow2 file below terraform/openstack, an absolute path, or a URL'),
    }),
    'image of the instances: a name and a qcow2 file',
  ),
  flavors: optional(
    z.array(
      z.strictObject({
        name: field(text, 'name'),
        vcpus: field(integerFrom(1), 'virtual CPUs'),
        ram: field(integerFrom(64), 'MiB'),
        disk: field(integerFrom(0), 'GB'),
      }),
    ),
    'sizes of instances',
  ),
})

const spec = z.strictObject({
  host: field(host, 'resources of this machine'),
  openstack: optional(openstack, 'what Kolla-Ansible deploys'),
  vm: optional(vm, 'hypervisor, architecture and image of the VMs'),
  containers: optional(containers, 'container images of the services'),
  networks: field(networks, 'the four networks'),
  vips: field(vips, 'addresses of the APIs'),
  nodes: field(z.array(node).check(z.minLength(1)), 'the VMs'),
  storage: optional(
    z.strictObject({
      phase: optional(z.enum(['lvm', 'ceph', 'both']), 'storage backends; both to migrate from LVM to Ceph', {
        default: 'lvm',
      }),
    }),
    'storage of volumes, images and instances',
  ),
  tls: optional(tls, 'TLS; enabled everywhere by default', { default: true }),
  monitoring: optional(
    z.strictObject({
      prometheus: optional(z.boolean(), 'collects metrics', { default: true }),
      grafana: optional(z.boolean(), 'shows dashboards', { default: true }),
    }),
    'monitoring; both by default',
  ),
  logging: optional(z.enum(['none', 'opensearch']), 'central logging; none by default', { default: 'none' }),
  dns: optional(
    z.strictObject({
      domain: optional(domainName, 'openstack.local by default', { default: 'openstack.local' }),
      forwarders: optional(z.array(address), 'DNS servers for all other names'),
    }),
    'DNS of the lab, served by BIND on the first controller',
  ),
  terraform: optional(terraform, 'resources of the cloud after its deployment'),
  accept: optional(z.array(acceptance), 'accepted findings, with the reason'),
})

export const labSchema = z.strictObject({
  apiVersion: field(z.literal('stackloom.dev/v1alpha1'), 'version of this format'),
  kind: field(z.literal('Lab'), 'always Lab'),
  metadata: field(
    z.strictObject({ name: field(name, 'name of the lab, which VM, disk and network names contain') }),
    'name of the lab',
  ),
  spec: field(spec, 'the host, the VMs, the networks and the services'),
})

export type LabFile = z.infer<typeof labSchema>
export type NodeRole = (typeof nodeRoles)[number]
export type NetworkName = (typeof networkNames)[number]
