/** SL80xx and SL81xx: the lab file. What cannot be built, decided before any VM exists. */
import { problem } from '../../errors/finding.ts'

export const invalidLabAddress = problem<{ what: string; text: string; why: string }>({
  code: 'SL8001',
  severity: 'error',
  title: 'An address or a subnet of the lab cannot be read',
  message: ({ what, text, why }) => `${what}: ${JSON.stringify(text)} does not do: ${why}`,
  remedy: () => 'write IPv4 addresses as 192.168.105.250, subnets as 10.0.1.0/24, ranges as 10.0.2.150-10.0.2.199',
  description: `The lab's networks are IPv4: vmnet gives them a gateway and a DHCP range, and everything else is static.`,
  example: {
    what: 'the subnet of tunnel',
    text: '10.0.1.5/24',
    why: 'host bits are set; the network is 10.0.1.0/24',
  },
})

export const addressOutsideSubnet = problem<{ what: string; address: string; subnet: string }>({
  code: 'SL8002',
  severity: 'error',
  title: 'An address lies outside its network',
  message: ({ what, address, subnet }) => `${what} is ${address}, which is not in ${subnet}`,
  remedy: ({ subnet }) => `choose an address of ${subnet}`,
  description: `keepalived sets the internal VIP on the management network and the external VIP on the external one; Kolla's
prechecks refuse a VIP that is not in the subnet of its interface. A static address works in its own subnet only.`,
  example: { what: 'the internal VIP', address: '192.168.106.250', subnet: '192.168.105.0/24' },
})

export const missingRole = problem<{ role: string; why: string }>({
  code: 'SL8003',
  severity: 'error',
  title: 'No node has a role that the lab needs',
  message: ({ role, why }) => `no node has the role ${role}: ${why}`,
  remedy: ({ role }) => `add ${role} to the roles of a node`,
  description: `The roles are the top groups of Kolla's inventory. Without control there is no database, without network no
load balancer and no VIP (prechecks refuse an empty group \`loadbalancer\`), without compute no instance can run.`,
  example: { role: 'compute', why: 'no instance can run' },
})

export const duplicateMac = problem<{ what: string; value: string; first: string }>({
  code: 'SL8004',
  severity: 'error',
  title: 'Two NICs of the lab have one MAC address',
  message: ({ what, value, first }) => `${what} and ${first} both have the MAC address ${value}`,
  remedy: () => 'give the nodes different `host:` numbers',
  description: `MAC addresses are made of the lab's name, the node's \`host:\` number and the network. Two nodes with one
number have the same MAC and the same address: whichever speaks last gets the traffic of both.`,
  example: { what: 'node3 mgmt0', value: '52:55:55:0a:0b:00', first: 'node1 mgmt0' },
})

export const memoryExceeded = problem<{ wanted: number; have: number; reserve: number; over: number }>({
  code: 'SL8101',
  severity: 'error',
  title: 'The nodes want more memory than the host can give',
  message: ({ wanted, have, reserve, over }) =>
    `the nodes have ${wanted} GiB of RAM together; the host has ${have} GiB and keeps ${reserve}: ${over} GiB too much`,
  remedy: ({ over }) => `take ${over} GiB from the nodes, or lower host.reserve.memory`,
  description: `Memory cannot be overcommitted here: macOS would swap the VMs, and the database, the queue and keepalived
would miss their deadlines. Kolla's prechecks do not look at memory at all.`,
  example: { wanted: 92, have: 96, reserve: 16, over: 12 },
})

export const cpuOvercommit = problem<{ wanted: number; cores: number }>({
  code: 'SL8102',
  severity: 'warning',
  title: 'The nodes have all cores of the host, or more',
  message: ({ wanted, cores }) => `the nodes have ${wanted} vCPUs together, and the host has ${cores} cores`,
  remedy: () => 'this works while the nodes are not busy at once; nothing has to change',
  description: `Virtual CPUs are threads of the host. Up to one and a half times the cores is slow only under load, which
for a lab means deployments. macOS itself needs some, too.`,
  example: { wanted: 12, cores: 12 },
})

