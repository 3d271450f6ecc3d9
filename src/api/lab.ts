/**
 * The Lab kind: a production-like OpenStack on one machine, as a person writes it. Shape only.
 *
 * Defaults are `lab/`'s, judgement is `lab/check/`'s. Every field says what it is for: editors show it. Written with
 * zod's small interface: a schema of the other one takes longer to make than the whole lab to check.
 */
import * as z from 'zod/mini'

/** A field that must be there. It has a copy of its type: others have the same, and say something else. */
const field = <T extends z.ZodMiniType>(type: T, use: string): T => described(type.clone(), use)

const optional = <T extends z.ZodMiniType>(type: T, use: string): z.ZodMiniOptional<T> =>
  described(z.optional(type), use)

function described<T extends z.ZodMiniType>(type: T, description: string): T {
  z.globalRegistry.add(type, { description })
  return type
}

const text = z.string().check(z.minLength(1))
const address = field(text, 'an IPv4 address, such as 192.168.105.250')
const size = z.string().check(z.regex(/^[1-9]\d{0,5}(GiB|GB)$/, 'a size in whole gibibytes, such as 32GiB'))
const raw = z.record(z.string(), z.unknown())
const wholeFrom = (least: number) => z.int().check(z.minimum(least))

export const nodeRoles = ['control', 'network', 'monitoring', 'compute', 'storage', 'ceph-mon'] as const
export const networkNames = ['management', 'tunnel', 'external', 'storage'] as const

const network = z.strictObject({
  mode: optional(z.enum(['shared', 'host']), 'shared: NAT to the internet; host: isolated'),
  subnet: field(text, 'its addresses in CIDR form, such as 10.0.1.0/24'),
  gateway: optional(address, 'the address of the host on it; the first one by default'),
  dhcpEnd: optional(address, 'last address that macOS gives out by DHCP; the ninth of the subnet by default'),
  attached: optional(z.array(z.enum(nodeRoles)), 'the roles whose nodes are on it; document 004 decides by default'),
  interface: optional(text, 'name of the interface in the nodes, at most 15 characters'),
  vipInterface: optional(text, 'external only: the second NIC, which carries the external VIP; vip0 by default'),
  floating: optional(text, 'external only: the range of floating addresses, such as 10.0.2.150-10.0.2.199'),
})

const node = z.strictObject({
  name: field(text, 'its name and hostname, such as node1'),
  roles: field(z.array(z.enum(nodeRoles)).check(z.minLength(1)), 'what it does: the top groups of the inventory'),
  cpus: field(wholeFrom(1), 'virtual CPUs'),
  memory: field(size, 'its RAM'),
  disk: field(size, 'its operating system disk, which a replacement makes anew'),
  disks: optional(
    z.strictObject({
      lvm: optional(size, 'for the volume group cinder-volumes'),
      osd: optional(size, 'for a Ceph OSD; raw, from the start'),
      state: optional(size, 'for /var/lib/docker: it outlives a replacement of the VM'),
    }),
    'data disks: they are kept when the VM is replaced',
  ),
  host: optional(wholeFrom(2).check(z.maximum(254)), 'the last part of its addresses; 11 for node1'),
  addresses: optional(
    z.record(z.string(), address),
    'pinned addresses, by network; on the external one it is the address of the VIP interface',
  ),
})

const image = z.strictObject({
  date: optional(
    z.string().check(z.regex(/^\d{8}$/, 'the date of a release such as 20260705')),
    'the dated release of the Ubuntu 24.04 cloud image',
  ),
  sha256: optional(z.string().check(z.regex(/^[0-9a-f]{64}$/, 'a SHA-256 in 64 hexadecimal digits')), 'its checksum'),
  fallback: optional(
    z.boolean(),
    'dated images vanish after some months: then the current one is used; true by default',
  ),
  path: optional(text, 'an image on this machine instead, such as one built by Packer'),
})

const acceptance = z.strictObject({
  code: field(text, 'the code of the finding, such as SL8103'),
  where: optional(text, 'a word of the finding: a node, a network, an address'),
  reason: field(text, 'why it is fine'),
})

const host = z.strictObject({
  cores: field(wholeFrom(1), 'CPU cores of this machine'),
  memory: field(size, 'RAM of this machine'),
  disk: field(size, 'free disk space for the lab'),
  reserve: optional(
    z.strictObject({
      memory: optional(size, 'RAM for the host itself'),
      disk: optional(size, 'disk space for the host itself'),
    }),
    'what the host keeps for itself; 16GiB and 30GiB by default',
  ),
  storage: optional(text, 'a folder for all disks, such as one on an external drive'),
})

