/** SL50xx: findings of the IPAM controllers. Their messages are part of the conditions of an IPSet. */
import { problem } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'

export const subnetExhausted = problem<{
  network: string
  subnet: string
  used: number
  most: { namespace: string; count: number } | undefined
}>({
  code: 'SL5001',
  severity: 'error',
  message: ({ network, subnet, used, most }) =>
    `no ip address could be created for ${network} in subnet ${subnet}: all ${used} addresses of its allocationRanges are in use${
      most ? `, ${most.count} of them by namespace ${most.namespace}` : ''
    }`,
  remedy: ({ network }) =>
    `add an allocationRange to ${network} in the NetConfig, or delete an IPSet that is not needed: the oldest waiting IPSet then gets an address at once`,
})

export const fixedAddressTaken = problem<{ address: string; network: string; holder: string }>({
  code: 'SL5002',
  severity: 'error',
  message: ({ address, network, holder }) => `${address} already reserved on ${network} by ${holder}`,
  remedy: ({ holder }) => `choose another fixedIP, or delete ${holder}: the address then goes to this IPSet`,
})

export const fixedAddressUnusable = problem<{ address: string; subnet: string; why: 'excluded' | 'gateway' }>({
  code: 'SL5003',
  severity: 'error',
  message: ({ address, subnet, why }) =>
    why === 'excluded'
      ? `FixedIP ${address} is in ExcludeAddresses`
      : `FixedIP ${address} is the gateway of subnet ${subnet}`,
  remedy: () => 'choose another fixedIP, or remove the address from excludeAddresses',
})

export const addressOutsideSubnet = problem<{ address: string; network: string; subnet: string }>({
  code: 'SL5012',
  severity: 'error',
  message: ({ address, network, subnet }) =>
    `${address} is not in subnet ${subnet} of ${network}, and may belong to another namespace of the segment`,
  remedy: () => 'correct the Reservation or the fixedIP, or delete the Reservation to get another address',
})

export const reservationConflict = problem<{ address: string; network: string; holder: string }>({
  code: 'SL5004',
  severity: 'error',
  message: ({ address, network, holder }) =>
    `the Reservation has ${address} on ${network}, which the ledger says ${holder} holds`,
  remedy: ({ network }) =>
    `if the ledger is right, remove ${network} from this Reservation: the IPSet then gets another address`,
})

export const unknownNetwork = problem<{
  network: string
  subnet: string
  why: 'network' | 'subnet' | 'cidr' | 'twice'
}>({
  code: 'SL5005',
  severity: 'error',
  message: ({ network, subnet, why }) =>
    ({
      network: `no network with name: ${network}`,
      subnet: `no subnet found with name: ${subnet} in network: ${network}`,
      cidr: `the CIDR of subnet ${subnet} in network ${network} cannot be parsed`,
      twice: `network ${network} is requested twice`,
    })[why],
  remedy: () => 'correct the IPSet, or add the network to the NetConfig of its namespace',
})

export const duplicateAddress = problem<{
  address: string
  network: string
  segment: string
  owners: readonly [string, string]
}>({
  code: 'SL5006',
  severity: 'error',
  message: ({ address, network, segment, owners: [first, second] }) =>
    `${address} on ${network} (segment ${segment}) is reserved for ${first} and for ${second}`,
  remedy: ({ owners: [, second] }) =>
    `delete ${second} and create it again, or, where these are two segments, annotate the NetConfigs with stackloom.dev/segment`,
})

export const segmentNotShared = problem<{
  network: string
  subnet: string
  segment: string
  owner: string
  namespace: string
}>({
  code: 'SL5017',
  severity: 'error',
  message: ({ network, subnet, segment, owner }) =>
    `no ip address could be created for ${network} in subnet ${subnet}: namespace ${owner} uses these addresses on segment ${segment} and does not share them`,
  remedy: ({ owner, namespace }) =>
    `choose another subnet or VLAN id; or, where both namespaces belong together, annotate the NetConfig of ${owner} with stackloom.dev/shared-with: ${namespace}`,
})

export const segmentListed = problem<{
  network: string
  subnet: string
  segment: string
  owner: string
  namespace: string
}>({
  code: 'SL5013',
  severity: 'error',
  message: ({ network, subnet, segment, owner }) =>
    `no ip address could be created for ${network} in subnet ${subnet}: the administrator gave segment ${segment} to namespace ${owner}`,
  remedy: ({ segment, namespace }) =>
    `choose another VLAN id; or ask the administrator to start the operator with \`--segment-owners ${quoteShellWord(`${segment}=${namespace}`)}\` too`,
})
