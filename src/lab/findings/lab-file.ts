/** SL80xx and SL81xx: problems of the lab file that can be found before any VM exists. */
import { problem } from '../../errors/finding.ts'

export const invalidLabAddress = problem<{ what: string; text: string; why: string }>({
  code: 'SL8001',
  severity: 'error',
  title: 'An address or a subnet of the lab is invalid',
  message: ({ what, text, why }) => `${what}: ${JSON.stringify(text)} is invalid: ${why}`,
  remedy: () => 'write IPv4 addresses as 192.168.105.250, subnets as 10.0.1.0/24, ranges as 10.0.2.150-10.0.2.199',
  description: `The networks of a lab are IPv4. vmnet provides a gateway and a DHCP range; all other addresses are static.`,
  example: {
    what: 'the subnet of tunnel',
    text: '10.0.1.5/24',
    why: 'host bits are set; the network is 10.0.1.0/24',
  },
})

export const addressOutsideSubnet = problem<{ what: string; address: string; subnet: string }>({
  code: 'SL8002',
  severity: 'error',
  title: 'An address is outside its network',
  message: ({ what, address, subnet }) => `${what} is ${address}, which is not in ${subnet}`,
  remedy: ({ subnet }) => `choose an address in ${subnet}`,
  description: `keepalived sets the internal VIP on the management network and the external VIP on the external network. Kolla's
prechecks refuse a VIP outside the subnet of its interface, and a static address works only in its own subnet.`,
  example: { what: 'the internal VIP', address: '192.168.106.250', subnet: '192.168.105.0/24' },
})

export const missingRole = problem<{ role: string; why: string }>({
  code: 'SL8003',
  severity: 'error',
  title: 'No node has a role that the lab needs',
  message: ({ role, why }) => `no node has the role ${role}: ${why}`,
  remedy: ({ role }) => `add ${role} to the roles of a node`,
  description: `Roles are the top groups of Kolla's inventory. Without control there is no database, without network there is no
load balancer and no VIP (prechecks refuse an empty group \`loadbalancer\`), and without compute no instance can run.`,
  example: { role: 'compute', why: 'no instance can run' },
})

export const duplicateMac = problem<{ what: string; value: string; first: string }>({
  code: 'SL8004',
  severity: 'error',
  title: 'Two NICs of the lab have the same MAC address',
  message: ({ what, value, first }) => `${what} and ${first} both have the MAC address ${value}`,
  remedy: () => 'give the nodes different `host:` numbers',
  description: `A MAC address is computed from the lab's name, the node's \`host:\` number and the network. Two nodes with the
same number have the same MAC and the same address, so traffic reaches either of them at random.`,
  example: { what: 'node3 mgmt0', value: '52:55:55:0a:0b:00', first: 'node1 mgmt0' },
})

export const memoryExceeded = problem<{ total: number; have: number; reserve: number; over: number }>({
  code: 'SL8101',
  severity: 'error',
  title: 'The nodes need more memory than the host has',
  message: ({ total, have, reserve, over }) =>
    `the nodes have ${total} GiB of RAM together; the host has ${have} GiB and reserves ${reserve}: ${over} GiB too much`,
  remedy: ({ over }) => `reduce the memory of nodes by ${over} GiB, or lower host.reserve.memory`,
  description: `Memory cannot be overcommitted: macOS would swap the VMs, and the database, the queue and keepalived would miss
their deadlines. Kolla's prechecks do not check memory.`,
  example: { total: 92, have: 96, reserve: 16, over: 12 },
})

export const cpuOvercommit = problem<{ total: number; cores: number }>({
  code: 'SL8102',
  severity: 'warning',
  title: 'The nodes use all cores of the host',
  message: ({ total, cores }) => `the nodes have ${total} vCPUs together, and the host has ${cores} cores`,
  remedy: () => 'no change is needed, unless the nodes are busy at the same time',
  description: `Virtual CPUs are threads of the host. Up to one and a half times the cores, a lab is slow only under load, which
means during deployments. macOS needs CPU time, too.`,
  example: { total: 12, cores: 12 },
})

export const cpuOvercommitTooHigh = problem<{ total: number; cores: number; most: number }>({
  code: 'SL8103',
  severity: 'error',
  title: 'The nodes have far more vCPUs than the host has cores',
  message: ({ total, cores, most }) =>
    `the nodes have ${total} vCPUs together; a host with ${cores} cores supports ${most}`,
  remedy: ({ total, most }) => `reduce the vCPUs of nodes by ${total - most}`,
  description: `Above one and a half times the cores, RabbitMQ and MariaDB time out at random, and each deployment fails at
another task.`,
  example: { total: 24, cores: 12, most: 18 },
})

