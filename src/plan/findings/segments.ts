/** SL22xx: VLANs, interfaces, bridges and segments. */
import { problem } from '../../errors/finding.ts'

export const duplicateVlan = problem<{ a: string; b: string; segment: string; free: number | undefined }>({
  code: 'SL2201',
  severity: 'error',
  message: ({ a, b, segment }) => `${a} and ${b} both use ${segment}`,
  remedy: ({ b, free }) =>
    `give ${b} a VLAN of its own${free === undefined ? '' : `, such as ${free}`}, or choose isolation: shared-vlan`,
})

export const vlanDiffers = problem<{ owner: string; cidr: string; subnetVlan: string; networkVlan: string }>({
  code: 'SL2202',
  severity: 'error',
  message: ({ owner, cidr, subnetVlan, networkVlan }) =>
    `${owner}: ${cidr} is on ${subnetVlan} in its subnet, and on ${networkVlan} in its network`,
  remedy: () => 'write the VLAN once, at the network; a subnet of hosts at another site may have its own',
})

export const vlanShared = problem<{ clouds: string; count: number }>({
  code: 'SL2203',
  severity: 'warning',
  message: ({ clouds, count }) =>
    `${clouds} share ${count === 1 ? 'a segment: it' : `${count} segments: each`} is one L2 domain, not isolation`,
  remedy: () => 'choose isolation: vlan-per-cloud, if the switches have VLANs to spare',
})

export const vlanOutOfRange = problem<{ owner: string; vlan: number }>({
  code: 'SL2204',
  severity: 'error',
  message: ({ owner, vlan }) => `${owner}: ${vlan} is not a VLAN id`,
  remedy: () => 'choose one from 1 to 4094',
})

export const trunkInvalid = problem<{ owner: string; written: string }>({
  code: 'SL2225',
  severity: 'error',
  message: ({ owner, written }) => `${owner}: ${written} in its trunk is neither a VLAN id nor a range of them`,
  remedy: () => 'write ids from 1 to 4094, or ranges such as 100-199',
})

export const trunkHasNetwork = problem<{ owner: string; vlan: number; holder: string }>({
  code: 'SL2226',
  severity: 'error',
  message: ({ owner, vlan, holder }) =>
    `${owner}: its trunk has VLAN ${vlan} of ${holder}, so its pods could send and receive on that network`,
  remedy: ({ vlan }) => `take ${vlan} out of the trunk, or give one of the two another VLAN`,
})

export const trunkUnused = problem<{ owner: string; trunk: string }>({
  code: 'SL2227',
  severity: 'warning',
  message: ({ owner, trunk }) =>
    `${owner}: its trunk (${trunk}) has no effect, because its pods are not attached to a bridge`,
  remedy: () => 'remove `trunk`, or set `attach: bridge`',
})

export const mtuAboveBase = problem<{ owner: string; mtu: number; base: number; interface: string }>({
  code: 'SL2205',
  severity: 'error',
  message: ({ owner, mtu, base, interface: name }) => `${owner} has mtu ${mtu}, and ${name} below it carries ${base}`,
  remedy: ({ base }) => `set the nodes' mtu in cluster.nodes[].mtu, or use ${base} at most`,
})

export const vlansExhausted = problem<{ owner: string; first: number; last: number }>({
  code: 'SL2206',
  severity: 'error',
  message: ({ owner, first, last }) => `${owner} needs a VLAN, and ${first}-${last} are all taken`,
  remedy: () =>
    'widen addressing.vlans, pin the `vlan` of networks (a pin may be outside the range), set networks that the cloud does not need to `false`, use a second NIC, or forget clouds that are gone',
})

export const nicNamesDiffer = problem<{ owner: string; nic: string; names: string }>({
  code: 'SL2207',
  severity: 'error',
  message: ({ owner, nic, names }) => `${owner} is untagged on the NIC "${nic}", which is ${names} on different nodes`,
  remedy: () => 'give the network a bridge (`bridge: true`), so that its interface has one name on all nodes',
})

export const duplicateBridge = problem<{ a: string; b: string; name: string }>({
  code: 'SL2208',
  severity: 'error',
  message: ({ a, b, name }) => `${a} and ${b} both name an interface ${name}, which a node has only once`,
  remedy: ({ b }) =>
    `leave the name of ${b} to the planner, or choose another one; if a NIC has the wrong name, correct it at the nodes`,
})

export const noBridge = problem<{ owner: string }>({
  code: 'SL2209',
  severity: 'error',
  message: ({ owner }) => `${owner} attaches pods by bridge, and neither it nor the cloud's ctlplane has a bridge`,
  remedy: () => 'give it (or ctlplane) `bridge: true`',
})
