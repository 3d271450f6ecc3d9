/** SL91xx: what the network probe finds by asking from pods on the clouds' own networks. */
import { problem } from '../../errors/finding.ts'

export const isolationBroken = problem<{ from: string; by: string; address: string; owner: string; mac: string }>({
  code: 'SL9101',
  severity: 'error',
  title: 'One cloud reaches another',
  message: ({ from, by, address, owner, mac }) =>
    `a pod of ${from} reaches ${owner} (${address}) by ${by}${mac ? `; ${mac} answered` : ''}`,
  remedy: () =>
    'find where the two segments meet: a VLAN that the switch does not separate, a bridge over both, or a router between them',
  description: `From a pod on one cloud's network an address of another cloud answered. ARP means that both stand in one L2 domain,
whatever the VLAN ids say: a trunk with a wrong native VLAN, two VLANs in one bridge, or interfaces without a tag. A ping or
a port that answers without ARP means a route between the networks. The hardware address says who answered: look for it on
the nodes and in the switch's table.`,
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
  title: 'Two nodes do not reach each other on a network',
  message: ({ from, to, address, by }) => `a pod of ${from} does not reach ${to} (${address}) by ${by}`,
  remedy: ({ by }) =>
    by === 'ARP'
      ? "let the switch carry the VLAN to both nodes' ports, and look at the interface on both: `kubectl get nns NODE -o yaml`"
      : 'ARP works and ping does not: look for a filter on the nodes or in the switch',
  description: `Pods on one network of one cloud, on two nodes, must see each other. Silence to ARP nearly always means that the
switch does not carry the VLAN to one of the two ports. Everything on the cluster looks well then; only a packet shows it.`,
  example: {
    from: 'rhoso1/storage on worker-0',
    to: 'rhoso1/storage on worker-2',
    address: '172.18.0.32',
    by: 'ARP',
  },
})

export const smallFramesOnly = problem<{ from: string; to: string; address: string; mtu: number }>({
  code: 'SL9103',
  severity: 'error',
  title: 'A network does not carry frames of its MTU',
  message: ({ from, to, address, mtu }) =>
    `a pod of ${from} reaches ${to} (${address}), but not with packets of ${mtu} bytes`,
  remedy: ({ mtu }) => `raise the MTU of every switch port on the way to ${mtu} or more, or plan a smaller \`mtu\``,
  description: `Small packets arrive and those of the planned size do not: some port on the way has a smaller MTU. Connections open
and then hang as soon as they carry data, which looks like a fault of the service.`,
  example: {
    from: 'rhoso1/storage on worker-0',
    to: 'rhoso1/storage on worker-1',
    address: '172.18.0.31',
    mtu: 9000,
  },
})

export const interfaceMtu = problem<{ from: string; has: string; planned: number }>({
  code: 'SL9104',
  severity: 'error',
  title: "A pod's interface has another MTU than its network",
  message: ({ from, has, planned }) => `the pod of ${from} has an MTU of ${has}, planned is ${planned}`,
  remedy: () => "look at the MTU of the node's interface: a macvlan takes over what its master has",
  description: `The interface of a pod has the MTU of the node's interface below it. Another one than planned means that the node
policy is not in force, or that somebody has changed the interface.`,
  example: { from: 'rhoso1/storage on worker-0', has: '1500', planned: 9000 },
})

export const answeredTwice = problem<{ from: string; address: string; owner: string; macs: string }>({
  code: 'SL9105',
  severity: 'error',
  title: 'Two machines have one address',
  message: ({ from, address, owner, macs }) =>
    `${address} (${owner}) is answered for by ${macs}, as seen by a pod of ${from}`,
  remedy: () => 'find both hardware addresses in the switch; `stackloom ip ADDRESS --live` says who should have it',
  description: `Two hardware addresses answered for one IP address. Both machines believe that it is theirs; which of them gets a
packet is chance. Often the second is a machine that nobody planned: a host set up by hand, or an old deployment.`,
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
  title: 'Nobody answers for a VIP',
  message: ({ cloud, slot, address, by }) =>
    `no node answers ${by === 'ARP' ? 'ARP' : 'neighbour discovery'} for ${address}, the VIP of ${slot} of ${cloud}`,
  remedy: () =>
    'look at the L2Advertisement of its pool and at the speakers: kubectl -n metallb-system logs -l component=speaker',
  description: `In layer 2 mode one speaker answers ARP (for IPv6: neighbour discovery) for each VIP, on the interface of its network. When nobody does, no speaker
was chosen (no node matches), or it listens on an interface that is not there. A pod cannot see a VIP that its own node
announces, so nodes are asked crosswise; on a single node this is not judged.`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80', by: 'ARP' },
})

export const vipClosed = problem<{ cloud: string; slot: string; address: string; port: number }>({
  code: 'SL9107',
  severity: 'warning',
  title: 'Nobody listens behind a VIP',
  message: ({ cloud, slot, address, port }) =>
    `port ${port} of ${address} (${slot} of ${cloud}) takes no connection from its own network`,
  remedy: ({ cloud }) => `stackloom status --cloud ${cloud} shows whether the service is up`,
  description: `The address answers ARP and its port takes no connection: the pods behind the Service are not ready, or the node does
not forward (on OpenShift: \`routingViaHost\` and \`ipForwarding: Global\`, see SL4024).`,
  example: { cloud: 'rhoso1', slot: 'keystone.internal', address: '172.17.0.80', port: 5000 },
})

export const probeMissing = problem<{ from: string; reason: string }>({
  code: 'SL9108',
  severity: 'error',
  title: 'A probe could not look',
  message: ({ from, reason }) => `the probe of ${from} has no result: ${reason}`,
  remedy: () => 'look at the events of its pod; on OpenShift its ServiceAccount needs the SCC of the guide',
  description: `A network on which no pod can start, or a pod that cannot be asked, proves nothing. Multus' own event says why an
attachment failed; an image that cannot be pulled is named with --probe-image; without the right to send raw packets
(NET_RAW) the pod is refused.`,
  example: { from: 'rhoso1/storage on worker-2', reason: 'the pod is Pending: no IP addresses available' },
})

export const probeLeftover = problem<{ namespace: string; reason: string }>({
  code: 'SL9109',
  severity: 'warning',
  title: 'Probe pods could not be removed',
  message: ({ namespace, reason }) => `probe pods are left in ${namespace}: ${reason}`,
  remedy: ({ namespace }) =>
    `kubectl -n ${namespace} delete pod,configmap,serviceaccount -l stackloom.dev/probe; they end by themselves after fifteen minutes`,
  description: `Probe pods are removed when the probe ends, also after Ctrl-C. When that fails they do no harm: they sleep, end by
themselves, and hold one address of the pods span each until they are deleted.`,
  example: { namespace: 'openstack', reason: 'the server does not answer' },
})
