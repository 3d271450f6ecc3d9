/** SL9540 to SL9549: node networking (nmstate). */
import { problem } from '../../errors/finding.ts'

export const policyFailed = problem<{ policy: string; node: string; line: string; enactment: string }>({
  code: 'SL9540',
  severity: 'error',
  title: 'A policy failed on a node',
  message: ({ policy, node, line }) => `node ${node} failed to apply ${policy}: ${line}`,
  remedy: ({ policy, enactment }) =>
    `fix the reported error (stackloom plan, stackloom up --stage nncp; or kubectl edit nncp ${policy}); full output: kubectl get nnce ${enactment} -o yaml`,
  description: `nmstate applies a policy on a node, tests that the node still reaches its gateway, its name servers and the API server, and
rolls everything back when a test fails. The enactment (nnce) of the node contains the error in several hundred lines of output.
nmstate does not retry until the policy changes.`,
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
  title: 'A node was skipped because another node failed',
  message: ({ policy, node }) => `node ${node} was not configured by ${policy}: another node failed first`,
  remedy: () => 'fix the node that failed; this node is retried together with it',
  description: `nmstate configures half of the nodes at a time (\`maxUnavailable\`). When one node fails, the waiting nodes are aborted; they
are not faulty.`,
  example: { policy: 'site-base', node: 'worker-1' },
})

export const policyNotTaken = problem<{ policy: string; node: string; generation: number; has: number | undefined }>({
  code: 'SL9542',
  severity: 'error',
  title: 'A node has not applied a policy',
  message: ({ policy, node, generation, has }) =>
    `node ${node} has ${has === undefined ? 'no enactment' : `generation ${has}`} of ${policy}, which is at generation ${generation}`,
  remedy: ({ node }) =>
    `check whether the nmstate handler runs there: kubectl -A get pods -l component=kubernetes-nmstate-handler --field-selector spec.nodeName=${node} -o wide`,
  description: `The conditions of a policy do not show which generation they refer to: "Available" may describe an older version of the policy.
The \`policyGeneration\` of the enactment is reliable. On a node that stays behind, the handler usually does not run, or the
node is not ready.`,
  example: { policy: 'openstack-worker-0', node: 'worker-0', generation: 3, has: 2 },
})

export const policyWithoutNodes = problem<{ policy: string; selector: string }>({
  code: 'SL9543',
  severity: 'warning',
  title: 'A policy matches no node',
  message: ({ policy, selector }) => `${policy} selects ${selector}, which matches no node`,
  remedy: ({ policy }) => `kubectl get nodes --show-labels; then kubectl edit nncp ${policy}, or delete it`,
  description: `A policy that matches no node configures nothing and reports "Ignored". The node was renamed, or lost its label.`,
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
  title: "One cloud's policy overwrote another cloud's addresses",
  message: ({ interface: name, node, cloud, subnet, other, otherSubnet }) =>
    `${name} on node ${node} has an address of ${other} (${otherSubnet}) and none of ${cloud} (${subnet}), which uses it too`,
  remedy: () =>
    'manage the node networking of all clouds in one place (stackloom import --from cluster, stackloom plan, stackloom up --stage nncp), or create one policy with the addresses of both clouds',
  description: `\`make nncp\` of a second cloud applies a policy with the same name and the addresses of the second cloud: the addresses of the
first cloud are removed from the interface. Its Services keep their VIPs, but the nodes cannot reach its subnet any more, and its
compute hosts lose RabbitMQ. The interfaces of a node belong to the whole site, not to one cloud.`,
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
    `${policies.join(' and ')} set different addresses for ${name} on node ${node}: the policy that was applied last wins`,
  remedy: ({ policies }) =>
    `put all addresses of the interface into one policy and remove the interface from the other: kubectl edit nncp ${policies.join(' ')}`,
  description: `A policy replaces the whole list of addresses of an interface. Two policies for one interface overwrite each other in an
unpredictable order, also after a reboot.`,
  example: { interface: 'ospbr', node: 'worker-0', policies: ['openstack-worker-0', 'openstack2-worker-0'] },
})

export const defaultRoute = problem<{ policy: string; interface: string }>({
  code: 'SL9546',
  severity: 'warning',
  title: 'A policy sets a default route',
  message: ({ policy, interface: name }) => `${policy} sets a default route through ${name}`,
  remedy: ({ policy }) =>
    `remove the route 0.0.0.0/0 or ::/0 (kubectl edit nncp ${policy}) and add routes for the required subnets instead`,
  description: `A default route on a cloud network also redirects the traffic of the node itself: the node cannot reach the API server any
more. Either the tests of nmstate roll the change back, or the node is lost.`,
  example: { policy: 'openstack-worker-0', interface: 'ospbr' },
})
