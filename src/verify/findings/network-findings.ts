/** SL903x to SL908x: findings of `verify` about pods, hosts, nodes, DNS and endpoints. */
import { problem } from '../../errors/finding.ts'

export const podAddressOutside = problem<{ pool: string; pod: string; address: string; planned: string }>({
  code: 'SL9031',
  severity: 'error',
  message: ({ pool, pod, address, planned }) => `IPPool ${pool} has ${address} for ${pod}; planned is ${planned}`,
  remedy: () =>
    'delete the pod so that it gets a new address; the reconciler of whereabouts removes entries without a pod',
})

export const foreignPod = problem<{ cloud: string; pod: string; address: string; network: string }>({
  code: 'SL9032',
  severity: 'error',
  message: ({ cloud, pod, address, network }) => `pod ${pod} has ${address}, which is in ${network} of ${cloud}`,
  remedy: ({ pod }) =>
    `correct the NetworkAttachmentDefinition of ${pod}: its range must not overlap with another cloud's subnets`,
})

export const reservationOutside = problem<{ reservation: string; network: string; address: string; planned: string }>({
  code: 'SL9033',
  severity: 'error',
  message: ({ reservation, network, address, planned }) =>
    `Reservation ${reservation} has ${address} on ${network}; planned is ${planned}`,
  remedy: () =>
    'delete the IPSet so that it is created again, or plan the address: `hosts` with `addresses` in the site file',
})

export const podWithoutNetwork = problem<{ pod: string; network: string; why: 'absent' | 'no address' }>({
  code: 'SL9034',
  severity: 'error',
  message: ({ pod, network, why }) =>
    why === 'absent'
      ? `pod ${pod} requests ${network}, but its network-status does not list it`
      : `pod ${pod} is attached to ${network} without an address`,
  remedy: ({ pod }) => `check the events of ${pod}: Multus reports why it could not attach`,
})

export const podAddressForeign = problem<{ pod: string; network: string; address: string; planned: string }>({
  code: 'SL9035',
  severity: 'error',
  message: ({ pod, network, address, planned }) => `pod ${pod} has ${address} on ${network}; planned is ${planned}`,
  remedy: () => 'run `stackloom up` to restore the NetworkAttachmentDefinition, then restart the pod',
})

export const attachedPodsAbsent = problem<{ cloud: string; namespace: string; networks: readonly string[] }>({
  code: 'SL9036',
  severity: 'error',
  message: ({ cloud, namespace, networks }) =>
    `no running pod of ${namespace} requests a network, but the control plane of ${cloud} requests ${networks.join(', ')}`,
  remedy: ({ namespace }) =>
    `check the pods and their annotations: \`kubectl -n ${namespace} get pods\`; \`stackloom status\``,
})

export const policyNotEnacted = problem<{ policy: string; why: string; next: string | undefined }>({
  code: 'SL9041',
  severity: 'error',
  message: ({ policy, why }) => `NodeNetworkConfigurationPolicy ${policy}: ${why}`,
  remedy: ({ next, policy }) =>
    next === undefined
      ? `look closer with \`kubectl get nnce -l nmstate.io/policy=${policy}\``
      : `look closer with \`${next}\``,
})

export const dnsRecordWrong = problem<{ cloud: string; name: string; has: string; planned: string }>({
  code: 'SL9051',
  severity: 'error',
  message: ({ cloud, name, has, planned }) => `${name} of ${cloud} is recorded as ${has}, planned is ${planned}`,
  remedy: () =>
    'for a Service, fix the Service first: its record follows; for hosts run `stackloom up --stage netconfig`',
})

export const dnsAnswerWrong = problem<{ server: string; name: string; answer: string; planned: string }>({
  code: 'SL9052',
  severity: 'error',
  message: ({ server, name, answer, planned }) => `${server} answers ${answer} for ${name}, planned is ${planned}`,
  remedy: () => 'check the DNSData of the namespace and the dnsmasq pods, which may still use older records',
})

