/** SL91xx: findings of the network probe, which tests from pods on the networks of the clouds. */
import { problem } from '../../errors/finding.ts'

export const isolationBroken = problem<{ from: string; by: string; address: string; owner: string; mac: string }>({
  code: 'SL9101',
  severity: 'error',
  message: ({ from, by, address, owner, mac }) =>
    `a pod of ${from} reaches ${owner} (${address}) by ${by}${mac ? `; ${mac} answered` : ''}`,
  remedy: () =>
    'find the connection between the two segments: a VLAN that the switch does not separate, a common bridge, or a router',
})

export const peerUnreachable = problem<{ from: string; to: string; address: string; by: 'ARP' | 'ping' }>({
  code: 'SL9102',
  severity: 'error',
  message: ({ from, to, address, by }) => `a pod of ${from} cannot reach ${to} (${address}) by ${by}`,
  // Over IPv6 a ping is the first test.
  remedy: ({ by, address }) =>
    by === 'ARP' || address.includes(':')
      ? 'check that the switch carries the VLAN to the ports of both nodes, and check the interface on both: `kubectl get nns NODE -o yaml`'
      : 'ARP works but ping does not: check for a filter on the nodes or in the switch',
})

export const smallFramesOnly = problem<{ from: string; to: string; address: string; mtu: number }>({
  code: 'SL9103',
  severity: 'error',
  message: ({ from, to, address, mtu }) =>
    `a pod of ${from} reaches ${to} (${address}), but not with packets of ${mtu} bytes`,
  remedy: ({ mtu }) => `set the MTU of every switch port on the path to ${mtu} or more, or plan a smaller \`mtu\``,
})

export const interfaceMtu = problem<{ from: string; has: string; planned: number }>({
  code: 'SL9104',
  severity: 'error',
  message: ({ from, has, planned }) => `the pod of ${from} has an MTU of ${has}, planned is ${planned}`,
  remedy: () => "check the MTU of the node's interface: a macvlan inherits the MTU of its master",
})

export const answeredTwice = problem<{ from: string; address: string; owner: string; macs: string }>({
  code: 'SL9105',
  severity: 'error',
  message: ({ from, address, owner, macs }) => `${macs} answer for ${address} (${owner}), as seen by a pod of ${from}`,
  remedy: () => 'find both hardware addresses in the switch; `stackloom ip ADDRESS --live` shows the planned holder',
})

export const vipSilent = problem<{
  cloud: string
  slot: string
  address: string
  by: 'ARP' | 'ND'
  /** What the speakers say, where they were asked. */
  account?: string | undefined
}>({
  code: 'SL9106',
  severity: 'error',
  message: ({ cloud, slot, address, by, account }) => {
    const how = by === 'ARP' ? 'ARP' : 'neighbour discovery'
    const silence = `no node answers ${how} for ${address}, the VIP of ${slot} of ${cloud}`
    return account === undefined ? silence : `${silence}; ${account}`
  },
  remedy: () =>
    'check the L2Advertisement of its pool and the speakers: `kubectl -n metallb-system logs -l component=speaker`',
})

export const vipClosed = problem<{ cloud: string; slot: string; address: string; port: number }>({
  code: 'SL9107',
  severity: 'warning',
  message: ({ cloud, slot, address, port }) =>
    `port ${port} of ${address} (${slot} of ${cloud}) does not accept connections from its own network`,
  remedy: ({ cloud }) => `run \`stackloom status --cloud ${cloud}\` to see whether the service is ready`,
})

export const probeMissing = problem<{ from: string; reason: string; remedy: string }>({
  code: 'SL9108',
  severity: 'error',
  message: ({ from, reason }) => `the probe of ${from} has no result: ${reason}`,
  remedy: ({ remedy }) => remedy,
})

export const probeLeftover = problem<{ namespace: string; reason: string }>({
  code: 'SL9109',
  severity: 'warning',
  message: ({ namespace, reason }) => `probe pods are left in ${namespace}: ${reason}`,
  remedy: ({ namespace }) =>
    `\`kubectl -n ${namespace} delete pod,configmap,serviceaccount -l stackloom.dev/probe\`; they exit after fifteen minutes`,
})

export const nodeAddressAnswers = problem<{ from: string; address: string; owner: string; mac: string }>({
  code: 'SL9125',
  severity: 'error',
  message: ({ from, address, owner, mac }) =>
    `a pod of ${from} gets an ARP answer from ${mac} for ${address}, the address of ${owner}`,
  remedy: () =>
    'set net.ipv4.conf.all.arp_ignore=1 on the nodes; on OpenShift `stackloom up` does, and `stackloom verify` reports nodes with another TuneD profile (SL9098)',
})

export const routedThroughNode = problem<{ from: string; address: string; owner: string; gateway: string }>({
  code: 'SL9126',
  severity: 'error',
  message: ({ from, address, owner, gateway }) =>
    `a pod of ${from} reaches ${owner} (${address}) through the node with ${gateway}, which forwards between the clouds`,
  remedy: () =>
    'run `stackloom up`, whose node policies block this unless the site has `cluster.isolation.forwarding: allow`; `ip rule` on the node must show a rule with `lookup 18000` for each interface of a cloud',
})

export const tagsPass = problem<{ from: string; vlan: number; owner: string }>({
  code: 'SL9127',
  severity: 'error',
  message: ({ from, vlan, owner }) =>
    `the bridge of ${from} passes frames of pods with the tag ${vlan}, which is the VLAN of ${owner}`,
  remedy: () =>
    'run `stackloom up`, whose node policies filter the bridge unless the site has `cluster.isolation.taggedFrames: allow`; `bridge vlan` on the node shows what each port passes',
})

export const foreignDhcp = problem<{ from: string; servers: readonly string[] }>({
  code: 'SL9138',
  severity: 'warning',
  message: ({ from, servers }) => `${servers.join(', ')} offers addresses by DHCP on ${from}`,
  remedy: () =>
    'stop the DHCP server on this segment, or keep its range out of the spans of the site; machines that ask get addresses that the plan does not know',
})

export const gatewaySilent = problem<{ from: string; address: string; by: 'ARP' | 'ND' }>({
  code: 'SL9139',
  severity: 'warning',
  message: ({ from, address, by }) =>
    `a pod of ${from} gets no answer from the gateway ${address} by ${by === 'ARP' ? 'ARP' : 'neighbour discovery'}`,
  remedy: () =>
    'connect the router to the segment with this address, or correct `gateway` of the subnet in the site file',
})

export const podRouteMissing = problem<{ from: string; destination: string; nexthop: string }>({
  code: 'SL9140',
  severity: 'error',
  message: ({ from, destination, nexthop }) => `a pod of ${from} has no route to ${destination} through ${nexthop}`,
  remedy: () => 'check the routes of the NetworkAttachmentDefinition; `stackloom up` restores it',
})

export const testsWithoutResult = problem<{
  from: string
  tests: readonly string[]
  reason: string
  remedy: string
}>({
  code: 'SL9141',
  severity: 'error',
  message: ({ from, tests, reason }) =>
    `${tests.length === 1 ? 'a test' : `${tests.length} tests`} of the probe of ${from} (${listTests(tests)}) ${tests.length === 1 ? 'has' : 'have'} no result: ${reason}`,
  remedy: ({ remedy }) => remedy,
})

/** The first ones: a script that was cut off lacks dozens. */
function listTests(tests: readonly string[]): string {
  return tests.length > 3 ? `${tests.slice(0, 3).join(' ')} …` : tests.join(' ')
}
