/** SL80xx and SL81xx: problems of the lab file that can be found before any VM exists. */
import { problem } from '../../errors/finding.ts'

export const invalidLabAddress = problem<{ what: string; text: string; why: string }>({
  code: 'SL8001',
  severity: 'error',
  message: ({ what, text, why }) => `${what}: ${JSON.stringify(text)} is invalid: ${why}`,
  remedy: () => 'write IPv4 addresses as 192.168.105.250, subnets as 10.0.1.0/24, ranges as 10.0.2.150-10.0.2.199',
})

export const addressOutsideSubnet = problem<{ what: string; address: string; subnet: string }>({
  code: 'SL8002',
  severity: 'error',
  message: ({ what, address, subnet }) => `${what} is ${address}, which is not in ${subnet}`,
  remedy: ({ subnet }) => `choose an address in ${subnet}`,
})

export const missingRole = problem<{ role: string; why: string }>({
  code: 'SL8003',
  severity: 'error',
  message: ({ role, why }) => `no node has the role ${role}: ${why}`,
  remedy: ({ role }) => `add ${role} to the roles of a node`,
})

export const duplicateMac = problem<{ what: string; value: string; first: string }>({
  code: 'SL8004',
  severity: 'error',
  message: ({ what, value, first }) => `${what} and ${first} both have the MAC address ${value}`,
  remedy: () => 'give the nodes different `host:` numbers',
})

export const memoryExceeded = problem<{ total: number; have: number; reserve: number; over: number }>({
  code: 'SL8101',
  severity: 'error',
  message: ({ total, have, reserve, over }) =>
    `the nodes have ${total} GiB of RAM together; the host has ${have} GiB and reserves ${reserve}: ${over} GiB too much`,
  remedy: ({ over }) => `reduce the memory of nodes by ${over} GiB, or lower host.reserve.memory`,
})

export const cpuOvercommit = problem<{ total: number; cores: number }>({
  code: 'SL8102',
  severity: 'warning',
  message: ({ total, cores }) => `the nodes have ${total} vCPUs together, and the host has ${cores} cores`,
  remedy: () => 'no change is needed, unless the nodes are busy at the same time',
})

export const cpuOvercommitTooHigh = problem<{ total: number; cores: number; most: number }>({
  code: 'SL8103',
  severity: 'error',
  message: ({ total, cores, most }) =>
    `the nodes have ${total} vCPUs together; a host with ${cores} cores supports ${most}`,
  remedy: ({ total, most }) => `reduce the vCPUs of nodes by ${total - most}`,
})

export const diskOvercommit = problem<{ nominal: number; reserve: number; free: number; over: number }>({
  code: 'SL8104',
  severity: 'warning',
  message: ({ nominal, reserve, free, over }) =>
    `the disks have ${nominal} GiB together and the host reserves ${reserve} GiB, but only ${free} GiB are free: ${over} GiB too much`,
  remedy: () =>
    'keep few images in Glance and check `stackloom lab status`, or put the disks on another drive with host.storage',
})

export const diskTooSmall = problem<{ needed: number; free: number; reserve: number }>({
  code: 'SL8105',
  severity: 'error',
  message: ({ needed, free, reserve }) =>
    `a new lab writes about ${needed} GiB; ${free} GiB are free, of which the host reserves ${reserve}`,
  remedy: () => 'free disk space, or put the disks on another drive with host.storage',
})

export const nodeBelowMinimum = problem<{ node: string; what: string; have: number; least: number }>({
  code: 'SL8106',
  severity: 'warning',
  message: ({ node, what, have, least }) => `${node} has ${have} GiB of ${what}; Kolla's minimum is ${least} GiB`,
  remedy: ({ what, least }) => `give it ${least} GiB of ${what}, or accept this for a node that runs few services`,
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
  message: ({ network, what, address, range }) =>
    `${network}: ${what} is ${address}, and macOS assigns ${range} by DHCP`,
  remedy: ({ network, offer }) => `set networks.${network}.dhcpEnd to ${offer} or lower, or choose another address`,
})

export const subnetOverlapsLima = problem<{ network: string; subnet: string; other: string; why: string }>({
  code: 'SL8111',
  severity: 'error',
  message: ({ network, subnet, other, why }) => `${network} uses ${subnet}, and ${other} is ${why}`,
  remedy: () => 'choose another subnet',
})

export const subnetSharedWithLima = problem<{ network: string; subnet: string; lima: string }>({
  code: 'SL8112',
  severity: 'info',
  message: ({ network, subnet, lima }) =>
    `${network} uses ${subnet}, which is also the subnet of Lima's default network \`${lima}\``,
  remedy: ({ lima }) => `stop other VMs that use \`lima: ${lima}\` while the lab runs`,
})

export const vipOnRawPort = problem<{ interface: string }>({
  code: 'SL8120',
  severity: 'error',
  message: ({ interface: name }) =>
    `${name} is both OVN's raw port and the interface of the external VIP: the VIP would not be reachable`,
  remedy: () => 'remove networks.external.vipInterface: the second NIC vip0 then carries the VIP',
})

export const addressOnRawPort = problem<{ node: string; interface: string; address: string }>({
  code: 'SL8121',
  severity: 'error',
  message: ({ node, interface: name, address }) => `${node}: ${name} is OVN's raw port, and has the address ${address}`,
  remedy: ({ interface: name }) => `remove ${name}; set the address of the VIP interface with \`external\``,
})

export const invalidInterfaceName = problem<{ network: string; name: string; why: string }>({
  code: 'SL8122',
  severity: 'error',
  message: ({ network, name, why }) => `${network}: an interface cannot be called ${JSON.stringify(name)}: ${why}`,
  remedy: () => 'choose a short name of letters and digits, such as mgmt0',
})

export const duplicateInterfaceName = problem<{ name: string; first: string; second: string }>({
  code: 'SL8123',
  severity: 'error',
  message: ({ name, first, second }) => `${first} and ${second} both call their interface ${name}`,
  remedy: () => 'give each network another interface name',
})

export const networkNotAttached = problem<{ role: string; network: string; why: string }>({
  code: 'SL8124',
  severity: 'error',
  message: ({ role, network, why }) => `${network} is not attached to the role ${role}: ${why}`,
  remedy: ({ role, network }) => `add ${role} to networks.${network}.attached`,
})

export const localDomain = problem<{ domain: string }>({
  code: 'SL8130',
  severity: 'warning',
  message: ({ domain }) => `${domain} is under .local, which macOS and systemd-resolved use for multicast DNS`,
  remedy: ({ domain }) =>
    `use ${domain.replace(/\.local$/, '.internal')}, or run scripts/resolver.sh to write /etc/resolver/${domain}`,
})

export const invalidDomain = problem<{ domain: string; why: string }>({
  code: 'SL8131',
  severity: 'error',
  message: ({ domain, why }) => `the DNS domain ${JSON.stringify(domain)} is invalid: ${why}`,
  remedy: () => 'use labels of lower case letters, digits and dashes, joined by dots, such as openstack.internal',
})