export const diskOvercommit = problem<{ nominal: number; reserve: number; free: number; over: number }>({
  code: 'SL8104',
  severity: 'warning',
  title: 'The disks together are larger than the free space',
  message: ({ nominal, reserve, free, over }) =>
    `the disks have ${nominal} GiB together and the host reserves ${reserve} GiB, but only ${free} GiB are free: ${over} GiB too much`,
  remedy: () =>
    'keep few images in Glance and check `stackloom lab status`, or put the disks on another drive with host.storage',
  description: `Disks are sparse: they use only the space that was written. The disks of the three-node preset have 180 GiB
together and use about a third of it at first. \`lab status\` shows the real use of each VM and the share of Glance.`,
  example: { nominal: 180, reserve: 30, free: 180, over: 30 },
})

export const diskTooSmall = problem<{ needed: number; free: number; reserve: number }>({
  code: 'SL8105',
  severity: 'error',
  title: 'A new lab does not fit on the disk',
  message: ({ needed, free, reserve }) =>
    `a new lab writes about ${needed} GiB; ${free} GiB are free, of which the host reserves ${reserve}`,
  remedy: () => 'free disk space, or put the disks on another drive with host.storage',
  description: `The operating system and the containers use about 12 GiB on a node and about 25 GiB on a controller. When the
disk of the host is full, QEMU pauses all VMs.`,
  example: { needed: 49, free: 60, reserve: 30 },
})

export const nodeBelowMinimum = problem<{ node: string; what: string; have: number; least: number }>({
  code: 'SL8106',
  severity: 'warning',
  title: "A node is smaller than Kolla's documented minimum",
  message: ({ node, what, have, least }) => `${node} has ${have} GiB of ${what}; Kolla's minimum is ${least} GiB`,
  remedy: ({ what, least }) => `give it ${least} GiB of ${what}, or accept this for a node that runs few services`,
  description: `Kolla documents 8 GiB of RAM and 40 GiB of disk for each host, and checks neither. A storage node runs few
containers and works with less; a controller does not.`,
  example: { node: 'node3', what: 'disk', have: 30, least: 40 },
})

export const addressInDhcpRange = problem<{
  network: string
  what: string
  address: string
  range: string
  offer: string
}>({
  code: 'SL8110',
  severity: 'error',
  title: 'A static address is in the DHCP range of its network',
  message: ({ network, what, address, range }) =>
    `${network}: ${what} is ${address}, and macOS assigns ${range} by DHCP`,
  remedy: ({ network, offer }) => `set networks.${network}.dhcpEnd to ${offer} or lower, or choose another address`,
  description: `vmnet runs a DHCP server on every network, isolated ones included, and it cannot be turned off for networks that
Lima manages. Lima's default range ends at .254 and contains the internal VIP of the presets: if another VM got that
address, clients of the cloud would reach the wrong machine. So the range must end below every static address.`,
  example: {
    network: 'management',
    what: 'the internal VIP',
    address: '192.168.105.250',
    range: '192.168.105.2-192.168.105.254',
    offer: '192.168.105.10',
  },
})

export const subnetOverlapsLima = problem<{ network: string; subnet: string; other: string; why: string }>({
  code: 'SL8111',
  severity: 'error',
  title: 'A network of the lab overlaps a network of Lima',
  message: ({ network, subnet, other, why }) => `${network} uses ${subnet}, and ${other} is ${why}`,
  remedy: () => 'choose another subnet',
  description: `Lima gives each VM an interface eth0 in 192.168.5.0/24, with the same address in all VMs. The nodes cannot
reach any other address in that subnet.`,
  example: { network: 'storage', subnet: '192.168.5.0/24', other: '192.168.5.0/24', why: "every VM's eth0" },
})

export const subnetSharedWithLima = problem<{ network: string; subnet: string; lima: string }>({
  code: 'SL8112',
  severity: 'info',
  title: "A network has the subnet of one of Lima's default networks",
  message: ({ network, subnet, lima }) =>
    `${network} uses ${subnet}, which is also the subnet of Lima's default network \`${lima}\``,
  remedy: ({ lima }) => `stop other VMs that use \`lima: ${lima}\` while the lab runs`,
  description: `vmnet has one network per subnet: of two definitions with the same subnet only one can be active. The presets
use 192.168.105.0/24, which Lima's network \`shared\` uses too. Other VMs on it would be in the same network as the nodes.`,
  example: { network: 'management', subnet: '192.168.105.0/24', lima: 'shared' },
})

