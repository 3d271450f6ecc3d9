/** SL814x to SL816x: settings that Kolla-Ansible would refuse or ignore, and the known risks of a lab. */
import { problem } from '../../errors/finding.ts'

export const perNodeInGlobals = problem<{ variable: string }>({
  code: 'SL8140',
  severity: 'error',
  title: 'A variable that differs between nodes is in globals',
  message: ({ variable }) => `${variable} differs between nodes, and globals.yml overrides every other place`,
  remedy: ({ variable }) => `move ${variable} to openstack.hostVars, below the node's name`,
  description: `Kolla passes globals.yml as extra variables, which nothing overrides, so an interface or address in it is set on
all nodes, also on those that do not have it. Use host_vars of the inventory; Kolla's defaults override \`[group:vars]\`
and group_vars/all.`,
  example: { variable: 'tunnel_interface' },
})

export const removedVariable = problem<{ variable: string; instead: string }>({
  code: 'SL8141',
  severity: 'error',
  title: 'Kolla-Ansible removed this variable',
  message: ({ variable }) => `this release of Kolla-Ansible does not read ${variable}`,
  remedy: ({ instead }) => instead,
  description: `\`storage_interface\` was removed. To put iSCSI on the storage network, the storage node needs both
\`tgtd_interface_address\` and \`target_ip_address\` in its cinder.conf; with only one of them no volume can be attached.
\`lab render\` writes both.`,
  example: {
    variable: 'storage_interface',
    instead: 'remove it: tgtd_interface_address and target_ip_address put iSCSI on the storage network already',
  },
})

export const refusedByPrechecks = problem<{ variable: string; why: string }>({
  code: 'SL8142',
  severity: 'error',
  title: "Kolla's prechecks would refuse this",
  message: ({ variable, why }) => `${variable}: ${why}`,
  remedy: ({ variable }) => `remove ${variable}, or give it a value that prechecks accept`,
  description: `\`kolla-ansible prechecks\` needs running VMs. Values that it would refuse are reported now if the lab file shows
them.`,
  example: { variable: 'fernet_token_expiry', why: 'it must be a number of seconds up to 604800' },
})

export const managedVariable = problem<{ variable: string; field: string }>({
  code: 'SL8143',
  severity: 'error',
  title: 'Another field of the lab file sets this variable',
  message: ({ variable, field }) => `${field} sets ${variable}, so it must not be set in globals`,
  remedy: ({ field }) => `remove it and set ${field}`,
  description: `Certificates, DNS records, VIPs, netplan and Terraform are rendered from the lab file. A variable with another
value would make the cloud differ from them.`,
  example: { variable: 'kolla_internal_vip_address', field: 'vips.internal' },
})

export const tgtdWithoutTarget = problem<{ node: string; has: string; lacks: string }>({
  code: 'SL8144',
  severity: 'error',
  title: 'iSCSI would be served and advertised at different addresses',
  message: ({ node, has, lacks }) => `${node}: ${has} is set without ${lacks}`,
  remedy: () => 'remove it: `lab render` sets both to the address on the storage network',
  description: `tgtd listens on \`tgtd_interface_address\`, and Cinder gives \`target_ip_address\` to the compute nodes. When they
differ, no volume can be attached.`,
  example: { node: 'node3', has: 'tgtd_interface_address', lacks: 'target_ip_address' },
})

export const invalidRouterId = problem<{ id: number }>({
  code: 'SL8145',
  severity: 'error',
  title: 'The virtual router id is out of range',
  message: ({ id }) => `keepalived's router id is ${id}; it must be from 1 to 255`,
  remedy: () => 'choose another id, such as 51',
  description: `The id is one byte in VRRP. Another keepalived on the same network needs another id.`,
  example: { id: 300 },
})

export const unknownVariable = problem<{ variable: string; nearest: string | undefined }>({
  code: 'SL8146',
  severity: 'error',
  title: 'Kolla-Ansible has no such variable',
  message: ({ variable, nearest }) =>
    `nothing in Kolla-Ansible reads ${variable}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ variable, nearest }) =>
    nearest ? `write ${nearest}, or remove ${variable}` : `remove ${variable}, or accept SL8146 with the reason`,
  description: `Ansible accepts any variable and does not report unused ones: a misspelt name does nothing, and the default stays
in effect. Known names are the defaults of Kolla-Ansible 2025.2 and of its roles, those of the collection that bootstraps
the nodes, the keys of passwords.yml, names that begin with \`ansible_\`, and names that a file of openstack.config uses.
Accept variables that only your own playbooks read in spec.accept.`,
  example: { variable: 'enable_horizn', nearest: 'enable_horizon' },
})

