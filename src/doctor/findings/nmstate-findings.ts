/** SL9540 to SL9549: networking of the nodes, as nmstate does it. */
import { problem } from '../../errors/finding.ts'

export const policyFailed = problem<{ policy: string; node: string; line: string; enactment: string }>({
  code: 'SL9540',
  severity: 'error',
  title: 'A node has refused a policy',
  message: ({ policy, node, line }) => `node ${node} failed to take ${policy}: ${line}`,
  remedy: ({ policy, enactment }) =>
    `correct what the line names (stackloom plan, stackloom up --stage nncp; or kubectl edit nncp ${policy}); the whole text: kubectl get nnce ${enactment} -o yaml`,
  description: `nmstate applies a policy on a node, tests that the node still reaches its gateway, its name servers and the API server,
and rolls everything back when a test fails. The enactment (nnce) of the node then says why, in a text of some hundred lines
in which one matters. It does not try again until the policy changes.`,
  example: {
    policy: 'openstack-worker-0',
    node: 'worker-0',
    line: 'InvalidArgument: Interface enp7s0 does not exist',
    enactment: 'worker-0.openstack-worker-0',
  },
})

export const policyAborted = problem<{ policy: string; node: string }>({
  code: 'SL9541',
  severity: 'error',
  title: 'A node was passed over because another one failed',
  message: ({ policy, node }) => `node ${node} was not configured by ${policy}: another node failed first`,
  remedy: () => 'repair the node that failed; this one is tried again with it',
  description: `nmstate configures half of the nodes at a time (\`maxUnavailable\`). Once one has failed, those that wait are aborted:
nothing is wrong with them.`,
  example: { policy: 'site-base', node: 'worker-1' },
})

export const policyNotTaken = problem<{
  policy: string
  node: string
  generation: number
  has: number | undefined
}>({
  code: 'SL9542',
  severity: 'error',
  title: 'A node has not taken up a policy',
  message: ({ policy, node, generation, has }) =>
    `node ${node} has ${has === undefined ? 'no enactment' : `generation ${has}`} of ${policy}, which is at generation ${generation}`,
  remedy: ({ node }) =>
    `see whether nmstate's handler runs there: kubectl -A get pods -l component=kubernetes-nmstate-handler --field-selector spec.nodeName=${node} -o wide`,
  description: `The policy's own conditions say nothing about which generation they mean: "Available" may be the word on yesterday's
policy. The enactment's \`policyGeneration\` tells. A node that stays behind usually has no handler running, or is not ready.`,
  example: { policy: 'openstack-worker-0', node: 'worker-0', generation: 3, has: 2 },
})

export const policyForNobody = problem<{ policy: string; selector: string }>({
  code: 'SL9543',
  severity: 'warning',
  title: 'A policy matches no node',
  message: ({ policy, selector }) => `${policy} selects ${selector}, and no node is like that`,
  remedy: ({ policy }) => `kubectl get nodes --show-labels; then kubectl edit nncp ${policy}, or delete it`,
  description: `A policy without nodes configures nothing and says "Ignored". The node was renamed, or has lost its label.`,
  example: { policy: 'openstack-worker-9', selector: 'kubernetes.io/hostname=worker-9' },
})

export const policyOverwritten = problem<{
  interface: string
  node: string
  cloud: string
  subnet: string
  other: string
  otherSubnet: string
}>({
  code: 'SL9544',
  severity: 'error',
  title: "One cloud's policy has overwritten another cloud's addresses",
  message: ({ interface: name, node, cloud, subnet, other, otherSubnet }) =>
    `${name} on node ${node} has an address of ${other} (${otherSubnet}) and none of ${cloud} (${subnet}), which uses it too`,
  remedy: () =>
    'let one program own the nodes for all clouds: stackloom import --from cluster, stackloom plan, stackloom up --stage nncp; by hand: one policy with the addresses of both',
  description: `\`make nncp\` of a second cloud applies a policy of the same name, with the second cloud's addresses: the first cloud's
are taken off the interface. Its Services keep their VIPs, but the nodes have no way to its subnet any more, and its compute
hosts lose RabbitMQ. A node's interfaces belong to the whole site, never to one cloud.`,
  example: {
    interface: 'enp6s0.20',
    node: 'worker-0',
    cloud: 'openstack',
    subnet: '172.17.0.0/24',
    other: 'openstack2',
    otherSubnet: '172.27.0.0/24',
  },
})

export const policiesDisagree = problem<{ interface: string; node: string; policies: readonly string[] }>({
  code: 'SL9545',
  severity: 'error',
  title: 'Two policies give one interface different addresses',
  message: ({ interface: name, node, policies }) =>
    `${policies.join(' and ')} both set the addresses of ${name} on node ${node}, differently: whichever was applied last counts`,
  remedy: ({ policies }) =>
    `put all addresses of the interface into one of them and take it out of the other: kubectl edit nncp ${policies.join(' ')}`,
  description: `A policy says what an interface is like, completely: its list of addresses replaces the one that is there. Two policies
on one interface undo each other, in an order that nobody decides, after a reboot too.`,
  example: { interface: 'ospbr', node: 'worker-0', policies: ['openstack-worker-0', 'openstack2-worker-0'] },
})

export const defaultRoute = problem<{ policy: string; interface: string }>({
  code: 'SL9546',
  severity: 'warning',
  title: 'A policy sets a default route',
  message: ({ policy, interface: name }) => `${policy} sends everything through ${name} by default`,
  remedy: ({ policy }) =>
    `take the route 0.0.0.0/0 or ::/0 out: kubectl edit nncp ${policy}; give the subnets that are meant routes of their own`,
  description: `A default route on a network of a cloud takes the node's own traffic with it: the API server is no longer reached, and
nmstate's tests roll the change back, or do not and the node is lost.`,
  example: { policy: 'openstack-worker-0', interface: 'ospbr' },
})