export const cpuOvercommitTooHigh = problem<{ wanted: number; cores: number; most: number }>({
  code: 'SL8103',
  severity: 'error',
  title: 'The nodes have far more vCPUs than the host has cores',
  message: ({ wanted, cores, most }) =>
    `the nodes have ${wanted} vCPUs together; with ${cores} cores ${most} are the most that works`,
  remedy: ({ wanted, most }) => `take ${wanted - most} vCPUs from the nodes`,
  description: `Above one and a half times the cores, timeouts of RabbitMQ and MariaDB become a matter of luck: deployments
fail at different places each time.`,
  example: { wanted: 24, cores: 12, most: 18 },
})

export const diskOvercommit = problem<{ nominal: number; reserve: number; free: number; over: number }>({
  code: 'SL8104',
  severity: 'warning',
  title: 'The disks are larger together than the free space',
  message: ({ nominal, reserve, free, over }) =>
    `the disks have ${nominal} GiB nominally, the host keeps ${reserve} GiB, and ${free} GiB are free: ${over} GiB more than there is`,
  remedy: () =>
    'keep few images in Glance and watch `stackloom lab status`; or put the disks on another drive with host.storage',
  description: `Disks are sparse: they take what was really written. Document 004's lab has 180 GiB nominally and uses about
a third of it in the beginning. It is the tightest of its budgets, so \`lab status\` shows the real use of each VM and
Glance's share.`,
  example: { nominal: 180, reserve: 30, free: 180, over: 30 },
})

export const diskTooSmall = problem<{ needed: number; free: number; reserve: number }>({
  code: 'SL8105',
  severity: 'error',
  title: 'Not even what a fresh lab really writes has room',
  message: ({ needed, free, reserve }) =>
    `a fresh lab writes about ${needed} GiB; ${free} GiB are free, of which the host keeps ${reserve}`,
  remedy: () => 'free some space, or put the disks on another drive with host.storage',
  description: `An operating system and the containers take about 12 GiB on a node, and about 25 GiB on a controller. When
the disk of the host is full, QEMU pauses all VMs at once.`,
  example: { needed: 49, free: 60, reserve: 30 },
})

export const nodeBelowMinimum = problem<{ node: string; what: string; have: number; least: number }>({
  code: 'SL8106',
  severity: 'warning',
  title: "A node is smaller than Kolla's documented minimum",
  message: ({ node, what, have, least }) => `${node} has ${have} GiB of ${what}; Kolla's minimum is ${least} GiB`,
  remedy: ({ what, least }) => `give it ${least} GiB of ${what}, or accept this for a node that runs few services`,
  description: `Kolla documents 8 GiB of RAM and 40 GiB of disk for each host, and checks neither. A storage node runs a
handful of containers and lives with less; a controller does not.`,
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
  title: 'A static address lies in the DHCP range of its network',
  message: ({ network, what, address, range }) =>
    `${network}: ${what} is ${address}, and macOS gives out ${range} by DHCP`,
  remedy: ({ network, offer }) => `set networks.${network}.dhcpEnd to ${offer} or lower, or choose another address`,
  description: `vmnet runs a DHCP server on every network, isolated ones too, and it cannot be turned off for networks that
Lima manages. Lima's own default range ends at .254 and holds document 004's internal VIP: the day another VM gets
that address, the whole cloud answers from the wrong machine. So the range ends below every address of ours.`,
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
  title: 'A network of the lab lies on a network of Lima',
  message: ({ network, subnet, other, why }) => `${network} uses ${subnet}, and ${other} is ${why}`,
  remedy: () => 'choose another subnet',
  description: `Lima gives each VM an interface eth0 in 192.168.5.0/24, with the same address in all of them. Whatever lies
there is unreachable from the nodes.`,
  example: { network: 'storage', subnet: '192.168.5.0/24', other: '192.168.5.0/24', why: "every VM's eth0" },
})

export const subnetSharedWithLima = problem<{ network: string; subnet: string; lima: string }>({
  code: 'SL8112',
  severity: 'info',
  title: "A network has the subnet of one of Lima's own",
  message: ({ network, subnet, lima }) =>
    `${network} uses ${subnet}, which is also the subnet of Lima's default network \`${lima}\``,
  remedy: ({ lima }) => `stop other VMs that use \`lima: ${lima}\` while the lab runs`,
  description: `vmnet has one network per subnet: of two definitions with the same subnet only one can be active. Document
004 chose 192.168.105.0/24, which Lima's own \`shared\` uses. Other VMs on it would meet the lab's nodes.`,
  example: { network: 'management', subnet: '192.168.105.0/24', lima: 'shared' },
})