export const dnsUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL9053',
  severity: 'warning',
  message: ({ server, reason }) => `DNS server ${server} does not answer this machine: ${reason}`,
  remedy: () => 'run verify --ask-dns from a machine on the ctlplane network, or omit the option',
})

export const endpointElsewhere = problem<{ endpoint: string; face: string; url: string; planned: string }>({
  code: 'SL9061',
  severity: 'error',
  message: ({ endpoint, face, url, planned }) =>
    `KeystoneEndpoint ${endpoint}: ${face} is ${url}, planned is ${planned}`,
  remedy: () => 'fix the Service or Route in the URL; the operator then updates the endpoint',
})

export const endpointForeign = problem<{ endpoint: string; face: string; url: string; other: string }>({
  code: 'SL9062',
  severity: 'error',
  message: ({ endpoint, face, url, other }) => `KeystoneEndpoint ${endpoint}: ${face} is ${url}, a host of ${other}`,
  remedy: ({ other }) =>
    `correct the override that refers to ${other}: clients of this cloud connect to the wrong cloud`,
})

export const endpointsAbsent = problem<{ cloud: string; namespace: string; services: readonly string[] }>({
  code: 'SL9063',
  severity: 'error',
  message: ({ cloud, namespace, services }) =>
    `${namespace} has no KeystoneEndpoint, but ${cloud} has ${services.join(', ')}: clients cannot find them`,
  remedy: ({ namespace }) =>
    `check the control plane: \`stackloom status\`, \`kubectl -n ${namespace} get openstackcontrolplane -o yaml\``,
})

export const noToken = problem<{ cloud: string; keystone: string; reason: string }>({
  code: 'SL9064',
  severity: 'error',
  message: ({ cloud, keystone, reason }) => `Keystone of ${cloud} at ${keystone} gives no token: ${reason}`,
  remedy: ({ cloud }) =>
    `run \`stackloom doctor\`; if nothing is wrong with ${cloud}, check that this machine resolves and reaches the URL`,
})

export const endpointSilent = problem<{ cloud: string; type: string; url: string; problem: string }>({
  code: 'SL9065',
  severity: 'error',
  message: ({ cloud, type, url, problem: reason }) => `${type} of ${cloud} at ${url} does not work: ${reason}`,
  remedy: ({ cloud }) =>
    `run \`stackloom doctor\`; if nothing is wrong with ${cloud}, check that this machine resolves and reaches the URL`,
})

export const leftover = problem<{ what: string; why: string }>({
  code: 'SL9071',
  severity: 'error',
  message: ({ what, why }) => `${what} is left over: ${why}`,
  remedy: ({ what }) => `if nothing uses it, delete it: ${what}; otherwise migrate its users with \`stackloom adopt\``,
})

export const nodeNotTuned = problem<{ node: string; profile: string; why: string | undefined }>({
  code: 'SL9098',
  severity: 'warning',
  message: ({ node, profile, why }) =>
    why === undefined
      ? `node ${node} has the TuneD profile ${profile}: it may answer ARP on one cloud's segment for its address in another`
      : `node ${node} has not applied the TuneD profile ${profile}: ${why}`,
  remedy: ({ node, why }) =>
    why === undefined
      ? 'add net.ipv4.conf.all.arp_ignore=1 to the [sysctl] section of that profile, or remove its Tuned object; then run `stackloom verify --probe`'
      : `\`kubectl -n openshift-cluster-node-tuning-operator describe profile ${node}\``,
})

export const heldTwice = problem<{ address: string; holders: readonly string[] }>({
  code: 'SL9081',
  severity: 'error',
  message: ({ address, holders }) => `${address} is held by ${holders.join(' and ')}`,
  remedy: () =>
    'release it from the holder that is not planned; `stackloom ip ADDRESS --live` shows which allocator assigned it',
})

export const heldByOther = problem<{ address: string; holder: string; planned: string }>({
  code: 'SL9082',
  severity: 'error',
  message: ({ address, holder, planned }) => `${address} is planned for ${planned}, but ${holder} has it`,
  remedy: () => 'run `stackloom verify` to find the cause: an open pool, overlapping pools, or a foreign attachment',
})