export const vipOnRawPort = problem<{ interface: string }>({
  code: 'SL8120',
  severity: 'error',
  title: 'The external VIP is on the raw external port',
  message: ({ interface: name }) =>
    `${name} is both OVN's raw port and the interface of the external VIP: the VIP would not be reachable`,
  remedy: () => 'remove networks.external.vipInterface: the second NIC vip0 then carries the VIP',
  description: `The raw port is a member of br-ex, so the kernel does not accept traffic for an address on it, and the VIP could
not be reached. Nodes with the role network therefore have two NICs on the external network: the raw one, and one with an
address for the VIP.`,
  example: { interface: 'ext0' },
})

export const addressOnRawPort = problem<{ node: string; interface: string; address: string }>({
  code: 'SL8121',
  severity: 'error',
  title: 'The raw external port has an address',
  message: ({ node, interface: name, address }) => `${node}: ${name} is OVN's raw port, and has the address ${address}`,
  remedy: ({ interface: name }) => `remove ${name}; set the address of the VIP interface with \`external\``,
  description: `Open vSwitch takes over \`neutron_external_interface\`. An address on it stops working with the deployment, and
until then it may hide that the network behind it does not work.`,
  example: { node: 'node1', interface: 'ext0', address: '10.0.2.11' },
})

export const invalidInterfaceName = problem<{ network: string; name: string; why: string }>({
  code: 'SL8122',
  severity: 'error',
  title: 'An interface cannot have this name',
  message: ({ network, name, why }) => `${network}: an interface cannot be called ${JSON.stringify(name)}: ${why}`,
  remedy: () => 'choose a short name of letters and digits, such as mgmt0',
  description: `Lima and the kernel allow 15 bytes without blanks and slashes, and Lima uses eth0. Ansible turns dashes in
interface names into underscores, so Kolla would look for facts that do not exist. Other programs use docker0, br-*, ovs*
and lima*.`,
  example: { network: 'management', name: 'eth0', why: 'Lima uses it, with the same address in all VMs' },
})

export const duplicateInterfaceName = problem<{ name: string; first: string; second: string }>({
  code: 'SL8123',
  severity: 'error',
  title: 'Two networks have the same interface name',
  message: ({ name, first, second }) => `${first} and ${second} both call their interface ${name}`,
  remedy: () => 'give each network another interface name',
  description: `A node on both networks would have two interfaces with the same name.`,
  example: { name: 'net0', first: 'tunnel', second: 'storage' },
})

export const networkNotAttached = problem<{ role: string; network: string; why: string }>({
  code: 'SL8124',
  severity: 'error',
  title: 'A network is not attached to a role that needs it',
  message: ({ role, network, why }) => `${network} is not attached to the role ${role}: ${why}`,
  remedy: ({ role, network }) => `add ${role} to networks.${network}.attached`,
  description: `Every node needs the management network. Network and compute nodes exchange instance traffic over the tunnel
network. iSCSI and Ceph need the storage network on all nodes that serve or use volumes. The network role needs the
external network.`,
  example: { role: 'compute', network: 'tunnel', why: 'instances could not reach each other' },
})

export const localDomain = problem<{ domain: string }>({
  code: 'SL8130',
  severity: 'warning',
  title: 'The DNS domain ends in .local',
  message: ({ domain }) => `${domain} is under .local, which macOS and systemd-resolved use for multicast DNS`,
  remedy: ({ domain }) =>
    `use ${domain.replace(/\.local$/, '.internal')}, or run scripts/resolver.sh to write /etc/resolver/${domain}`,
  description: `macOS resolves names under .local with Bonjour unless /etc/resolver has a file for the domain. systemd-resolved
queries a DNS server only when the domain is a search domain of the link. The rendered netplan sets the search domain, and
plain mode turns multicast DNS off in the nodes; you write the file in /etc/resolver with \`scripts/resolver.sh\`.`,
  example: { domain: 'openstack.local' },
})

export const invalidDomain = problem<{ domain: string; why: string }>({
  code: 'SL8131',
  severity: 'error',
  title: 'The DNS domain is invalid',
  message: ({ domain, why }) => `the DNS domain ${JSON.stringify(domain)} is invalid: ${why}`,
  remedy: () => 'use labels of lower case letters, digits and dashes, joined by dots, such as openstack.internal',
  description: `The domain becomes a zone of the lab's DNS server and part of the names in its certificates.`,
  example: { domain: 'open_stack', why: 'an underscore is not allowed' },
})
