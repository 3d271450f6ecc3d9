/** SL9560 to SL9569: addresses of the data plane, and those that two allocators believe to own. */
import { problem } from '../../errors/finding.ts'

export const spansOverlap = problem<{ first: string; other: string; range: string }>({
  code: 'SL9560',
  severity: 'error',
  title: 'Two allocators of a cloud may assign the same addresses',
  message: ({ first, other, range }) => `${first} and ${other} both contain ${range}`,
  remedy: () =>
    'move one of them: stackloom import --from cluster and stackloom plan show every owner of the subnet and the free ranges',
  description: `MetalLB, whereabouts and NetConfig each know only their own addresses. Where their ranges overlap, one assigns an address that
another has already assigned: in one case two compute hosts got 172.17.0.30, which an OVN pod already had, and their network
configuration broke. Only a plan over all allocators prevents this.`,
  example: {
    first: 'NetConfig openstack/netconfig internalapi 172.17.0.10-172.17.0.250',
    other: 'NetworkAttachmentDefinition openstack/internalapi 172.17.0.30-172.17.0.70',
    range: '172.17.0.30-172.17.0.70',
  },
})

export const addressTwice = problem<{ address: string; holders: readonly string[] }>({
  code: 'SL9561',
  severity: 'error',
  title: 'Two objects have the same address',
  message: ({ address, holders }) => `${address} is held by ${holders.join(' and by ')}`,
  remedy: () =>
    'move the range of one allocator, then release the address where that is easier (delete the IPSet, or restart the pod)',
  description: `Two machines with one address both answer: connections break without a pattern, and both machines look healthy. The ranges
of their allocators overlap, or one address was set manually.`,
  example: { address: '172.17.0.30', holders: ['Reservation openstack/compute-0', 'pod openstack/ovsdbserver-sb-0'] },
})

export const netConfigMissing = problem<{ namespace: string; count: number }>({
  code: 'SL9562',
  severity: 'error',
  title: 'Hosts request addresses in a namespace without a NetConfig',
  message: ({ namespace, count }) =>
    `${count} ${count === 1 ? 'IPSet waits' : 'IPSets wait'}: ${namespace} has no NetConfig`,
  remedy: () => 'run stackloom up --stage netconfig; the NetConfig must be in the namespace of the IPSets',
  description: `An IPSet gets its addresses from the NetConfig of its own namespace. Without one, the IPSet and its node set wait
("NetConfig missing in namespace").`,
  example: { namespace: 'openstack2', count: 2 },
})

export const netConfigDeletionBlocked = problem<{ count: number; first: string; namespace: string }>({
  code: 'SL9563',
  severity: 'error',
  title: 'A NetConfig cannot be deleted while IPSets use its addresses',
  message: ({ count, first }) =>
    `it is being deleted and waits for ${count} ${count === 1 ? 'IPSet' : 'IPSets'}, the first is ${first}`,
  remedy: ({ namespace }) =>
    `delete the node sets that own them (kubectl -n ${namespace} get openstackdataplanenodesets), or, if none is left, the IPSets: kubectl -n ${namespace} delete ipsets --all`,
  description: `Hosts still have addresses of this NetConfig, so its deletion is blocked. IPSets are deleted together with their node set; an
IPSet that was created manually must be deleted manually. Removing the finalizer instead loses the record of used addresses.`,
  example: { count: 3, first: 'compute-0', namespace: 'openstack' },
})

export const twoNetConfigs = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9564',
  severity: 'error',
  title: 'A namespace has two NetConfigs',
  message: ({ namespace, names }) =>
    `${namespace} has ${names.join(' and ')}: the operator uses the one that is listed first`,
  remedy: () => 'keep the NetConfig that the IPSets use and delete the other one; a namespace needs exactly one',
  description: `The operator lists the NetConfigs of a namespace and uses the first one. With two, the addresses of one host may come from
different NetConfigs.`,
  example: { namespace: 'openstack', names: ['netconfig', 'openstacknetconfig'] },
})

export const ipSetNetworkUnknown = problem<{ network: string; subnet: string; known: string | undefined }>({
  code: 'SL9565',
  severity: 'error',
  title: 'An IPSet requests a network that the NetConfig does not have',
  message: ({ network, subnet, known }) =>
    `it requests ${network}/${subnet}, which the NetConfig of its namespace does not have${known === undefined ? '' : `; did you mean ${known}?`}`,
  remedy: () => 'correct the networks of the node set, or add the subnet to the NetConfig',
  description: `Network and subnet names are compared case-insensitively; otherwise they must match exactly. The IPSet waits, and its host is
not deployed.`,
  example: { network: 'internlapi', subnet: 'subnet1', known: 'internalapi/subnet1' },
})

export const hostsExhausted = problem<{ network: string; subnet: string; used: number; waiting: readonly string[] }>({
  code: 'SL9566',
  severity: 'error',
  title: 'A subnet has no free address for hosts',
  message: ({ network, subnet, used, waiting }) =>
    `all ${used} addresses of ${network}/${subnet} are reserved, and ${waiting.join(', ')} ${waiting.length === 1 ? 'waits' : 'wait'}`,
  remedy: () =>
    'add a free allocationRange (stackloom plan shows them), or delete IPSets of removed hosts; stackloom ipam status shows all reservations',
  description: `Every address in the allocationRanges of the subnet is reserved or excluded. Waiting IPSets get an address as soon as one
becomes free or a range grows.`,
  example: { network: 'internalapi', subnet: 'subnet1', used: 151, waiting: ['compute-151'] },
})

export const ipSetWaiting = problem<{ cause: string }>({
  code: 'SL9567',
  severity: 'error',
  title: 'An IPSet waits for its addresses',
  message: ({ cause }) => `it has no addresses yet: ${cause}`,
  remedy: () => 'run stackloom ipam status to see the usage of every subnet and all waiting IPSets',
  description: `The conditions of an IPSet show what it waits for: \`ReservationReady\` is about the addresses, \`InputReady\` about the
NetConfig. When the cause is fixed, the IPSet gets its addresses automatically.`,
  example: { cause: '172.17.0.150 already reserved on internalapi by openstack2/edpm-compute-0' },
})

export const reservationOutside = problem<{ address: string; network: string; why: string }>({
  code: 'SL9568',
  severity: 'error',
  title: 'A host has an address outside its subnet',
  message: ({ address, network, why }) => `${address} on ${network} ${why}`,
  remedy: () =>
    'delete the IPSet so that the node set creates it again, or correct the NetConfig; the host keeps the old address until it is deployed again',
  description: `The NetConfig was changed after the address was reserved, or the Reservation was created manually. The host is configured with
an address that its network does not route, or with the address of the router.`,
  example: { address: '172.17.0.1', network: 'internalapi', why: 'is the gateway' },
})

export const reservationOrphaned = problem<{ ipSet: string; count: number }>({
  code: 'SL9569',
  severity: 'warning',
  title: 'Addresses are reserved for a host that no longer exists',
  message: ({ ipSet, count }) =>
    `it holds ${count} ${count === 1 ? 'address' : 'addresses'} for IPSet ${ipSet}, which does not exist`,
  remedy: () => 'delete the Reservation if the host no longer exists',
  description: `A Reservation is garbage-collected with its IPSet. If it was restored from a backup, or its owner was deleted without its
dependents, it keeps its addresses forever.`,
  example: { ipSet: 'compute-7', count: 5 },
})
