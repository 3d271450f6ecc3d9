/**
 * The Lab kind: a production-like OpenStack on one machine, as a person writes it. Shape only.
 *
 * Defaults are `lab/`'s, judgement is `lab/check/`'s. Every field says what it is for: editors show it.
 */
import * as z from 'zod'

const text = z.string().min(1)
const address = text.describe('an IPv4 address, such as 192.168.105.250')
const size = z.string().regex(/^[1-9]\d{0,5}(GiB|GB)$/, 'a size in whole gibibytes, such as 32GiB')
const raw = z.record(z.string(), z.unknown())

export const nodeRoles = ['control', 'network', 'monitoring', 'compute', 'storage', 'ceph-mon'] as const
export const networkNames = ['management', 'tunnel', 'external', 'storage'] as const

const network = z.strictObject({
  mode: z.enum(['shared', 'host']).optional().describe('shared: NAT to the internet; host: isolated'),
  subnet: text.describe('its addresses in CIDR form, such as 10.0.1.0/24'),
  gateway: address.optional().describe('the address of the host on it; the first one by default'),
  dhcpEnd: address
    .optional()
    .describe('last address that macOS gives out by DHCP; the ninth of the subnet by default'),
  attached: z
    .array(z.enum(nodeRoles))
    .optional()
    .describe('the roles whose nodes are on it; document 004 decides by default'),
  interface: text.optional().describe('name of the interface in the nodes, at most 15 characters'),
  vipInterface: text
    .optional()
    .describe('external only: the second NIC, which carries the external VIP; vip0 by default'),
  floating: text
    .optional()
    .describe('external only: the range of floating addresses, such as 10.0.2.150-10.0.2.199'),
})

const node = z.strictObject({
  name: text.describe('its name and hostname, such as node1'),
  roles: z.array(z.enum(nodeRoles)).min(1).describe('what it does: the top groups of the inventory'),
  cpus: z.int().min(1).describe('virtual CPUs'),
  memory: size.describe('its RAM'),
  disk: size.describe('its operating system disk, which a replacement makes anew'),
  disks: z
    .strictObject({
      lvm: size.optional().describe('for the volume group cinder-volumes'),
      osd: size.optional().describe('for a Ceph OSD; raw, from the start'),
      state: size.optional().describe('for /var/lib/docker: it outlives a replacement of the VM'),
    })
    .optional()
    .describe('data disks: they are kept when the VM is replaced'),
  host: z.int().min(2).max(254).optional().describe('the last part of its addresses; 11 for node1'),
  addresses: z
    .record(z.string(), address)
    .optional()
    .describe('pinned addresses, by network; on the external one it is the address of the VIP interface'),
})

const image = z.strictObject({
  date: z
    .string()
    .regex(/^\d{8}$/, 'the date of a release such as 20260705')
    .optional()
    .describe('the dated release of the Ubuntu 24.04 cloud image'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'a SHA-256 in 64 hexadecimal digits')
    .optional()
    .describe('its checksum'),
  fallback: z
    .boolean()
    .optional()
    .describe('dated images vanish after some months: then the current one is used; true by default'),
  path: text.optional().describe('an image on this machine instead, such as one built by Packer'),
})

const acceptance = z.strictObject({
  code: text.describe('the code of the finding, such as SL8103'),
  where: text.optional().describe('a word of the finding: a node, a network, an address'),
  reason: text.describe('why it is fine'),
})

