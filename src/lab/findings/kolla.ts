/** SL814x to SL816x: what Kolla-Ansible would refuse or ignore, and the risks that a lab lives with. */
import { problem } from '../../errors/finding.ts'

export const perNodeInGlobals = problem<{ variable: string }>({
  code: 'SL8140',
  severity: 'error',
  title: 'A variable of single nodes stands in globals',
  message: ({ variable }) => `${variable} differs between nodes, and globals.yml beats every other place`,
  remedy: ({ variable }) => `move ${variable} to openstack.hostVars, below the node's name`,
  description: `globals.yml is passed as extra variables: nothing overrides it. An interface or address set there is set on
all nodes, also on those that do not have it. Inventory host_vars are the place; \`[group:vars]\` and group_vars/all
lose against Kolla's own defaults and have no effect.`,
  example: { variable: 'tunnel_interface' },
})

export const removedVariable = problem<{ variable: string; instead: string }>({
  code: 'SL8141',
  severity: 'error',
  title: 'Kolla-Ansible no longer knows this variable',
  message: ({ variable }) => `nothing in this release of Kolla-Ansible reads ${variable}`,
  remedy: ({ instead }) => instead,
  description: `\`storage_interface\` was removed. iSCSI moves to the storage network by \`tgtd_interface_address\` of the
storage node together with \`target_ip_address\` of its cinder.conf; one without the other breaks attachment. The
renderer writes both.`,
  example: {
    variable: 'storage_interface',
    instead: 'remove it: iSCSI is on the storage network already, by tgtd_interface_address and target_ip_address',
  },
})

export const refusedByPrechecks = problem<{ variable: string; why: string }>({
  code: 'SL8142',
  severity: 'error',
  title: "Kolla's prechecks would refuse this",
  message: ({ variable, why }) => `${variable}: ${why}`,
  remedy: ({ variable }) => `remove ${variable}, or give it a value that prechecks accept`,
  description: `\`kolla-ansible prechecks\` runs when the VMs exist. What it would refuse and can be decided from the file is
said now.`,
  example: { variable: 'fernet_token_expiry', why: 'it is a number of seconds up to 604800' },
})

export const managedVariable = problem<{ variable: string; field: string }>({
  code: 'SL8143',
  severity: 'error',
  title: 'A variable is decided by another field of the lab file',
  message: ({ variable, field }) => `${variable} follows from ${field}, and must not be set twice`,
  remedy: ({ field }) => `remove it and change ${field}`,
  description: `Certificates, DNS records, VIPs, netplan and Terraform follow from the lab file. A variable that says
something else would make the cloud differ from everything around it.`,
  example: { variable: 'kolla_internal_vip_address', field: 'vips.internal' },
})

export const tgtdWithoutTarget = problem<{ node: string; has: string; lacks: string }>({
  code: 'SL8144',
  severity: 'error',
  title: 'iSCSI would be served and advertised at two addresses',
  message: ({ node, has, lacks }) => `${node}: ${has} is set without ${lacks}`,
  remedy: () => 'remove it: the renderer sets both from the storage network',
  description: `tgtd listens on \`tgtd_interface_address\`; Cinder tells the compute nodes \`target_ip_address\`. When they
differ, no volume can be attached.`,
  example: { node: 'node3', has: 'tgtd_interface_address', lacks: 'target_ip_address' },
})

export const invalidRouterId = problem<{ id: number }>({
  code: 'SL8145',
  severity: 'error',
  title: 'The virtual router id is out of range',
  message: ({ id }) => `keepalived's router id is ${id}; it is one byte, from 1 to 255`,
  remedy: () => 'choose another, such as 51',
  description: `VRRP tells routers apart by one byte. Another keepalived on the same network needs another id.`,
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
  description: `Ansible takes any variable and says nothing about one that nobody reads: a misspelt name does nothing, and the
default stays in force. Compared are the defaults of Kolla-Ansible 2025.2 and of its roles, those of the collection that
bootstraps the nodes, and the names of passwords.yml. Names that begin with \`ansible_\` and names that a file of
openstack.config uses are known, too. What only your own playbooks read is accepted by name in spec.accept.`,
  example: { variable: 'enable_horizn', nearest: 'enable_horizon' },
})