const openstack = z.strictObject({
  release: optional(z.enum(['2025.2']), 'the OpenStack release'),
  globals: optional(raw, 'more variables for globals.yml, merged last'),
  hostVars: optional(z.record(z.string(), raw), 'more variables of single nodes'),
  config: optional(z.record(z.string(), text), 'more files below kolla/config/, by path: text that the services merge'),
})

const vm = z.strictObject({
  type: optional(z.enum(['qemu']), 'the hypervisor: snapshots and vmnet need qemu'),
  arch: optional(z.enum(['aarch64', 'x86_64']), 'the architecture of this machine'),
  image: optional(image, 'the Ubuntu 24.04 image of the nodes'),
  user: optional(text, 'the user that Ansible logs in as; kolla by default'),
})

const containers = z.strictObject({
  base: optional(z.enum(['debian', 'ubuntu']), 'the distribution inside the containers'),
  build: optional(
    z.union([z.literal('all'), z.array(text).check(z.minLength(1))]),
    'images to build with kolla-build: all, or names such as nova-compute',
  ),
  registry: optional(text, 'the registry that holds built images, host:port'),
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
  routerId: optional(z.int(), "keepalived's virtual router id; 51 by default"),
})

const tls = z.union([
  z.boolean(),
  z.strictObject({
    internal: optional(z.boolean(), 'on the internal VIP'),
    external: optional(z.boolean(), 'on the external VIP'),
    backend: optional(z.boolean(), 'between the load balancer and the services'),
  }),
])

const terraform = z.strictObject({
  tenantSubnet: optional(text, 'the subnet of the demo network'),
  image: optional(
    z.strictObject({
      name: field(text, 'its name in Glance'),
      file: field(text, 'a qcow2 file below terraform/openstack, an absolute path, or a URL'),
    }),
    'the image that instances start from: a name and a qcow2 file',
  ),
  flavors: optional(
    z.array(
      z.strictObject({
        name: field(text, 'its name'),
        vcpus: field(wholeFrom(1), 'virtual CPUs'),
        ram: field(wholeFrom(64), 'MiB'),
        disk: field(wholeFrom(0), 'GB'),
      }),
    ),
    'the sizes of instances',
  ),
})

const spec = z.strictObject({
  host: field(host, 'the budget'),
  openstack: optional(openstack, 'what Kolla-Ansible deploys'),
  vm: optional(vm, 'what the VMs are made of'),
  containers: optional(containers, 'the container images of the services'),
  networks: field(networks, 'the four networks'),
  vips: field(vips, 'the addresses of the APIs'),
  nodes: field(z.array(node).check(z.minLength(1)), 'the VMs'),
  storage: optional(
    z.strictObject({
      phase: optional(z.enum(['lvm', 'ceph', 'both']), 'lvm first; both for migration'),
    }),
    'where volumes, images and instances are kept',
  ),
  tls: optional(tls, 'everywhere by default'),
  monitoring: optional(
    z.strictObject({
      prometheus: optional(z.boolean(), 'collects figures'),
      grafana: optional(z.boolean(), 'shows them'),
    }),
    'both by default',
  ),
  logging: optional(z.enum(['none', 'opensearch']), 'central logging; none by default'),
  dns: optional(
    z.strictObject({
      domain: optional(text, 'openstack.local by default'),
      forwarders: optional(z.array(address), 'who answers for the rest of the world'),
    }),
    'names of the lab, answered by BIND on the first controller',
  ),
  terraform: optional(terraform, 'what exists in the cloud after its deployment'),
  accept: optional(z.array(acceptance), 'findings that are fine here, with the reason'),
})

export const labSchema = z.strictObject({
  apiVersion: field(z.literal('stackloom.dev/v1alpha1'), 'the version of this format'),
  kind: field(z.literal('Lab'), 'always Lab'),
  metadata: field(
    z.strictObject({ name: field(text, 'the name of the lab: part of VM, disk and network names') }),
    'who the lab is',
  ),
  spec: field(spec, 'the machine, the VMs, the networks and what runs in them'),
})

export type LabFile = z.infer<typeof labSchema>
export type NodeRole = (typeof nodeRoles)[number]
export type NetworkName = (typeof networkNames)[number]
