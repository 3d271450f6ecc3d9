/** SL71xx: roles, nodes and services on nodes. Conditions, Events and webhook answers repeat these messages. */
import { problem } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'

export const malformedServiceAnnotation = problem<{ key: string; value: string; why: string; remedy: string }>({
  code: 'SL7101',
  severity: 'error',
  message: ({ key, value, why }) => `${key}: ${JSON.stringify(value)} is invalid: ${why}`,
  remedy: ({ remedy }) => remedy,
})

export const roleMissing = problem<{ role: string; namespace: string }>({
  code: 'SL7102',
  severity: 'error',
  message: ({ role, namespace }) => `OpenStackDataPlaneRole ${role} does not exist in namespace ${namespace}`,
  remedy: ({ role }) => `create the role, or correct spec.role; the node continues as soon as ${role} exists`,
})

export const sshKeyMissing = problem<{ secret: string; why: 'unnamed' | 'absent' | 'no-key' }>({
  code: 'SL7103',
  severity: 'error',
  message: ({ secret, why }) =>
    ({
      unnamed: 'neither the node nor its role names an SSH key (ansibleSSHPrivateKeySecret)',
      absent: `Input data resources missing: secret/${secret}`,
      'no-key': `Input data error occurred field 'ssh-privatekey' not found in secret/${secret}`,
    })[why],
  remedy: ({ secret, why }) =>
    why === 'unnamed'
      ? 'set nodeTemplate.ansibleSSHPrivateKeySecret of the role to the name of a Secret with the key ssh-privatekey'
      : `\`kubectl create secret generic ${quoteShellWord(secret)} --from-file=ssh-privatekey=FILE\``,
})

export const deprecatedField = problem<{ field: string; instead: string }>({
  code: 'SL7104',
  severity: 'warning',
  message: ({ field }) => `${field} is deprecated and ignored`,
  remedy: ({ instead }) => instead,
})

export const boundServiceChanged = problem<{
  key: string
  node: string
  kind: string
  field: string
  bound: string
  asked: string
}>({
  code: 'SL7105',
  severity: 'error',
  message: ({ key, node, kind, field, bound, asked }) =>
    `${key} requests ${JSON.stringify(asked)} for node ${node}, but its ${kind} has ${field} ${bound}, which is immutable`,
  remedy: ({ key, node, kind, bound }) =>
    `set ${key} back to ${bound}; to use the node elsewhere, delete ${kind} ${node} first, which removes the compute from its cell`,
})

export const serviceStillExists = problem<{ key: string; node: string; kind: string }>({
  code: 'SL7106',
  severity: 'error',
  message: ({ key, node, kind }) => `${key} no longer applies to node ${node}, but its ${kind} exists`,
  remedy: ({ node, kind }) =>
    `delete ${kind} ${node} first (\`kubectl delete --wait=false\`), which removes the service from the node, and remove the annotation while it is being deleted`,
})

export const unreadableAnsibleVars = problem<{ field: string; why: string }>({
  code: 'SL7107',
  severity: 'error',
  message: ({ field, why }) => `${field} cannot be parsed: ${why}`,
  remedy: () => 'write YAML: one `name: value` per line, at the left margin of the block',
})

export const unsafeAnsibleOption = problem<{ field: string; value: string }>({
  code: 'SL7108',
  severity: 'error',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} contains more than names`,
  remedy: () =>
    'write names of letters, digits, `_`, `-` and `.`, separated by commas; `*` matches anything in a limit',
})

export const unsafeHostField = problem<{ field: string; value: string }>({
  code: 'SL7132',
  severity: 'error',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} cannot be a part of an SSH command`,
  remedy: () => 'write a host name, an address or a user name, without spaces, quotes, braces and leading dash',
})

export const unknownDataPlaneService = problem<{ service: string; namespace: string }>({
  code: 'SL7109',
  severity: 'error',
  message: ({ service, namespace }) =>
    `OpenStackDataPlaneService ${service} does not exist in namespace ${namespace} and is not built in`,
  remedy: ({ service }) => `create OpenStackDataPlaneService ${service}, or remove it from the services of the role`,
})

export const runsExhausted = problem<{ step: string; attempts: number; run: string; why: string }>({
  code: 'SL7110',
  severity: 'error',
  message: ({ step, attempts, run, why }) =>
    `${step} failed ${attempts} times with the same inputs, the last time in ${run}: ${why}`,
  remedy: ({ run }) =>
    `\`kubectl describe openstackansibleee ${run}\` shows the cause; after fixing it, request another run of the node with a new value: \`kubectl annotate openstackdataplanenode NODE --overwrite stackloom.dev/run-request=1\``,
})