export const storageWithoutDisks = problem<{ phase: string; why: string }>({
  code: 'SL8150',
  severity: 'error',
  title: 'The storage phase lacks disks or roles',
  message: ({ phase, why }) => `storage phase ${phase}: ${why}`,
  remedy: ({ phase }) =>
    phase === 'lvm'
      ? 'give a node with the role storage disks: {lvm: 10GiB}'
      : 'give two nodes disks: {osd: 20GiB}, and one node the role ceph-mon',
  description: `LVM needs the volume group \`cinder-volumes\` on a storage node (prechecks check it). Ceph needs a monitor, and
OSDs on two hosts, because it keeps two copies; an OSD needs an empty disk of at least 5 GB.`,
  example: { phase: 'ceph', why: 'one host has an OSD disk, and two copies need two' },
})

export const imagesNotPublished = problem<{ tag: string }>({
  code: 'SL8151',
  severity: 'error',
  title: 'Upstream does not publish these container images',
  message: ({ tag }) => `upstream publishes no images ${tag}`,
  remedy: () => 'use containers.base: debian, or containers.build: all',
  description: `For 2025.2 upstream publishes aarch64 images for Debian bookworm only. The stage \`images\` builds Ubuntu images
with kolla-build and pushes them to a registry of the lab.`,
  example: { tag: '2025.2-ubuntu-noble-aarch64' },
})

export const imageWithoutChecksum = problem<{ image: string }>({
  code: 'SL8152',
  severity: 'warning',
  title: 'The VM image has no checksum',
  message: ({ image }) => `${image} is used without a checksum`,
  remedy: () => 'add vm.image.sha256',
  description: `An incomplete download may boot and fail later for no visible reason. The checksums of known dates are built in.`,
  example: { image: 'Ubuntu 24.04 of 20260801' },
})

export const vipsEqual = problem<{ address: string }>({
  code: 'SL8153',
  severity: 'error',
  title: 'Both VIPs are the same address',
  message: ({ address }) => `the internal and the external VIP are both ${address}`,
  remedy: () => 'give the external VIP an address of the external network',
  description: `Internal and public endpoints have separate networks and certificates.`,
  example: { address: '192.168.105.250' },
})

export const imagesUntested = problem<{ tag: string }>({
  code: 'SL8160',
  severity: 'info',
  title: 'The container images are untested on this architecture',
  message: ({ tag }) => `${tag}: upstream builds these images weekly and does not test them`,
  remedy: () => 'if an image fails, add it to containers.build: the stage `images` builds it from source',
  description: `Kolla's support matrix marks every aarch64 image "untested". The lab uses Debian images, the only ones that are
published for aarch64, with the tag suffix -aarch64.`,
  example: { tag: '2025.2-debian-bookworm-aarch64' },
})

export const emulatedGuests = problem<{ arch: string }>({
  code: 'SL8161',
  severity: 'info',
  title: 'Instances are emulated',
  message: ({ arch }) => `instances run in emulation (TCG) inside the ${arch} nodes, and are slow`,
  remedy: () => 'no change is needed: nova_compute_virt_type is qemu and the CPU model is max, as emulation requires',
  description: `The nodes are VMs, and QEMU on macOS has no nested virtualization. Kolla's default CPU mode host-passthrough needs
KVM, so no instance would start. The lab sets \`virt_type = qemu\`, \`cpu_mode = custom\` and \`cpu_models = max\`.`,
  example: { arch: 'aarch64' },
})

export const partsWithoutTls = problem<{ without: string }>({
  code: 'SL8162',
  severity: 'info',
  title: 'Some traffic has no TLS',
  message: ({ without }) => `without TLS in this release: ${without}`,
  remedy: () => 'no change is needed: this traffic stays on isolated networks; the README of the tree lists it',
  description: `Internal, external and backend APIs, RabbitMQ, MariaDB through ProxySQL and libvirt use TLS. Kolla-Ansible 2025.2
has no TLS for the rest.`,
  example: { without: 'OVN databases, memcached, iSCSI, Geneve, Prometheus exporters' },
})

export const stateOnOsDisk = problem<{ node: string }>({
  code: 'SL8163',
  severity: 'info',
  title: "A node's state is on its OS disk",
  message: ({ node }) => `${node} keeps the database, the queue and Glance's images on its OS disk`,
  remedy: ({ node }) => `to replace ${node} without a backup, give it disks: {state: 40GiB}`,
  description: `A replacement of the VM deletes its OS disk. Without a state disk, the replacement of this node is refused until
there is a backup of the database, which the same run restores. Changes of CPUs or memory keep the disk.`,
  example: { node: 'node1' },
})
