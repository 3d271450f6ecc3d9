/** SL93xx: findings of `stackloom rehearse`. */
import { problem } from '../errors/finding.ts'

export const programsMissing = problem<{ programs: readonly string[]; packages: readonly string[] }>({
  code: 'SL9300',
  severity: 'error',
  message: ({ programs }) => `rehearse needs ${programs.join(', ')}, which this machine does not have`,
  remedy: ({ packages }) => `install them: \`apt-get install ${packages.join(' ')}\``,
})

export const machineUnfit = problem<{ reason: string; remedy?: string }>({
  code: 'SL9301',
  severity: 'error',
  message: ({ reason }) => `rehearse cannot run here: ${reason}`,
  remedy: ({ remedy }) =>
    remedy ?? 'run it as root on a Linux machine; nothing outside of its own namespaces is changed',
})

export const enclosureUnavailable = problem<{ reason: string }>({
  code: 'SL9302',
  severity: 'error',
  message: ({ reason }) => `the namespaces of the rehearsal cannot be created: ${reason}`,
  remedy: () => 'run it as root on the machine itself or in a privileged container',
})

export const partFailed = problem<{ part: string; reason: string }>({
  code: 'SL9303',
  severity: 'error',
  message: ({ part, reason }) => `${part} cannot be prepared: ${reason}`,
  remedy: () => 'fix the reported error and run the same command again; what is finished is kept',
})

export const machineFailed = problem<{ name: string; reason: string }>({
  code: 'SL9304',
  severity: 'error',
  message: ({ name, reason }) => `the virtual machine ${name} failed: ${reason}`,
  remedy: () => 'check that this machine has 600 MB of free memory per node, and run the same command again',
})

export const policyRefused = problem<{ policy: string; node: string; line: string; remedy: string }>({
  code: 'SL9310',
  severity: 'error',
  message: ({ policy, node, line }) => `nmstate does not enact policy ${policy} on ${node}: ${line}`,
  remedy: ({ remedy }) => remedy,
})

export const secondApplyChanged = problem<{ node: string; line: string }>({
  code: 'SL9311',
  severity: 'error',
  message: ({ node, line }) => `applying the policies of ${node} a second time changes its state: ${line}`,
  remedy: () => 'every `up` would change the node again: report it with the site file',
})

export const podNotAttached = problem<{ from: string; reason: string }>({
  code: 'SL9312',
  severity: 'error',
  message: ({ from, reason }) => `no pod can be attached to ${from}: ${reason}`,
  remedy: () => 'check `attach` and the interface of the network; `stackloom render` prints its attachment definition',
})

export const packetsLost = problem<{ cloud: string; from: string; sent: number; received: number }>({
  code: 'SL9313',
  severity: 'error',
  message: ({ cloud, from, sent, received }) =>
    `while the networks of ${cloud} were removed, a pod of ${from} got ${received} answers to ${sent} packets`,
  remedy: () => 'removing one cloud must not interrupt another: report it with the site file',
})

export const cablesExchanged = problem<{ node: string; nic: string; role: string; actual: string }>({
  code: 'SL9320',
  severity: 'error',
  message: ({ node, nic, role, actual }) =>
    `${nic} of ${node} is connected to the switch of role ${actual}, planned is ${role}`,
  remedy: ({ node }) => `exchange the cables of ${node}, or the names of its NICs in \`nics\` of the site file`,
})

export const portDropsVlan = problem<{ node: string; nic: string; vlan: string; networks: readonly string[] }>({
  code: 'SL9321',
  severity: 'error',
  message: ({ node, nic, vlan, networks }) =>
    `the switch port of ${node} ${nic} carries no ${formatVlan(vlan)} frame (${networks.join(', ')})`,
  remedy: ({ node, nic, vlan }) =>
    vlan === 'untagged'
      ? `set the native VLAN of the port of ${node} ${nic} to that of the other nodes`
      : `allow VLAN ${vlan} on the switch port of ${node} ${nic}`,
})

function formatVlan(vlan: string): string {
  return vlan === 'untagged' ? vlan : `VLAN ${vlan}`
}

export const portMtu = problem<{ node: string; nic: string; mtu: number; needed: number }>({
  code: 'SL9322',
  severity: 'error',
  message: ({ node, nic, mtu, needed }) =>
    `the switch port of ${node} ${nic} has an MTU of ${mtu}; its networks need ${needed}`,
  remedy: ({ node, nic, needed }) =>
    `set the MTU of the switch port of ${node} ${nic} to ${needed} or more, or plan a smaller \`mtu\``,
})

