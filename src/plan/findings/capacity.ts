/** SL23xx: too few VIPs, node addresses, host addresses or subnets. */
import { problem } from '../../errors/finding.ts'

export const tooFewVips = problem<{ owner: string; needed: number; available: number; slots: string }>({
  code: 'SL2301',
  severity: 'error',
  title: 'There are too few VIPs for the services',
  message: ({ owner, needed, available, slots }) =>
    `${owner} needs ${needed} VIPs and has ${available}; left out: ${slots}`,
  remedy: () => 'make the vips span larger; the APIs share one address, each RabbitMQ needs its own',
  description: `The APIs of a network share one VIP, because their ports differ. RabbitMQs use the same ports, so each needs
an address of its own, and so does each replica of designate's DNS servers.`,
  example: { owner: 'rhoso1/internalapi', needed: 3, available: 2, slots: 'rabbitmq.rabbitmq-cell1' },
})

export const tooFewNodeAddresses = problem<{ owner: string; needed: number; available: number }>({
  code: 'SL2302',
  severity: 'error',
  title: 'There are too few addresses for the nodes',
  message: ({ owner, needed, available }) => `${owner} has ${available} node addresses, and there are ${needed} nodes`,
  remedy: () => 'make the nodes span larger',
  description: `Every node of the cluster gets an address on every network that has a nodes span: it is the route back from
a VIP to the network's clients. Leave the span out if nodes need none there.`,
  example: { owner: 'rhoso1/storage', needed: 5, available: 3 },
})

export const tooFewHostAddresses = problem<{ owner: string; needed: number; available: number }>({
  code: 'SL2303',
  severity: 'error',
  title: 'There are too few addresses for the data plane hosts',
  message: ({ owner, needed, available }) => `${owner} has ${available} host addresses, and there are ${needed} hosts`,
  remedy: () => 'make the hosts span or the subnet larger (addressing.prefixLength), or add a subnet',
  description: `Each data plane host gets one address of each family on every network that it is attached to. Addresses of
hosts that left stay taken until they are forgotten.`,
  example: { owner: 'rhoso1/tenant', needed: 200, available: 151 },
})

export const vipPortConflict = problem<{ a: string; b: string; address: string; free: string | undefined }>({
  code: 'SL2304',
  severity: 'error',
  title: 'Two services that cannot share an address are pinned to one VIP',
  message: ({ a, b, address }) => `${a} and ${b} are both pinned to ${address}, and their ports conflict`,
  remedy: ({ b, free }) => `pin ${b} to another address${free ? `, such as ${free}` : ''}, or leave it to the planner`,
  description: `MetalLB can give one address to several Services if their ports differ. All RabbitMQs listen on 5671 and
15671: the second one stays pending forever. Internal and public endpoints of one API have equal ports too.`,
  example: {
    a: 'rhoso1 rabbitmq.rabbitmq',
    b: 'rhoso1 rabbitmq.rabbitmq-cell1',
    address: '172.17.0.85',
    free: '172.17.0.86',
  },
})

export const vipOutsidePool = problem<{ owner: string; slot: string; address: string; spans: string }>({
  code: 'SL2305',
  severity: 'error',
  title: 'A pinned VIP is not in its pool',
  message: ({ owner, slot, address, spans }) =>
    `${slot} is pinned to ${address}, and the vips of ${owner} are ${spans || 'none'}`,
  remedy: () => 'pin it to an address of the vips span, or widen the span',
  description: `MetalLB refuses an address that is not in the pool that the Service names, and the Service stays pending.`,
  example: {
    owner: 'rhoso1/internalapi',
    slot: 'keystone.internal',
    address: '172.17.0.99',
    spans: '172.17.0.80-172.17.0.90',
  },
})

export const subnetsExhausted = problem<{ owner: string; family: number; supernets: string }>({
  code: 'SL2306',
  severity: 'error',
  title: 'No subnet is left',
  message: ({ owner, family, supernets }) =>
    `${owner} needs an IPv${family} subnet, and none is free in ${supernets || 'its supernets: there are none'}`,
  remedy: () => 'pin a subnet, add supernets to the network, or forget clouds that are gone',
  description: `Subnets are taken from the network's supernets, lowest first, around everything that is pinned, reserved by
the cluster, or still held by a cloud that is leaving.`,
  example: { owner: 'rhoso9/internalapi', family: 4, supernets: '172.17.0.0/21' },
})

export const slotUnknown = problem<{ cloud: string; slot: string; meant: readonly string[] }>({
  code: 'SL2307',
  severity: 'error',
  title: 'A VIP is pinned for a slot that the cloud does not have',
  message: ({ cloud, slot, meant }) =>
    `${cloud} has no slot ${slot}${meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : ''}`,
  remedy: () => 'list the slots of the cloud by name with `stackloom slots -f FILE`',
  description: `A slot is a place in the control plane's schema that takes a Service override. It exists in a cloud when its
service is enabled there.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internl', meant: ['keystone.internal'] },
})
