/** SL50xx: findings of the IPAM controllers. Their messages are part of the conditions of an IPSet. */
import { problem } from '../../errors/finding.ts'

export const subnetExhausted = problem<{
  network: string
  subnet: string
  used: number
  most: { namespace: string; count: number } | undefined
}>({
  code: 'SL5001',
  severity: 'error',
  title: 'A subnet has no free address left',
  message: ({ network, subnet, used, most }) =>
    `no ip address could be created for ${network} in subnet ${subnet}: all ${used} addresses of its allocationRanges are in use${
      most ? `, ${most.count} of them by namespace ${most.namespace}` : ''
    }`,
  remedy: ({ network }) =>
    `add an allocationRange to ${network} in the NetConfig, or delete an IPSet that is not needed: the oldest waiting IPSet then gets an address at once`,
  description: `An IPSet requests an address of a subnet, and every address of the subnet's allocationRanges is held, excluded, or
never assigned (network address, broadcast, gateway). The IPSet keeps its addresses on other networks. It need not be
changed: when an address becomes free or a range grows, waiting IPSets are served, oldest first. \`stackloom ipam
status\` lists the holders.`,
  example: {
    network: 'internalapi',
    subnet: 'subnet1',
    used: 101,
    most: { namespace: 'openstack', count: 88 },
  },
})

export const fixedAddressTaken = problem<{ address: string; network: string; holder: string }>({
  code: 'SL5002',
  severity: 'error',
  title: 'The fixedIP of an IPSet is held by another IPSet',
  message: ({ address, network, holder }) => `${address} already reserved on ${network} by ${holder}`,
  remedy: ({ holder }) => `choose another fixedIP, or delete ${holder}: the address then goes to this IPSet`,
  description: `An address is held once per segment, across namespaces and network names. Networks of two NetConfigs with the same
VLAN id are one segment; where they are not, set the annotation \`stackloom.dev/segment\` on the NetConfigs.`,
  example: { address: '172.17.0.150', network: 'internalapi', holder: 'openstack2/edpm-compute-0' },
})

export const fixedAddressUnusable = problem<{ address: string; subnet: string; why: 'excluded' | 'gateway' }>({
  code: 'SL5003',
  severity: 'error',
  title: 'The fixedIP of an IPSet cannot be assigned to a host',
  message: ({ address, subnet, why }) =>
    why === 'excluded'
      ? `FixedIP ${address} is in ExcludeAddresses`
      : `FixedIP ${address} is the gateway of subnet ${subnet}`,
  remedy: () => 'choose another fixedIP, or remove the address from excludeAddresses',
  description: `The addresses in \`excludeAddresses\` of a subnet are never assigned, and the gateway belongs to the router. The IPSet
is stored, so that it can be corrected, and waits.`,
  example: { address: '172.17.0.201', subnet: 'subnet1', why: 'excluded' },
})

export const reservationConflict = problem<{ address: string; network: string; holder: string }>({
  code: 'SL5004',
  severity: 'error',
  title: 'A Reservation has an address that another IPSet holds in the ledger',
  message: ({ address, network, holder }) =>
    `the Reservation has ${address} on ${network}, which the ledger says ${holder} holds`,
  remedy: ({ network }) =>
    `if the ledger is right, remove ${network} from this Reservation: the IPSet then gets another address`,
  description: `The ledger (AddressBlock objects) makes an address unique; Reservations show what was assigned. They disagree when a
Reservation was created or edited manually, or restored from a backup that is older than the assignment. The holder in the
ledger keeps the address, nothing is changed, and the IPSet reports the conflict until a person resolves it.`,
  example: { address: '172.17.0.100', network: 'internalapi', holder: 'openstack/edpm-compute-7' },
})

export const unknownNetwork = problem<{
  network: string
  subnet: string
  why: 'network' | 'subnet' | 'cidr' | 'twice'
}>({
  code: 'SL5005',
  severity: 'error',
  title: 'An IPSet requests a network that its NetConfig does not have',
  message: ({ network, subnet, why }) =>
    ({
      network: `no network with name: ${network}`,
      subnet: `no subnet found with name: ${subnet} in network: ${network}`,
      cidr: `the CIDR of subnet ${subnet} in network ${network} cannot be parsed`,
      twice: `network ${network} is requested twice`,
    })[why],
  remedy: () => 'correct the IPSet, or add the network to the NetConfig of its namespace',
  description: `The webhooks refuse such an IPSet. It can exist where it was stored before they were installed, or where the
NetConfig was replaced. Names are compared ignoring case.`,
  example: { network: 'internlapi', subnet: 'subnet1', why: 'network' },
})

export const duplicateAddress = problem<{
  address: string
  network: string
  segment: string
  owners: readonly [string, string]
}>({
  code: 'SL5006',
  severity: 'error',
  title: 'Two Reservations have the same address of a segment',
  message: ({ address, network, segment, owners: [first, second] }) =>
    `${address} on ${network} (segment ${segment}) is reserved for ${first} and for ${second}`,
  remedy: ({ owners: [, second] }) =>
    `delete ${second} and create it again, or, where these are two segments, annotate the NetConfigs with stackloom.dev/segment`,
  description: `infra-operator searches a free address among the Reservations of one network in one namespace. Two namespaces or
networks with overlapping CIDRs on one VLAN get the same addresses, and two hosts use one address. This cannot happen where
Stackloom's operator assigns them.`,
  example: {
    address: '172.17.0.100',
    network: 'internalapi',
    segment: 'vlan-20',
    owners: ['openstack/edpm-compute-0', 'openstack2/edpm-compute-0'],
  },
})
