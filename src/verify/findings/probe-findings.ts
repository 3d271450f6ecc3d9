/** SL91xx: findings of the network probe, which tests from pods on the networks of the clouds. */
import { problem } from '../../errors/finding.ts'

export const isolationBroken = problem<{ from: string; by: string; address: string; owner: string; mac: string }>({
  code: 'SL9101',
  severity: 'error',
  title: 'One cloud reaches another',
  message: ({ from, by, address, owner, mac }) =>
    `a pod of ${from} reaches ${owner} (${address}) by ${by}${mac ? `; ${mac} answered` : ''}`,
  remedy: () =>
    'find the connection between the two segments: a VLAN that the switch does not separate, a common bridge, or a router',
  description: `An address of another cloud answered to a pod on one cloud's network. An ARP answer means that both are in one L2 domain,
regardless of the VLAN ids: a trunk with a wrong native VLAN, two VLANs in one bridge, or untagged interfaces. A ping or port
answer without ARP means that the networks are routed. Look up the hardware address on the nodes and in the table of the switch
to find the machine that answered.`,
  example: {
    from: 'rhoso1/internalapi on worker-0',
    by: 'ARP',
    address: '172.17.1.30',
    owner: 'rhoso2/internalapi on worker-1',
    mac: '02:42:ac:11:01:1e',
  },
})

export const peerUnreachable = problem<{ from: string; to: string; address: string; by: 'ARP' | 'ping' }>({
  code: 'SL9102',
  severity: 'error',
  title: 'Two nodes cannot reach each other on a network',
  message: ({ from, to, address, by }) => `a pod of ${from} cannot reach ${to} (${address}) by ${by}`,
  remedy: ({ by }) =>
    by === 'ARP'
      ? 'check that the switch carries the VLAN to the ports of both nodes, and check the interface on both: `kubectl get nns NODE -o yaml`'
      : 'ARP works but ping does not: check for a filter on the nodes or in the switch',
  description: `Pods of one cloud on the same network but on two nodes must reach each other. No ARP answer nearly always means that the switch
does not carry the VLAN to one of the two ports. The objects on the cluster look correct in this case.`,
  example: { from: 'rhoso1/storage on worker-0', to: 'rhoso1/storage on worker-2', address: '172.18.0.32', by: 'ARP' },
})

export const smallFramesOnly = problem<{ from: string; to: string; address: string; mtu: number }>({
  code: 'SL9103',
  severity: 'error',
  title: 'A network does not carry packets of its MTU',
  message: ({ from, to, address, mtu }) =>
    `a pod of ${from} reaches ${to} (${address}), but not with packets of ${mtu} bytes`,
  remedy: ({ mtu }) => `set the MTU of every switch port on the path to ${mtu} or more, or plan a smaller \`mtu\``,
  description: `Small packets arrive, but packets of the planned size do not: a port on the path has a smaller MTU. Connections open and then
hang when they carry data, which looks like a fault of the service.`,
  example: { from: 'rhoso1/storage on worker-0', to: 'rhoso1/storage on worker-1', address: '172.18.0.31', mtu: 9000 },
})

export const interfaceMtu = problem<{ from: string; has: string; planned: number }>({
  code: 'SL9104',
  severity: 'error',
  title: "A pod's interface has a different MTU than its network",
  message: ({ from, has, planned }) => `the pod of ${from} has an MTU of ${has}, planned is ${planned}`,
  remedy: () => "check the MTU of the node's interface: a macvlan inherits the MTU of its master",
  description: `The interface of a pod inherits the MTU of the node's interface. If it differs from the plan, the node policy is not applied, or
the interface was changed manually.`,
  example: { from: 'rhoso1/storage on worker-0', has: '1500', planned: 9000 },
})

export const answeredTwice = problem<{ from: string; address: string; owner: string; macs: string }>({
  code: 'SL9105',
  severity: 'error',
  title: 'Two machines have one address',
  message: ({ from, address, owner, macs }) => `${macs} answer for ${address} (${owner}), as seen by a pod of ${from}`,
  remedy: () => 'find both hardware addresses in the switch; `stackloom ip ADDRESS --live` shows the planned holder',
  description: `Two hardware addresses answered for one IP address, so packets reach either machine at random. Often the second machine is not
planned: a host that was configured manually, or an old deployment.`,
  example: {
    from: 'rhoso1/internalapi on worker-0',
    address: '172.17.0.80',
    owner: 'VIP of keystone.internal',
    macs: '02:42:ac:11:00:0a, 52:54:00:12:34:56',
  },
})

export const vipSilent = problem<{ cloud: string; slot: string; address: string; by: 'ARP' | 'ND' }>({
  code: 'SL9106',
  severity: 'error',
  title: 'No node answers for a VIP',
  message: ({ cloud, slot, address, by }) =>
    `no node answers ${by === 'ARP' ? 'ARP' : 'neighbour discovery'} for ${address}, the VIP of ${slot} of ${cloud}`,
  remedy: () =>
    'check the L2Advertisement of its pool and the speakers: kubectl -n metallb-system logs -l component=speaker',
  description: `In layer 2 mode one speaker answers ARP (for IPv6: neighbour discovery) for each VIP, on the interface of its network. If there
is no answer, no speaker was chosen (no node matches), or the speaker uses an interface that does not exist. A pod cannot see a
VIP that its own node announces, so the test runs between nodes; on a single node it is skipped.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80', by: 'ARP' },
})

export const vipClosed = problem<{ cloud: string; slot: string; address: string; port: number }>({
  code: 'SL9107',
  severity: 'warning',
  title: 'A VIP does not accept connections',
  message: ({ cloud, slot, address, port }) =>
    `port ${port} of ${address} (${slot} of ${cloud}) does not accept connections from its own network`,
  remedy: ({ cloud }) => `run stackloom status --cloud ${cloud} to see whether the service is ready`,
  description: `The address answers ARP, but its port does not accept connections: the pods of the Service are not ready, or the node does not
forward (on OpenShift: \`routingViaHost\` and \`ipForwarding: Global\`, see SL4024).`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80', port: 5000 },
})

export const probeMissing = problem<{ from: string; reason: string }>({
  code: 'SL9108',
  severity: 'error',
  title: 'A probe has no result',
  message: ({ from, reason }) => `the probe of ${from} has no result: ${reason}`,
  remedy: () => 'check the events of its pod; on OpenShift its ServiceAccount needs the SCC from the guide',
  description: `If no pod can start on a network, or a command cannot run in the pod, the probe proves nothing. The event of Multus shows why an
attachment failed. If the image cannot be pulled, set another one with --probe-image. Without the capability NET_RAW the pod is
rejected.`,
  example: { from: 'rhoso1/storage on worker-2', reason: 'the pod is Pending: no IP addresses available' },
})

export const probeLeftover = problem<{ namespace: string; reason: string }>({
  code: 'SL9109',
  severity: 'warning',
  title: 'Probe pods could not be removed',
  message: ({ namespace, reason }) => `probe pods are left in ${namespace}: ${reason}`,
  remedy: ({ namespace }) =>
    `kubectl -n ${namespace} delete pod,configmap,serviceaccount -l stackloom.dev/probe; they exit after fifteen minutes`,
  description: `Probe pods are removed when the probe ends, also after Ctrl-C. If that fails, they sleep, exit after fifteen minutes, and keep
one address of the pods span each until they are deleted.`,
  example: { namespace: 'openstack', reason: 'the server does not answer' },
})