export const vlansConnected = problem<{
  vlans: readonly number[]
  networks: readonly string[]
  ports: readonly string[]
}>({
  code: 'SL9323',
  severity: 'error',
  message: ({ vlans, networks }) => `VLANs ${vlans.join(' and ')} are connected (${networks.join(', ')})`,
  remedy: ({ vlans, ports }) =>
    `remove the cable or bridge between VLANs ${vlans.join(' and ')}; frames cross at switch port ${ports.join(' and ')}`,
})

export const unknownMachine = problem<{ mac: string; port: string; vlan: number; networks: readonly string[] }>({
  code: 'SL9324',
  severity: 'error',
  message: ({ mac, port, vlan, networks }) =>
    `${mac} at switch port ${port} is on VLAN ${vlan} (${networks.join(', ')}) and belongs to no node of the site`,
  remedy: ({ port }) => `disconnect the machine at switch port ${port}, or reserve its address in the site file`,
})

export const notKept = problem<{ node: string; nodes: readonly string[] }>({
  code: 'SL9341',
  severity: 'error',
  message: ({ node, nodes }) =>
    nodes.length === 0 ? 'no rehearsal is kept on this machine' : `the kept rehearsal has no node ${node}`,
  remedy: ({ nodes }) =>
    nodes.length === 0 ? 'run `stackloom rehearse --keep` first' : `choose one of its nodes: ${nodes.join(', ')}`,
})

export const faultUnavailable = problem<{ fault: string; reason: string }>({
  code: 'SL9330',
  severity: 'error',
  message: ({ fault, reason }) => `--fault ${fault} cannot be rehearsed with this site: ${reason}`,
  remedy: () => 'choose another fault, or another site file',
})

export const vipsNotAnnounced = problem<{ addresses: readonly string[]; reason: string }>({
  code: 'SL9342',
  severity: 'error',
  message: ({ addresses, reason }) => {
    const [first = '', ...others] = addresses
    return `no speaker announces ${first}${others.length > 0 ? ` and ${others.length} more VIPs` : ''}: ${reason}`
  },
  remedy: () =>
    'check the pools and advertisements (`stackloom render`): the pool must have the address, and the advertisement a node that was rehearsed',
})

export const vipStays = problem<{ address: string; node: string; seconds: number }>({
  code: 'SL9343',
  severity: 'error',
  message: ({ address, node, seconds }) =>
    `${address} is answered by no other node within ${seconds} s after ${node} was cut off`,
  remedy: () => 'check that the L2Advertisement of its pool selects at least two nodes that have the interface',
})

export const vipNotRouted = problem<{ leaf: string; vip: string; learnt: number; nodes: number }>({
  code: 'SL9344',
  severity: 'error',
  message: ({ leaf, vip, learnt, nodes }) => `the BGP router ${leaf} learns ${vip} from ${learnt} of ${nodes} nodes`,
  remedy: () =>
    'check `metallb.asn` and `metallb.peers` of the site file: the AS numbers, the address and the nodes of this peer',
})

export const attachmentDiffers = problem<{ from: string; reason: string }>({
  code: 'SL9345',
  severity: 'error',
  message: ({ from, reason }) => `Multus and whereabouts do not attach ${from} as planned: ${reason}`,
  remedy: () => 'check the span for pods of the network; `stackloom render` prints its attachment definition',
})

export const attachmentStays = problem<{ pool: string; pod: string }>({
  code: 'SL9346',
  severity: 'error',
  message: ({ pool, pod }) => `whereabouts keeps an address of ${pool} for ${pod}, which is detached`,
  remedy: () => 'addresses would run out: report it with the site file',
})

export const dnsSilent = problem<{ cloud: string; network: string; address: string; name: string; reason: string }>({
  code: 'SL9347',
  severity: 'error',
  message: ({ cloud, network, address, name, reason }) =>
    `no pod on ${cloud}/${network} gets the address of ${name} from the DNS of ${cloud} at ${address}: ${reason}`,
  remedy: ({ address, network }) =>
    `check that nodes announce ${address} on ${network}, and that no other machine has it; ports other than 53 are not asked`,
})

export const routeStays = problem<{ leaf: string; vip: string; node: string; seconds: number }>({
  code: 'SL9348',
  severity: 'error',
  message: ({ leaf, vip, node, seconds }) =>
    `the BGP router ${leaf} still has ${vip} from ${node}, ${seconds} s after it was cut off`,
  remedy: () => 'packets to this VIP would be lost: report it with the site file',
})
