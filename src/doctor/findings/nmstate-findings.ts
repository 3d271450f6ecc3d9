/** SL9540 to SL9549: node networking (nmstate). */
import { problem } from '../../errors/finding.ts'

export const policyFailed = problem<{ policy: string; node: string; line: string; enactment: string }>({
  code: 'SL9540',
  severity: 'error',
  message: ({ policy, node, line }) => `node ${node} failed to apply ${policy}: ${line}`,
  remedy: ({ policy, enactment }) =>
    `fix the reported error (\`stackloom plan\`, \`stackloom up --stage nncp\`; or \`kubectl edit nncp ${policy}\`); full output: \`kubectl get nnce ${enactment} -o yaml\``,
})

export const policyAborted = problem<{ policy: string; node: string }>({
  code: 'SL9541',
  severity: 'error',
  message: ({ policy, node }) => `node ${node} was not configured by ${policy}: another node failed first`,
  remedy: () => 'fix the node that failed; this node is retried together with it',
})

export const policyNotTaken = problem<{ policy: string; node: string; generation: number; has: number | undefined }>({
  code: 'SL9542',
  severity: 'error',
  message: ({ policy, node, generation, has }) =>
    `node ${node} has ${has === undefined ? 'no enactment' : `generation ${has}`} of ${policy}, which is at generation ${generation}`,
  remedy: ({ node }) =>
    `check whether the nmstate handler runs there: \`kubectl -A get pods -l component=kubernetes-nmstate-handler --field-selector spec.nodeName=${node} -o wide\``,
})

export const policyWithoutNodes = problem<{ policy: string; selector: string }>({
  code: 'SL9543',
  severity: 'warning',
  message: ({ policy, selector }) => `${policy} selects ${selector}, which matches no node`,
  remedy: ({ policy }) =>
    `compare with \`kubectl get nodes --show-labels\`, then change it with \`kubectl edit nncp ${policy}\` or delete it`,
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
  message: ({ interface: name, node, cloud, subnet, other, otherSubnet }) =>
    `${name} on node ${node} has an address of ${other} (${otherSubnet}) and none of ${cloud} (${subnet}), which uses it too`,
  remedy: () =>
    'manage the node networking of all clouds in one place (`stackloom import --source cluster`, `stackloom plan`, `stackloom up --stage nncp`), or create one policy with the addresses of both clouds',
})

export const policiesDisagree = problem<{ interface: string; node: string; policies: readonly string[] }>({
  code: 'SL9545',
  severity: 'error',
  message: ({ interface: name, node, policies }) =>
    `${policies.join(' and ')} set different addresses for ${name} on node ${node}: the policy that was applied last wins`,
  remedy: ({ policies }) =>
    `put all addresses of the interface into one policy and remove the interface from the other: \`kubectl edit nncp ${policies.join(' ')}\``,
})

export const defaultRoute = problem<{ policy: string; interface: string }>({
  code: 'SL9546',
  severity: 'warning',
  message: ({ policy, interface: name }) => `${policy} sets a default route through ${name}`,
  remedy: ({ policy }) =>
    `remove the route 0.0.0.0/0 or ::/0 (\`kubectl edit nncp ${policy}\`) and add routes for the required subnets instead`,
})
