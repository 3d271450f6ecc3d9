/** SL22xx: VLANs, interfaces, bridges and segments. */
import { problem } from '../../errors/finding.ts'

export const duplicateVlan = problem<{ a: string; b: string; segment: string; free: number | undefined }>({
  code: 'SL2201',
  severity: 'error',
  title: 'One VLAN of a NIC is used twice',
  message: ({ a, b, segment }) => `${a} and ${b} both use ${segment}`,
  remedy: ({ b, free }) =>
    `give ${b} a VLAN of its own${free === undefined ? '' : `, such as ${free}`}, or choose isolation: shared-vlan`,
  description: `A VLAN on a NIC is one L2 domain: every machine on it receives all broadcasts and can take any address. Each
network of each cloud gets its own, unless the site file chooses \`isolation: shared-vlan\`, where networks of one
name share one VLAN across clouds.`,
  example: { a: 'rhoso1/internalapi', b: 'rhoso2/internalapi', segment: 'VLAN 20 of NIC main', free: 31 },
})

export const vlanDiffers = problem<{ owner: string; cidr: string; subnetVlan: string; networkVlan: string }>({
  code: 'SL2202',
  severity: 'error',
  title: 'Two objects of one subnet would have different VLANs',
  message: ({ owner, cidr, subnetVlan, networkVlan }) =>
    `${owner}: ${cidr} is on ${subnetVlan} in its subnet, and on ${networkVlan} in its network`,
  remedy: () => 'write the VLAN once, at the network; a subnet of hosts at another site may have its own',
  description: `The subnet's VLAN goes into NetConfig (the data plane's side), the network's into node networking, pods and
MetalLB (the cluster's side). When both sides use the subnet and their VLANs differ, they cannot reach each other.`,
  example: { owner: 'rhoso1/internalapi', cidr: '172.17.0.0/24', subnetVlan: 'VLAN 21', networkVlan: 'VLAN 20' },
})

export const vlanShared = problem<{ segment: string; networks: string }>({
  code: 'SL2203',
  severity: 'warning',
  title: 'Several clouds share one L2 domain',
  message: ({ segment, networks }) => `${networks} share ${segment}: this is one L2 domain, not isolation`,
  remedy: () => 'choose isolation: vlan-per-cloud, if the switches have VLANs to spare',
  description: `Different subnets on one VLAN separate addresses, not traffic. Every machine of one cloud can answer ARP for
an address of the other, and read its broadcasts. The site file chose this; the warning makes clear that it is
not isolation.`,
  example: { segment: 'VLAN 20 of NIC main', networks: 'rhoso1/internalapi and rhoso2/internalapi' },
})

export const vlanOutOfRange = problem<{ owner: string; vlan: number }>({
  code: 'SL2204',
  severity: 'error',
  title: 'A VLAN id is out of range',
  message: ({ owner, vlan }) => `${owner}: ${vlan} is not a VLAN id`,
  remedy: () => 'choose one from 1 to 4094',
  description: `A VLAN id has twelve bits; 0 and 4095 mean something else. An untagged network is \`vlan: untagged\`.`,
  example: { owner: 'rhoso1/internalapi', vlan: 4095 },
})

export const mtuAboveBase = problem<{ owner: string; mtu: number; base: number; interface: string }>({
  code: 'SL2205',
  severity: 'error',
  title: "A network's mtu is above that of the NIC below it",
  message: ({ owner, mtu, base, interface: name }) => `${owner} has mtu ${mtu}, and ${name} below it carries ${base}`,
  remedy: ({ base }) => `set the nodes' mtu in cluster.nodes[].mtu, or use ${base} at most`,
  description: `A VLAN cannot carry longer frames than the NIC that it lies on: the kernel refuses the mtu, and nmstate rolls
the whole node back. \`cluster.nodes[].mtu\` is the mtu of the NICs, 1500 by default.`,
  example: { owner: 'rhoso1/tenant', mtu: 9000, base: 1500, interface: 'enp6s0' },
})

export const vlansExhausted = problem<{ owner: string; first: number; last: number }>({
  code: 'SL2206',
  severity: 'error',
  title: 'No VLAN id is left',
  message: ({ owner, first, last }) => `${owner} needs a VLAN, and ${first}-${last} are all taken`,
  remedy: () => 'widen addressing.vlans, use a second NIC, or forget clouds that are gone',
  description: `Each network of each cloud takes one VLAN id of its NIC. Ids of clouds that are leaving stay taken until
\`stackloom down\` has finished or \`stackloom plan --forget NAME\` frees them.`,
  example: { owner: 'rhoso5/octavia', first: 20, last: 59 },
})

export const nicNamesDiffer = problem<{ owner: string; nic: string; names: string }>({
  code: 'SL2207',
  severity: 'error',
  title: 'An untagged network without a bridge has no common interface name',
  message: ({ owner, nic, names }) => `${owner} is untagged on the NIC "${nic}", which is ${names} on different nodes`,
  remedy: () => 'give the network a bridge (`bridge: true`), so that its interface has one name on all nodes',
  description: `Pods and MetalLB name the interface once for all nodes. VLANs and bridges have names that Stackloom chooses;
a bare NIC has the name that the node gives it.`,
  example: { owner: 'rhoso1/ctlplane', nic: 'main', names: 'enp6s0 and eno1' },
})

export const duplicateBridge = problem<{ a: string; b: string; name: string }>({
  code: 'SL2208',
  severity: 'error',
  title: 'One interface name is used on two segments',
  message: ({ a, b, name }) => `${a} and ${b} both name an interface ${name}, and they are on different segments`,
  remedy: ({ b }) => `leave the name of ${b} to the planner, or choose another one`,
  description: `An interface or bridge exists once on a node. Two segments that are joined in one bridge are one L2 domain.`,
  example: { a: 'rhoso1/ctlplane', b: 'rhoso2/ctlplane', name: 'ospbr' },
})

export const noBridge = problem<{ owner: string }>({
  code: 'SL2209',
  severity: 'error',
  title: 'A network attaches by bridge, and there is none',
  message: ({ owner }) => `${owner} attaches pods by bridge, and neither it nor the cloud's ctlplane has a bridge`,
  remedy: () => 'give it (or ctlplane) `bridge: true`',
  description: `\`datacentre\` uses the bridge of the cloud's ctlplane. A cloud whose ctlplane has no bridge needs a NIC
or a VLAN with a bridge for datacentre itself, or no datacentre at all (\`datacentre: false\`).`,
  example: { owner: 'rhoso1/datacentre' },
})
