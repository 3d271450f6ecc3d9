/** SL5xxx: the IPAM controllers. The messages are also what an IPSet's condition says. */
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
    `add an allocationRange to ${network} in the NetConfig, or delete an IPSet that is not needed: the oldest that waits gets its address at once`,
  description: `An IPSet asks for an address of a subnet, and every address of the subnet's allocationRanges is held, excluded,
or for nobody (network address, broadcast, gateway). What the IPSet got on its other networks stays with it. It need not
be touched: a freed address, or a wider range, wakes those who wait, the oldest first. \`stackloom ipam status\` shows who
holds what.`,
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
  title: 'The fixedIP of an IPSet is held by somebody else',
  message: ({ address, network, holder }) => `${address} already reserved on ${network} by ${holder}`,
  remedy: ({ holder }) => `choose another fixedIP, or delete ${holder}: the address then goes to this IPSet`,
  description: `An address is held once per segment: by whoever got it first, in whatever namespace and under whatever network's
name. Networks of two NetConfigs that have the same VLAN id and overlapping CIDRs are one segment; where they are not,
say so with the annotation \`stackloom.dev/segment\` on the NetConfigs.`,
  example: { address: '172.17.0.150', network: 'internalapi', holder: 'openstack2/edpm-compute-0' },
})

export const fixedAddressUnusable = problem<{ address: string; subnet: string; why: 'excluded' | 'gateway' }>({
  code: 'SL5003',
  severity: 'error',
  title: 'The fixedIP of an IPSet cannot be given to a host',
  message: ({ address, subnet, why }) =>
    why === 'excluded'
      ? `FixedIP ${address} is in ExcludeAddresses`
      : `FixedIP ${address} is the gateway of subnet ${subnet}`,
  remedy: () => 'choose another fixedIP, or take the address out of excludeAddresses',
  description: `\`excludeAddresses\` of a subnet names addresses that nobody gets, by name or by chance; the gateway belongs to the
router. The IPSet is stored, so that it can be corrected, and waits.`,
  example: { address: '172.17.0.201', subnet: 'subnet1', why: 'excluded' },
})

export const reservationConflict = problem<{ address: string; network: string; holder: string }>({
  code: 'SL5004',
  severity: 'error',
  title: 'A Reservation names an address that the ledger gave to somebody else',
  message: ({ address, network, holder }) =>
    `the Reservation says ${address} on ${network}, which the ledger says ${holder} holds`,
  remedy: ({ network }) =>
    `if the other one is right, remove ${network} from this Reservation: the IPSet then gets another address`,
  description: `The ledger (AddressBlock objects) is what makes an address unique; Reservations show what was given. They disagree
when a Reservation was made or edited by hand, or restored from a backup that is older than the grant. The ledger keeps its
owner, nothing is changed, and the IPSet says so until a person decides.`,
  example: { address: '172.17.0.100', network: 'internalapi', holder: 'openstack/edpm-compute-7' },
})

export const unknownNetwork = problem<{
  network: string
  subnet: string
  why: 'network' | 'subnet' | 'cidr' | 'twice'
}>({
  code: 'SL5005',
  severity: 'error',
  title: 'An IPSet asks for a network that its NetConfig does not have',
  message: ({ network, subnet, why }) =>
    ({
      network: `no network with name: ${network}`,
      subnet: `no subnet found with name: ${subnet} in network: ${network}`,
      cidr: `the CIDR of subnet ${subnet} in network ${network} cannot be read`,
      twice: `network ${network} is asked for twice`,
    })[why],
  remedy: () => 'correct the IPSet, or add the network to the NetConfig of its namespace',
  description: `The webhooks refuse such an IPSet. It can exist where it was stored before they were installed, or where the
NetConfig was replaced. Names are compared without regard to case.`,
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
  title: 'Two Reservations name one address of a segment',
  message: ({ address, network, segment, owners: [first, second] }) =>
    `${address} on ${network} (segment ${segment}) is reserved for ${first} and for ${second}`,
  remedy: ({ owners: [, second] }) =>
    `delete ${second} and create it again, or, where these are two segments, annotate the NetConfigs with stackloom.dev/segment`,
  description: `infra-operator looks for a free address among the Reservations of one network in one namespace. Two namespaces, or
two networks, with overlapping CIDRs on one VLAN get the same addresses, and two hosts answer for one. Where Stackloom's own
operator grants addresses this cannot happen.`,
  example: {
    address: '172.17.0.100',
    network: 'internalapi',
    segment: 'vlan-20',
    owners: ['openstack/edpm-compute-0', 'openstack2/edpm-compute-0'],
  },
})
