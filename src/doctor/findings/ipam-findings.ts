/** SL9560 to SL9569: addresses of the data plane, and those that two allocators believe to own. */
import { problem } from '../../errors/finding.ts'

export const spansOverlap = problem<{ one: string; other: string; range: string }>({
  code: 'SL9560',
  severity: 'error',
  title: 'Two allocators of a cloud may give out the same addresses',
  message: ({ one, other, range }) => `${one} and ${other} both hold ${range}`,
  remedy: () =>
    'move one of them: stackloom import --from cluster and stackloom plan show every owner of the subnet and what is free',
  description: `MetalLB, whereabouts and NetConfig each know only their own addresses. Where their ranges meet, each gives out what
another has given already: two compute hosts once got 172.17.0.30, which a pod of OVN had, and their network configuration was
left broken. Only a plan over all of them can tell beforehand.`,
  example: {
    one: 'NetConfig openstack/netconfig internalapi 172.17.0.10-172.17.0.250',
    other: 'NetworkAttachmentDefinition openstack/internalapi 172.17.0.30-172.17.0.70',
    range: '172.17.0.30-172.17.0.70',
  },
})

export const addressTwice = problem<{ address: string; holders: readonly string[] }>({
  code: 'SL9561',
  severity: 'error',
  title: 'One address is held twice',
  message: ({ address, holders }) => `${address} is held by ${holders.join(' and by ')}`,
  remedy: () =>
    'take it from the one that is easier to move (delete the IPSet, or restart the pod), after its range was moved out of the way',
  description: `Two holders of one address answer in turns: connections break without a pattern, and both look healthy. The ranges of
their allocators overlap, or one of them was given the address by hand.`,
  example: {
    address: '172.17.0.30',
    holders: ['Reservation openstack/compute-0', 'pod openstack/ovsdbserver-sb-0'],
  },
})

export const netConfigMissing = problem<{ namespace: string; count: number }>({
  code: 'SL9562',
  severity: 'error',
  title: 'Hosts ask for addresses in a namespace without a NetConfig',
  message: ({ namespace, count }) =>
    `${count} ${count === 1 ? 'IPSet waits' : 'IPSets wait'}: ${namespace} has no NetConfig`,
  remedy: () => 'stackloom up --stage netconfig; it must be in the namespace of the IPSets',
  description: `An IPSet gets its addresses from the NetConfig of its own namespace. Without one it waits ("NetConfig missing in
namespace"), and its node set with it.`,
  example: { namespace: 'openstack2', count: 2 },
})

export const netConfigHeld = problem<{ count: number; first: string; namespace: string }>({
  code: 'SL9563',
  severity: 'error',
  title: 'A NetConfig cannot be deleted while IPSets hold its addresses',
  message: ({ count, first }) =>
    `it is being deleted and waits for ${count} ${count === 1 ? 'IPSet' : 'IPSets'}, the first is ${first}`,
  remedy: ({ namespace }) =>
    `delete the node sets that own them (kubectl -n ${namespace} get openstackdataplanenodesets), or, if none is left, the IPSets: kubectl -n ${namespace} delete ipsets --all`,
  description: `Hosts still have addresses of this NetConfig, so its deletion is held back. IPSets belong to node sets and go with them;
one that was made by hand stays until somebody deletes it. Taking the finalizer away instead forgets who has which address.`,
  example: { count: 3, first: 'compute-0', namespace: 'openstack' },
})

export const twoNetConfigs = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9564',
  severity: 'error',
  title: 'A namespace has two NetConfigs',
  message: ({ namespace, names }) =>
    `${namespace} has ${names.join(' and ')}: the operator takes whichever it is listed first`,
  remedy: () => 'keep the one that the IPSets were served from and delete the other; a namespace has one NetConfig',
  description: `The operator lists the NetConfigs of a namespace and uses the first. With two of them a host may get its second
address from another one than its first.`,
  example: { namespace: 'openstack', names: ['netconfig', 'openstacknetconfig'] },
})

export const ipSetNetworkUnknown = problem<{ network: string; subnet: string; known: string | undefined }>({
  code: 'SL9565',
  severity: 'error',
  title: 'An IPSet asks for a network that the NetConfig does not have',
  message: ({ network, subnet, known }) =>
    `it asks for ${network}/${subnet}, which the NetConfig of its namespace does not have${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () => 'correct the networks of the node set, or add the subnet to the NetConfig',
  description: `Names of networks and subnets are compared without regard to case, and nothing else is guessed. The IPSet waits, and its
host is not deployed.`,
  example: { network: 'internlapi', subnet: 'subnet1', known: 'internalapi/subnet1' },
})

export const hostsExhausted = problem<{
  network: string
  subnet: string
  used: number
  waiting: readonly string[]
}>({
  code: 'SL9566',
  severity: 'error',
  title: 'A subnet has no address left for hosts',
  message: ({ network, subnet, used, waiting }) =>
    `all ${used} addresses of ${network}/${subnet} are reserved, and ${waiting.join(', ')} ${waiting.length === 1 ? 'waits' : 'wait'}`,
  remedy: () =>
    'add an allocationRange that nobody else owns (stackloom plan knows them), or delete IPSets of hosts that are gone; stackloom ipam status shows who holds what',
  description: `Every address of the subnet's allocationRanges is reserved or excluded. Those who wait are served as soon as one becomes
free or a range grows.`,
  example: { network: 'internalapi', subnet: 'subnet1', used: 151, waiting: ['compute-151'] },
})

export const ipSetWaiting = problem<{ cause: string }>({
  code: 'SL9567',
  severity: 'error',
  title: 'An IPSet waits for its addresses',
  message: ({ cause }) => `it has not got its addresses: ${cause}`,
  remedy: () => 'stackloom ipam status shows the use of every subnet, and who waits for what',
  description: `The conditions of an IPSet say what it waits for. \`ReservationReady\` is about the addresses themselves, \`InputReady\`
about the NetConfig. It is served by itself when the cause is gone.`,
  example: { cause: '172.17.0.150 already reserved on internalapi by openstack2/edpm-compute-0' },
})

export const reservationOutside = problem<{ address: string; network: string; why: string }>({
  code: 'SL9568',
  severity: 'error',
  title: 'A host has an address that its subnet does not give',
  message: ({ address, network, why }) => `${address} on ${network} ${why}`,
  remedy: () =>
    'delete the IPSet and let the node set make it anew, or correct the NetConfig: the host keeps the old address until it is deployed again',
  description: `The NetConfig was changed after the address was given, or the Reservation was made by hand. The host is configured with
an address that its network does not carry, or that is the router's.`,
  example: { address: '172.17.0.1', network: 'internalapi', why: 'is the gateway' },
})

export const reservationOrphaned = problem<{ ipSet: string; count: number }>({
  code: 'SL9569',
  severity: 'warning',
  title: 'Addresses are reserved for a host that is gone',
  message: ({ ipSet, count }) =>
    `it holds ${count} ${count === 1 ? 'address' : 'addresses'} for IPSet ${ipSet}, which does not exist`,
  remedy: () => 'delete the Reservation when the host is really gone',
  description: `A Reservation goes with its IPSet, by garbage collection. One that was restored from a backup, or whose owner was deleted
without its dependents, holds its addresses for ever.`,
  example: { ipSet: 'compute-7', count: 5 },
})
