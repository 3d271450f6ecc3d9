/** SL9560 to SL9569, SL9598: addresses of the data plane, and those that two allocators assign. */
import { problem } from '../../errors/finding.ts'

export const spansOverlap = problem<{ first: string; other: string; range: string }>({
  code: 'SL9560',
  severity: 'error',
  message: ({ first, other, range }) => `${first} and ${other} both contain ${range}`,
  remedy: () =>
    'move one of them: `stackloom import --source cluster` and `stackloom plan` show every owner of the subnet and the free ranges',
})

export const addressTwice = problem<{ address: string; holders: readonly string[] }>({
  code: 'SL9561',
  severity: 'error',
  message: ({ address, holders }) => `${address} is held by ${holders.join(' and by ')}`,
  remedy: () =>
    'move the range of one allocator, then release the address where that is easier (delete the IPSet, or restart the pod)',
})

export const netConfigMissing = problem<{ namespace: string; count: number }>({
  code: 'SL9562',
  severity: 'error',
  message: ({ namespace, count }) =>
    `${count} ${count === 1 ? 'IPSet waits' : 'IPSets wait'}: ${namespace} has no NetConfig`,
  remedy: () => 'run `stackloom up --stage netconfig`; the NetConfig must be in the namespace of the IPSets',
})

export const netConfigDeletionBlocked = problem<{ count: number; first: string; namespace: string }>({
  code: 'SL9563',
  severity: 'error',
  message: ({ count, first }) =>
    `it is being deleted and waits for ${count} ${count === 1 ? 'IPSet' : 'IPSets'}, the first is ${first}`,
  remedy: ({ namespace }) =>
    `delete the node sets that own them (\`kubectl -n ${namespace} get openstackdataplanenodesets\`), or, if none is left, the IPSets: \`kubectl -n ${namespace} delete ipsets --all\``,
})

export const twoNetConfigs = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9564',
  severity: 'error',
  message: ({ namespace, names }) =>
    `${namespace} has ${names.join(' and ')}: the operator uses the one that is listed first`,
  remedy: () => 'keep the NetConfig that the IPSets use and delete the other one; a namespace needs exactly one',
})

export const ipSetNetworkUnknown = problem<{ network: string; subnet: string; known: string | undefined }>({
  code: 'SL9565',
  severity: 'error',
  message: ({ network, subnet, known }) =>
    `it requests ${network}/${subnet}, which the NetConfig of its namespace does not have${known === undefined ? '' : `; did you mean ${known}?`}`,
  remedy: () => 'correct the networks of the node set, or add the subnet to the NetConfig',
})

export const hostsExhausted = problem<{ network: string; subnet: string; used: number; waiting: readonly string[] }>({
  code: 'SL9566',
  severity: 'error',
  message: ({ network, subnet, used, waiting }) =>
    `all ${used} addresses of ${network}/${subnet} are reserved, and ${waiting.join(', ')} ${waiting.length === 1 ? 'waits' : 'wait'}`,
  remedy: () =>
    'add a free allocationRange (`stackloom plan` shows them), or delete IPSets of removed hosts; `stackloom ipam status` shows all reservations',
})

export const ipSetWaiting = problem<{ cause: string }>({
  code: 'SL9567',
  severity: 'error',
  message: ({ cause }) => `it has no addresses yet: ${cause}`,
  remedy: () => 'run `stackloom ipam status` to see the usage of every subnet and all waiting IPSets',
})

export const reservationOutside = problem<{ address: string; network: string; why: string }>({
  code: 'SL9568',
  severity: 'error',
  message: ({ address, network, why }) => `${address} on ${network} ${why}`,
  remedy: () =>
    'delete the IPSet so that the node set creates it again, or correct the NetConfig; the host keeps the old address until it is deployed again',
})

export const reservationOrphaned = problem<{ ipSet: string; count: number }>({
  code: 'SL9569',
  severity: 'warning',
  message: ({ ipSet, count }) =>
    `it holds ${count} ${count === 1 ? 'address' : 'addresses'} for IPSet ${ipSet}, which does not exist`,
  remedy: () => 'if the host no longer exists, free them: `stackloom ip repair --dry-run`, then without it',
})

export const twoAllocators = problem<{ ours: string; namespace: string; name: string }>({
  code: 'SL9598',
  severity: 'error',
  message: ({ ours }) =>
    `it assigns addresses to IPSets, and so does Deployment ${ours}: both may give out the same address`,
  remedy: ({ namespace, name }) =>
    `run only one of them: \`kubectl -n ${namespace} scale deployment ${name} --replicas=0\`; \`stackloom ipam status\` then shows whether an address was given out twice`,
})