export const noFreeMachine = problem<{ role: string; namespace: string; seen: number; why: string }>({
  code: 'SL7111',
  severity: 'error',
  message: ({ role, namespace, seen, why }) =>
    `no BareMetalHost in namespace ${namespace} fits role ${role}: ${seen} found, ${why}`,
  remedy: () =>
    'register a BareMetalHost that is available and has the labels and the hardware that the role requires; the node claims it at once',
})

export const instancesRunning = problem<{ node: string; instances: number; override: string }>({
  code: 'SL7112',
  severity: 'error',
  message: ({ node, instances }) => `${node} still has ${instances} instances`,
  remedy: ({ override }) => `migrate or delete them; or accept their loss with the annotation ${override}: "true"`,
})

export const decommissionUnknown = problem<{ node: string; why: string; override: string }>({
  code: 'SL7113',
  severity: 'error',
  message: ({ node, why }) => `it is unknown whether ${node} has instances: ${why}`,
  remedy: ({ override }) => `make Nova reachable; or continue without asking with the annotation ${override}: "true"`,
})

export const nodeSetInstalled = problem<object>({
  code: 'SL7114',
  severity: 'warning',
  message: () =>
    'the cluster serves OpenStackDataPlaneNodeSet: the NodeSet API shares kind names with the Role/Node API of these controllers',
  remedy: () =>
    'use `stackloom dataplane convert` to convert roles and nodes to NodeSets; leave the data plane of this cluster to openstack-operator',
})

export const inputMissing = problem<{ what: string; field?: string | undefined }>({
  code: 'SL7115',
  severity: 'error',
  message: ({ what, field }) =>
    field === undefined
      ? `Input data resources missing: ${what}`
      : `Input data error occurred field '${field}' not found in ${what}`,
  remedy: ({ what }) => `create ${what}, or correct the name; the service continues as soon as it exists`,
})

export const foreignService = problem<{ kind: string; name: string; node: string }>({
  code: 'SL7116',
  severity: 'error',
  message: ({ kind, name, node }) => `${kind} ${name} already exists, for node ${node}`,
  remedy: ({ kind, name }) => `correct dataplaneNodeName of ${kind} ${name}, or delete it`,
})

export const fieldOwnedByOther = problem<{ kind: string; name: string; why: string }>({
  code: 'SL7117',
  severity: 'error',
  message: ({ kind, name, why }) => `${kind} ${name} cannot be updated from its node: ${why}`,
  remedy: ({ kind, name }) =>
    `remove the field from what the other manager applies to ${kind} ${name}; customServiceConfig and images are free to set, the rest follows the node`,
})

export const runnerInputsUnsupported = problem<{ service: string; why: string }>({
  code: 'SL7118',
  severity: 'error',
  message: ({ service, why }) => `OpenStackDataPlaneService ${service} cannot be run: ${why}`,
  remedy: () => 'give it a play, or a role with tasks',
})

export const addressesUnusable = problem<{ ipSet: string; why: string }>({
  code: 'SL7119',
  severity: 'error',
  message: ({ ipSet, why }) => `IPSet ${ipSet} cannot be created: ${why}`,
  remedy: () =>
    'correct the networks of the node or of its role, or add what is missing to the NetConfig; the node continues by itself',
})

export const hostNotCleared = problem<{ kind: string; node: string; why: string; override: string }>({
  code: 'SL7120',
  severity: 'error',
  message: ({ kind, node, why }) => `${kind} stays because ${node} could not be cleared: ${why}`,
  remedy: ({ override }) =>
    `make the host reachable, and set stackloom.dev/run-request on its OpenStackDataPlaneNode to a new value; or leave the host as it is with the annotation ${override}: "true"`,
})

export const machineNamespaceNotAllowed = problem<{ role: string; namespace: string }>({
  code: 'SL7130',
  severity: 'error',
  message: ({ role, namespace }) => `role ${role} asks for machines in namespace ${namespace}, which is not allowed`,
  remedy: ({ namespace }) =>
    `ask the administrator to start the operator with \`--machine-namespaces ${namespace}\`, or use machines in the namespace of the role`,
})

export const foreignKeystone = problem<{ namespace: string; url: string }>({
  code: 'SL7131',
  severity: 'error',
  message: ({ namespace, url }) => `keystoneAuthURL names ${url}, which no KeystoneAPI in namespace ${namespace} has`,
  remedy: () => 'set keystoneAuthURL to an endpoint in `status.apiEndpoints` of the KeystoneAPI',
})

export const notAnObjectName = problem<{ field: string; value: string }>({
  code: 'SL7126',
  severity: 'error',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} cannot be the name of an object`,
  remedy: ({ field }) => `write lower case letters, digits, \`-\` and \`.\` in ${field}, at most 253 of them`,
})

export const notAnImage = problem<{ field: string; value: string }>({
  code: 'SL7133',
  severity: 'error',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} cannot be the name of an image`,
  remedy: ({ field }) => `write an image in ${field}, such as quay.io/example/nova-compute:1.0`,
})