export const labSchema = z.strictObject({
  apiVersion: z.literal('stackloom.dev/v1alpha1').describe('the version of this format'),
  kind: z.literal('Lab').describe('always Lab'),
  metadata: z
    .strictObject({ name: text.describe('the name of the lab: part of VM, disk and network names') })
    .describe('who the lab is'),
  spec: z
    .strictObject({
      host: z
        .strictObject({
          cores: z.int().min(1).describe('CPU cores of this machine'),
          memory: size.describe('RAM of this machine'),
          disk: size.describe('free disk space for the lab'),
          reserve: z
            .strictObject({
              memory: size.optional().describe('RAM for the host itself'),
              disk: size.optional().describe('disk space for the host itself'),
            })
            .optional()
            .describe('what the host keeps for itself; 16GiB and 30GiB by default'),
          storage: text.optional().describe('a folder for all disks, such as one on an external drive'),
        })
        .describe('the budget'),
      openstack: z
        .strictObject({
          release: z.enum(['2025.2']).optional().describe('the OpenStack release'),
          globals: raw.optional().describe('more variables for globals.yml, merged last'),
          hostVars: z.record(z.string(), raw).optional().describe('more variables of single nodes'),
          config: z
            .record(z.string(), text)
            .optional()
            .describe('more files below kolla/config/, by path: text that the services merge'),
        })
        .optional()
        .describe('what Kolla-Ansible deploys'),
      vm: z
        .strictObject({
          type: z.enum(['qemu']).optional().describe('the hypervisor: snapshots and vmnet need qemu'),
          arch: z.enum(['aarch64', 'x86_64']).optional().describe('the architecture of this machine'),
          image: image.optional().describe('the Ubuntu 24.04 image of the nodes'),
          user: text.optional().describe('the user that Ansible logs in as; kolla by default'),
        })
        .optional()
        .describe('what the VMs are made of'),
      containers: z
        .strictObject({
          base: z.enum(['debian', 'ubuntu']).optional().describe('the distribution inside the containers'),
          build: z
            .union([z.literal('all'), z.array(text).min(1)])
            .optional()
            .describe('images to build with kolla-build: all, or names such as nova-compute'),
          registry: text.optional().describe('the registry that holds built images, host:port'),
        })
        .optional()
        .describe('the container images of the services'),
      networks: z
        .strictObject({
          management: network.describe('APIs, database, queue, SSH, internet'),
          tunnel: network.describe('traffic between instances'),
          external: network.describe('floating addresses: a raw port for OVN, and the external VIP'),
          storage: network.describe('iSCSI and Ceph'),
        })
        .describe('the four networks'),
      vips: z
        .strictObject({
          internal: address.describe('kolla_internal_vip_address, in the management network'),
          external: address.describe('kolla_external_vip_address, in the external network'),
          routerId: z.int().optional().describe("keepalived's virtual router id; 51 by default"),
        })
        .describe('the addresses of the APIs'),
      nodes: z.array(node).min(1).describe('the VMs'),
      storage: z
        .strictObject({
          phase: z.enum(['lvm', 'ceph', 'both']).optional().describe('lvm first; both for migration'),
        })
        .optional()
        .describe('where volumes, images and instances are kept'),
      tls: z
        .union([
          z.boolean(),
          z.strictObject({
            internal: z.boolean().optional().describe('on the internal VIP'),
            external: z.boolean().optional().describe('on the external VIP'),
            backend: z.boolean().optional().describe('between the load balancer and the services'),
          }),
        ])
        .optional()
        .describe('everywhere by default'),
      monitoring: z
        .strictObject({
          prometheus: z.boolean().optional().describe('collects figures'),
          grafana: z.boolean().optional().describe('shows them'),
        })
        .optional()
        .describe('both by default'),
      logging: z.enum(['none', 'opensearch']).optional().describe('central logging; none by default'),
      dns: z
        .strictObject({
          domain: text.optional().describe('openstack.local by default'),
          forwarders: z.array(address).optional().describe('who answers for the rest of the world'),
        })
        .optional()
        .describe('names of the lab, answered by BIND on the first controller'),
      terraform: z
        .strictObject({
          tenantSubnet: text.optional().describe('the subnet of the demo network'),
          image: z
            .strictObject({
              name: text.describe('its name in Glance'),
              file: text.describe('a qcow2 file below terraform/openstack, an absolute path, or a URL'),
            })
            .optional()
            .describe('the image that instances start from: a name and a qcow2 file'),
          flavors: z
            .array(
              z.strictObject({
                name: text.describe('its name'),
                vcpus: z.int().min(1).describe('virtual CPUs'),
                ram: z.int().min(64).describe('MiB'),
                disk: z.int().min(0).describe('GB'),
              }),
            )
            .optional()
            .describe('the sizes of instances'),
        })
        .optional()
        .describe('what exists in the cloud after its deployment'),
      accept: z.array(acceptance).optional().describe('findings that are fine here, with the reason'),
    })
    .describe('the machine, the VMs, the networks and what runs in them'),
})

export type LabFile = z.infer<typeof labSchema>
export type NodeRole = (typeof nodeRoles)[number]
export type NetworkName = (typeof networkNames)[number]