export const vipOnRawPort = problem<{ interface: string }>({
  code: 'SL8120',
  severity: 'error',
  title: 'The external VIP is on the raw external port',
  message: ({ interface: name }) =>
    `${name} is both the raw port of OVN and the interface of the external VIP: the VIP would be dead`,
  remedy: () => 'remove networks.external.vipInterface: the second NIC vip0 then carries the VIP',
  description: `The raw port is a member of br-ex: the kernel no longer takes traffic for an address on it. keepalived would
set the VIP there and nobody could reach it. The nodes with the role network therefore have two NICs on the external
network: the raw one, and one with an address of its own for the VIP.`,
  example: { interface: 'ext0' },
})

export const addressOnRawPort = problem<{ node: string; interface: string; address: string }>({
  code: 'SL8121',
  severity: 'error',
  title: 'The raw external port has an address',
  message: ({ node, interface: name, address }) => `${node}: ${name} is OVN's raw port, and has the address ${address}`,
  remedy: ({ interface: name }) => `remove ${name}; an address for the VIP interface goes under \`external\``,
  description: `\`neutron_external_interface\` is handed to Open vSwitch as it is. An address on it stops working with the
deployment, and may hide that the network behind it does not work either.`,
  example: { node: 'node1', interface: 'ext0', address: '10.0.2.11' },
})

export const invalidInterfaceName = problem<{ network: string; name: string; why: string }>({
  code: 'SL8122',
  severity: 'error',
  title: 'An interface cannot have this name',
  message: ({ network, name, why }) => `${network}: an interface cannot be called ${JSON.stringify(name)}: ${why}`,
  remedy: () => 'choose a short name of letters and digits, such as mgmt0',
  description: `Lima and the kernel allow 15 bytes without blanks and slashes; eth0 is Lima's own. Ansible turns dashes in
interface names into underscores, so Kolla looks for facts that do not exist; docker0, br-*, ovs* and lima* belong to
others.`,
  example: { network: 'management', name: 'eth0', why: "it is Lima's own, with one address in all VMs" },
})

export const duplicateInterfaceName = problem<{ name: string; first: string; second: string }>({
  code: 'SL8123',
  severity: 'error',
  title: 'Two networks have one interface name',
  message: ({ name, first, second }) => `${first} and ${second} both call their interface ${name}`,
  remedy: () => 'give each network an interface name of its own',
  description: `A node on both networks would have two interfaces of one name.`,
  example: { name: 'net0', first: 'tunnel', second: 'storage' },
})

export const networkNotAttached = problem<{ role: string; network: string; why: string }>({
  code: 'SL8124',
  severity: 'error',
  title: 'A network does not reach a role that needs it',
  message: ({ role, network, why }) => `${network} does not reach the role ${role}: ${why}`,
  remedy: ({ role, network }) => `add ${role} to networks.${network}.attached`,
  description: `Every node needs the management network; network and compute nodes exchange instance traffic over the tunnel
network; iSCSI and Ceph need the storage network wherever volumes are served or used; the network role needs the
external one.`,
  example: { role: 'compute', network: 'tunnel', why: 'instances could not talk to each other' },
})

export const localDomain = problem<{ domain: string }>({
  code: 'SL8130',
  severity: 'warning',
  title: 'The DNS domain ends in .local',
  message: ({ domain }) => `${domain} is under .local, which macOS and systemd-resolved keep for multicast DNS`,
  remedy: ({ domain }) =>
    `use ${domain.replace(/\.local$/, '.internal')}, or write /etc/resolver/${domain} as the lab's README says`,
  description: `macOS asks Bonjour for names under .local unless /etc/resolver has a file for the domain; systemd-resolved
asks a DNS server only when the domain is a search domain of the link. The rendered netplan sets the search domain and
plain mode keeps multicast DNS off in the nodes; the file in /etc/resolver is yours to write (\`scripts/resolver.sh\`).`,
  example: { domain: 'openstack.local' },
})

export const invalidDomain = problem<{ domain: string; why: string }>({
  code: 'SL8131',
  severity: 'error',
  title: 'The DNS domain cannot be one',
  message: ({ domain, why }) => `${JSON.stringify(domain)} cannot be the DNS domain: ${why}`,
  remedy: () => 'choose labels of lower case letters, digits and dashes, joined by dots, such as openstack.internal',
  description: `The domain becomes a zone of the lab's DNS server and part of the names in its certificates.`,
  example: { domain: 'open_stack', why: 'an underscore is not allowed' },
})
