/** SL900x to SL902x: findings of `verify` about planned objects, pools and Services. */
import { problem } from '../../errors/finding.ts'

export const checkIncomplete = problem<{
  check: string
  kind: string
  reason: string
  /** Set when the source is a folder of dumps. */
  dumped: boolean
}>({
  code: 'SL9001',
  severity: 'error',
  message: ({ check, kind, reason }) => `${check} cannot be proved: ${kind} could not be read: ${reason}`,
  remedy: ({ kind, dumped }) =>
    dumped
      ? `add it to the folder (\`kubectl get ${kind} -A -o yaml\`); if the cluster has none, accept this finding in the site file under \`spec.accept\``
      : `run verify with an account that may list ${kind} in all namespaces`,
})

export const plannedMissing = problem<{ cloud: string; what: string }>({
  code: 'SL9002',
  severity: 'error',
  message: ({ cloud, what }) => `${what} of ${cloud} is planned but does not exist`,
  remedy: () => 'run `stackloom up`, which creates missing objects',
})

export const plannedDiffers = problem<{ what: string; path: string; planned: string; live: string }>({
  code: 'SL9003',
  severity: 'error',
  message: ({ what, path, planned, live }) => `${what}: ${path} is ${live}, planned is ${planned}`,
  remedy: ({ what }) =>
    what.startsWith('NetworkAttachmentDefinition ')
      ? 'write `keep: [attachments]` into a cloud that another tool deployed; else run `stackloom up` when no pod of the network runs: whereabouts forgets the addresses of running pods when range or network_name change'
      : 'run `stackloom diff` to see the difference and `stackloom up` to restore the plan; `--force-conflicts` overwrites fields of other managers',
})

export const keptDiffers = problem<{ what: string; path: string; planned: string; live: string }>({
  code: 'SL9004',
  severity: 'error',
  message: ({ what, path, planned, live }) =>
    `${what} stays with the tool that deployed it, but its ${path} is ${live}, planned is ${planned}`,
  remedy: () => 'write the addresses that it has into the site file (`spans` of the subnet), then plan again',
})

export const keptMissing = problem<{ cloud: string; what: string }>({
  code: 'SL9005',
  severity: 'error',
  message: ({ cloud, what }) => `${what} of ${cloud} is left to the tool that deployed the cloud, but does not exist`,
  remedy: () =>
    'let that tool create it; or remove `attachments` from `keep` in the site file if the cloud has none of its definitions left',
})

export const attachmentsKept = problem<{ cloud: string; networks: readonly string[] }>({
  code: 'SL9006',
  severity: 'warning',
  message: ({ cloud, networks }) =>
    `the attachments ${networks.join(', ')} of ${cloud} stay without the planned network_name, so whereabouts counts by range alone`,
  remedy: () =>
    'check that no other cloud has the same range; to change them, stop all pods of the networks first: see "After adopt" in the guide Adopt',
})

export const poolOpen = problem<{ pool: string; namespace: string; live: readonly string[] }>({
  code: 'SL9011',
  severity: 'error',
  message: ({ pool, namespace, live }) =>
    live.length === 0
      ? `pool ${pool} must serve only ${namespace}, but it serves every namespace`
      : `pool ${pool} must serve only ${namespace}, but it serves ${live.join(', ')}`,
  remedy: ({ pool, namespace }) =>
    `\`kubectl -n metallb-system patch ipaddresspool ${pool} --type merge -p '{"spec":{"serviceAllocation":{"namespaces":["${namespace}"]}}}'\``,
})

export const foreignPoolOverlap = problem<{ cloud: string; pool: string; range: string; planned: string }>({
  code: 'SL9012',
  severity: 'error',
  message: ({ cloud, pool, range, planned }) => `pool ${pool} has ${range}, which is in ${planned} of ${cloud}`,
  remedy: ({ pool }) => `remove the range from ${pool}, or delete the pool if nothing uses it`,
})

export const announcedElsewhere = problem<{ pool: string; by: string; on: string; planned: string }>({
  code: 'SL9013',
  severity: 'error',
  message: ({ pool, by, on, planned }) => `${by} announces pool ${pool} on ${on}; its network is on ${planned}`,
  remedy: ({ by }) => `delete ${by}, or set its pools and interfaces`,
})

export const serviceWithoutAddress = problem<{ service: string; planned: string; said: string | undefined }>({
  code: 'SL9021',
  severity: 'error',
  message: ({ service, planned, said }) =>
    `${service} waits for ${planned || 'its address'}${said ? `; MetalLB says: ${said}` : ''}`,
  remedy: ({ service }) =>
    `run \`stackloom doctor\` to find the cause, or \`kubectl -n ${service.replace('/', ' describe service ')}\``,
})

export const serviceAddressWrong = problem<{ service: string; has: string; planned: string }>({
  code: 'SL9022',
  severity: 'error',
  message: ({ service, has, planned }) => `${service} has ${has}, planned is ${planned}`,
  remedy: () =>
    "compare the control plane's override with `stackloom slots`, and run `stackloom up` to apply the plan again",
})

export const serviceFromOtherPool = problem<{ service: string; pool: string; planned: string }>({
  code: 'SL9023',
  severity: 'error',
  message: ({ service, pool, planned }) => `${service} has an address of pool ${pool}, planned is ${planned}`,
  remedy: ({ planned }) => `set metallb.io/address-pool: ${planned} in the override of its slot`,
})

export const vipUnused = problem<{ cloud: string; slot: string; address: string }>({
  code: 'SL9024',
  severity: 'error',
  message: ({ cloud, slot, address }) => `${address} is planned for ${slot} of ${cloud}, but no Service has it`,
  remedy: () => 'run `stackloom status`: the service is not deployed, or its Service waits for an address',
})

export const foreignHolder = problem<{ cloud: string; service: string; address: string; network: string }>({
  code: 'SL9025',
  severity: 'error',
  message: ({ cloud, service, address, network }) =>
    `Service ${service} holds ${address}, which is in ${network} of ${cloud}`,
  remedy: ({ service }) =>
    `give ${service} an address of its own pool, then check how it got this one: \`stackloom verify\` reports open pools`,
})

export const sharingKeyCrosses = problem<{ key: string; here: string; there: string }>({
  code: 'SL9026',
  severity: 'error',
  message: ({ key, here, there }) => `${here} and ${there} have the sharing key ${key}`,
  remedy: () => 'give each cloud its own key; the plan uses the name of the pool',
})
