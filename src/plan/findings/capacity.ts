/** SL23xx: too few VIPs, node addresses, host addresses or subnets. */
import { problem } from '../../errors/finding.ts'

export const tooFewVips = problem<{ owner: string; needed: number; available: number; slots: string }>({
  code: 'SL2301',
  severity: 'error',
  message: ({ owner, needed, available, slots }) =>
    `${owner} needs ${needed} VIPs and has ${available}; left out: ${slots}`,
  remedy: () => 'make the vips span larger; the APIs share one address, each RabbitMQ needs its own',
})

export const tooFewNodeAddresses = problem<{ owner: string; needed: number; available: number }>({
  code: 'SL2302',
  severity: 'error',
  message: ({ owner, needed, available }) => `${owner} has ${available} node addresses, and there are ${needed} nodes`,
  remedy: () => 'make the nodes span larger',
})

export const tooFewHostAddresses = problem<{ owner: string; needed: number; available: number }>({
  code: 'SL2303',
  severity: 'error',
  message: ({ owner, needed, available }) => `${owner} has ${available} host addresses, and there are ${needed} hosts`,
  remedy: () => 'make the hosts span or the subnet larger (addressing.prefixLength), or add a subnet',
})

export const vipPortConflict = problem<{ a: string; b: string; address: string; free: string | undefined }>({
  code: 'SL2304',
  severity: 'error',
  message: ({ a, b, address }) => `${a} and ${b} are both pinned to ${address}, and their ports conflict`,
  remedy: ({ b, free }) => `pin ${b} to another address${free ? `, such as ${free}` : ''}, or leave it to the planner`,
})

export const vipOutsidePool = problem<{ owner: string; slot: string; address: string; spans: string }>({
  code: 'SL2305',
  severity: 'error',
  message: ({ owner, slot, address, spans }) =>
    `${slot} is pinned to ${address}, and the vips of ${owner} are ${spans || 'none'}`,
  remedy: () => 'pin it to an address of the vips span, or widen the span',
})

export const subnetsExhausted = problem<{ owner: string; family: number; supernets: string }>({
  code: 'SL2306',
  severity: 'error',
  message: ({ owner, family, supernets }) =>
    `${owner} needs an IPv${family} subnet, and none is free in ${supernets || 'its supernets: there are none'}`,
  remedy: () => 'pin a subnet, add supernets to the network, or forget clouds that are gone',
})

export const slotUnknown = problem<{ cloud: string; slot: string; meant: readonly string[] }>({
  code: 'SL2307',
  severity: 'error',
  message: ({ cloud, slot, meant }) =>
    `${cloud} has no slot ${slot}${meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : ''}`,
  remedy: () => 'list the slots of the cloud by name with `stackloom slots -f FILE`',
})

export const nodesNotOnNetwork = problem<{ owner: string; nodes: readonly string[] }>({
  code: 'SL2328',
  severity: 'warning',
  message: ({ owner, nodes }) => `${nodes.join(', ')} ${nodes.length === 1 ? 'has' : 'have'} no address in ${owner}`,
  remedy: ({ owner }) => `enlarge the nodes span, unless these nodes are not meant to be on ${owner}`,
})