export const storageWithoutDisks = problem<{ phase: string; why: string }>({
  code: 'SL8150',
  severity: 'error',
  title: 'The storage phase has no disks to work with',
  message: ({ phase, why }) => `storage phase ${phase}: ${why}`,
  remedy: ({ phase }) =>
    phase === 'lvm'
      ? 'give a node with the role storage disks: {lvm: 10GiB}'
      : 'give two nodes disks: {osd: 20GiB}, and one node the role ceph-mon',
  description: `LVM needs the volume group \`cinder-volumes\` on a storage node (prechecks look for it). Ceph needs OSDs on as
many hosts as it keeps copies (two), and a monitor; an OSD needs at least 5 GB and a disk without any data.`,
  example: { phase: 'ceph', why: 'one host has an OSD disk, and two copies need two' },
})

export const imagesNotPublished = problem<{ tag: string }>({
  code: 'SL8151',
  severity: 'error',
  title: 'Nobody publishes these container images',
  message: ({ tag }) => `there are no images ${tag} upstream`,
  remedy: () => 'use containers.base: debian, or containers.build: all',
  description: `For 2025.2 upstream publishes aarch64 images for Debian bookworm only. Ubuntu images have to be built with
kolla-build, which the stage \`images\` does into a registry of the lab.`,
  example: { tag: '2025.2-ubuntu-noble-aarch64' },
})

export const imageWithoutChecksum = problem<{ image: string }>({
  code: 'SL8152',
  severity: 'warning',
  title: 'The VM image has no checksum',
  message: ({ image }) => `${image} is used without a checksum`,
  remedy: () => 'add vm.image.sha256',
  description: `An image that was cut off in transit boots, and fails later in odd ways. Known dates have their checksum
built in.`,
  example: { image: 'Ubuntu 24.04 of 20260801' },
})

export const vipsEqual = problem<{ address: string }>({
  code: 'SL8153',
  severity: 'error',
  title: 'Both VIPs are the same address',
  message: ({ address }) => `the internal and the external VIP are both ${address}`,
  remedy: () => 'give the external VIP an address of the external network',
  description: `Internal and public endpoints have their own networks and their own certificates here.`,
  example: { address: '192.168.105.250' },
})

export const imagesUntested = problem<{ tag: string }>({
  code: 'SL8160',
  severity: 'info',
  title: 'The container images are untested on this architecture',
  message: ({ tag }) => `${tag}: upstream builds these images weekly and does not test them`,
  remedy: () => 'when one fails, name it in containers.build: the stage `images` builds it from source',
  description: `Kolla's support matrix marks every aarch64 image "untested". Set here: Debian images, the only ones that are
published for aarch64, with the tag suffix -aarch64.`,
  example: { tag: '2025.2-debian-bookworm-aarch64' },
})

export const emulatedGuests = problem<{ arch: string }>({
  code: 'SL8161',
  severity: 'info',
  title: 'Instances are emulated',
  message: ({ arch }) => `instances run in emulation (TCG) inside the ${arch} nodes, and are slow`,
  remedy: () => 'nothing: nova_compute_virt_type is qemu and the CPU model is max, as emulation needs',
  description: `The nodes are VMs themselves, and QEMU on macOS offers no nested virtualization. Kolla would set the CPU mode
host-passthrough, which needs KVM: every instance would fail to start. Set here: \`virt_type = qemu\`,
\`cpu_mode = custom\`, \`cpu_models = max\`.`,
  example: { arch: 'aarch64' },
})

export const partsWithoutTls = problem<{ without: string }>({
  code: 'SL8162',
  severity: 'info',
  title: 'What TLS does not reach',
  message: ({ without }) => `without TLS in this release: ${without}`,
  remedy: () => 'nothing: these stay on isolated networks; the README of the tree lists them',
  description: `Internal, external and backend APIs, RabbitMQ, MariaDB through ProxySQL and libvirt are encrypted. Kolla-Ansible
2025.2 has no TLS for the rest.`,
  example: { without: 'OVN databases, memcached, iSCSI, Geneve, Prometheus exporters' },
})

export const stateOnOsDisk = problem<{ node: string }>({
  code: 'SL8163',
  severity: 'info',
  title: "A node's state is on its OS disk",
  message: ({ node }) => `${node} keeps the database, the queue and Glance's images on its OS disk`,
  remedy: ({ node }) => `to be able to replace ${node} freely, give it disks: {state: 40GiB}`,
  description: `VMs are replaced, not patched; a replacement makes the OS disk anew. Without a state disk the replacement of
this node is refused until there is a backup of the database, which the same run restores. Changing its CPUs or memory
keeps the disk.`,
  example: { node: 'node1' },
})
