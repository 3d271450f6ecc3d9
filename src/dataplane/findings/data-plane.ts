/** SL71xx: roles, nodes and services on nodes. Conditions, Events and webhook answers repeat these messages. */
import { problem } from '../../errors/finding.ts'

export const malformedServiceAnnotation = problem<{ key: string; value: string; why: string; remedy: string }>({
  code: 'SL7101',
  severity: 'error',
  title: 'A service annotation has an invalid value',
  message: ({ key, value, why }) => `${key}: ${JSON.stringify(value)} is invalid: ${why}`,
  remedy: ({ remedy }) => remedy,
  description: `Annotations on an OpenStackDataPlaneRole or an OpenStackDataPlaneNode select the OpenStack services that run
on a node. The value of \`nova.openstack.org/cell\` is the name of a NovaCell object, such as \`nova-cell1\`, which identifies
both the Nova and the cell. cell0 holds instances that were never scheduled and never has compute nodes. No object is
created for an invalid annotation, and nothing runs.`,
  example: {
    key: 'nova.openstack.org/cell',
    value: 'nova-cell0',
    why: 'cell0 never has compute nodes',
    remedy: 'name a NovaCell object, such as nova-cell1; leave it empty for a node that is not a compute node',
  },
})

export const roleMissing = problem<{ role: string; namespace: string }>({
  code: 'SL7102',
  severity: 'error',
  title: 'The role of a node does not exist',
  message: ({ role, namespace }) => `OpenStackDataPlaneRole ${role} does not exist in namespace ${namespace}`,
  remedy: ({ role }) => `create the role, or correct spec.role; the node continues as soon as ${role} exists`,
  description: `A node takes its services, and every value that it does not set itself, from its role. Without the role the
configuration of the node is unknown: no inventory is written, nothing runs, and services that already exist stay as they
are.`,
  example: { role: 'edpm-compute', namespace: 'openstack' },
})

export const sshKeyMissing = problem<{ secret: string; why: 'unnamed' | 'absent' | 'no-key' }>({
  code: 'SL7103',
  severity: 'error',
  title: 'The SSH key of a node is missing',
  message: ({ secret, why }) =>
    ({
      unnamed: 'neither the node nor its role names an SSH key (ansibleSSHPrivateKeySecret)',
      absent: `Input data resources missing: secret/${secret}`,
      'no-key': `Input data error occurred field 'ssh-privatekey' not found in secret/${secret}`,
    })[why],
  remedy: ({ secret, why }) =>
    why === 'unnamed'
      ? 'set nodeTemplate.ansibleSSHPrivateKeySecret of the role to the name of a Secret with the key ssh-privatekey'
      : `\`kubectl create secret generic ${secret} --from-file=ssh-privatekey=FILE\``,
  description: `Ansible logs in to a node by SSH with the private key of this Secret, key \`ssh-privatekey\`. Nothing runs
without it; the node continues by itself once it exists.`,
  example: { secret: 'dataplane-ansible-ssh-private-key-secret', why: 'no-key' },
})

export const deprecatedField = problem<{ field: string; instead: string }>({
  code: 'SL7104',
  severity: 'warning',
  title: 'A deprecated field is ignored',
  message: ({ field }) => `${field} is deprecated and ignored`,
  remedy: ({ instead }) => instead,
  description: `The first version of the Role/Node API had OpenStack services inside roles and nodes (\`nova:\`), and a compute
named its Nova and its cell separately (\`novaInstance\`, \`cellName: cell1\`). Services are now separate objects, created by
annotations; a service is configured by its \`customServiceConfig\`. Objects with the old fields are still accepted, so that
existing manifests work, but the fields have no effect.`,
  example: {
    field: 'spec.nodeTemplate.nova',
    instead: 'annotate the role with `nova.openstack.org/cell: nova-cell1`',
  },
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
  title: 'A compute node would move to another cell',
  message: ({ key, node, kind, field, bound, asked }) =>
    `${key} requests ${JSON.stringify(asked)} for node ${node}, but its ${kind} has ${field} ${bound}, which is immutable`,
  remedy: ({ key, node, kind, bound }) =>
    `set ${key} back to ${bound}; to use the node elsewhere, delete ${kind} ${node} first, which removes the compute from its cell`,
  description: `Nova cannot move a compute node between cells: its instances, its allocations and its service record are in the
database of the cell in which it started. The effective cell of the node counts: from its own annotation, from its role, or
from another role after \`spec.role\` was changed. This also holds for a node that was deleted and created again while its
compute continued to exist. The webhooks refuse such a change. Where no webhook was called, the controller leaves the compute
as it is and reports this finding.`,
  example: {
    key: 'nova.openstack.org/cell',
    node: 'edpm-compute-0',
    kind: 'NovaExternalCompute',
    field: 'cellName',
    bound: 'nova-cell1',
    asked: 'nova-cell2',
  },
})

export const serviceStillExists = problem<{ key: string; node: string; kind: string }>({
  code: 'SL7106',
  severity: 'error',
  title: 'The annotation of a service was removed while the service exists',
  message: ({ key, node, kind }) => `${key} no longer applies to node ${node}, but its ${kind} exists`,
  remedy: ({ node, kind }) =>
    `delete ${kind} ${node} first (\`kubectl delete --wait=false\`), which removes the service from the node, and remove the annotation while it is being deleted`,
  description: `An annotation is easily removed by mistake, for a whole role at once. This must not remove services from nodes
that run instances, so it removes nothing: the service object has to be deleted by name, which is refused while instances
run on the node.`,
  example: { key: 'nova.openstack.org/cell', node: 'edpm-compute-0', kind: 'NovaExternalCompute' },
})

export const unreadableAnsibleVars = problem<{ field: string; why: string }>({
  code: 'SL7107',
  severity: 'error',
  title: 'ansibleVars is not a mapping of variables',
  message: ({ field, why }) => `${field} cannot be parsed: ${why}`,
  remedy: () => 'write YAML: one `name: value` per line, at the left margin of the block',
  description: `\`ansibleVars\` is a text that contains YAML. It becomes part of the inventory, so it must be a mapping of names to
values. A text that cannot be parsed would silently drop every variable.`,
  example: { field: 'spec.nodeTemplate.ansibleVars', why: 'it is not a mapping of names to values' },
})

export const unsafeAnsibleOption = problem<{ field: string; value: string }>({
  code: 'SL7108',
  severity: 'error',
  title: 'Tags or a limit contain more than names',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} contains more than names`,
  remedy: () =>
    'write names of letters, digits, `_`, `-` and `.`, separated by commas; `*` matches anything in a limit',
  description: `Tags and limits become options of \`ansible-playbook\`. A space or a quote in them could add further options, or
files to be read, so only names are accepted.`,
  example: { field: 'spec.deployStrategy.ansibleTags', value: 'network --check' },
})

export const unknownDataPlaneService = problem<{ service: string; namespace: string }>({
  code: 'SL7109',
  severity: 'error',
  title: 'A role lists a service that does not exist',
  message: ({ service, namespace }) =>
    `OpenStackDataPlaneService ${service} does not exist in namespace ${namespace} and is not built in`,
  remedy: ({ service }) => `create OpenStackDataPlaneService ${service}, or remove it from the services of the role`,
  description: `The \`services\` of a role are the steps of phase 0 on its nodes, in this order. Each is an
OpenStackDataPlaneService of the namespace; configure-network, validate-network, install-os, configure-os and run-os are
built in and used where the namespace has none of that name. Services after the missing one wait.`,
  example: { service: 'ceph-client', namespace: 'openstack' },
})

export const runsExhausted = problem<{ step: string; attempts: number; run: string; why: string }>({
  code: 'SL7110',
  severity: 'error',
  title: 'Ansible failed and is not retried any more',
  message: ({ step, attempts, run, why }) =>
    `${step} failed ${attempts} times with the same inputs, the last time in ${run}: ${why}`,
  remedy: ({ run }) =>
    `\`kubectl describe openstackansibleee ${run}\` shows the cause; after fixing it, set the annotation stackloom.dev/run-request to a new value`,
  description: `Every attempt is one OpenStackAnsibleEE. A failed attempt is retried with growing delays, only for the hosts that
failed; after the last one nothing runs until an input changes or a run is requested: the value of
\`stackloom.dev/run-request\` on the role or the node is one of the inputs.`,
  example: {
    step: 'install-os',
    attempts: 6,
    run: 'dataplane-deployment-install-os-edpm-compute-3f2a-6',
    why: 'a task failed on edpm-compute-1',
  },
})

export const noFreeMachine = problem<{ role: string; namespace: string; seen: number; why: string }>({
  code: 'SL7111',
  severity: 'error',
  title: 'No free machine for a node',
  message: ({ role, namespace, seen, why }) =>
    `no BareMetalHost in namespace ${namespace} fits role ${role}: ${seen} found, ${why}`,
  remedy: () =>
    'register a BareMetalHost that is available and has the labels and the hardware that the role requires; the node claims it at once',
  description: `A role that is not preProvisioned claims machines that metal3 knows (BareMetalHost), by label and hardware. A
machine is free when it is available and has no \`consumerRef\`. The claim is a single write against the resource version that
was read, so two nodes never claim the same machine.`,
  example: { role: 'edpm-compute', namespace: 'openshift-machine-api', seen: 3, why: 'all are claimed' },
})

export const instancesRunning = problem<{ node: string; instances: number; override: string }>({
  code: 'SL7112',
  severity: 'error',
  title: 'A compute node with instances cannot be removed',
  message: ({ node, instances }) => `${node} still has ${instances} instances`,
  remedy: ({ override }) => `migrate or delete them; or accept their loss with the annotation ${override}: "true"`,
  description: `Deleting a NovaExternalCompute removes the compute from its cell for good. The controller asks Nova for the
instances on the host first, and keeps the object while there are any. The annotation says that they may be lost.`,
  example: { node: 'edpm-compute-0', instances: 3, override: 'stackloom.dev/force-decommission' },
})

export const decommissionUnknown = problem<{ node: string; why: string; override: string }>({
  code: 'SL7113',
  severity: 'error',
  title: 'The instances of a compute node are unknown',
  message: ({ node, why }) => `it is unknown whether ${node} has instances: ${why}`,
  remedy: ({ override }) => `make Nova reachable; or continue without asking with the annotation ${override}: "true"`,
  description: `Before a compute node is removed, the controller asks Nova for its instances. No answer is not a permission: the
object stays until Nova answers, or until the annotation says that the instances do not matter.`,
  example: {
    node: 'edpm-compute-0',
    why: 'connection refused',
    override: 'stackloom.dev/force-decommission',
  },
})

export const nodeSetInstalled = problem<object>({
  code: 'SL7114',
  severity: 'warning',
  title: 'The cluster serves the NodeSet API',
  message: () =>
    'the cluster serves OpenStackDataPlaneNodeSet: the NodeSet API shares kind names with the Role/Node API of these controllers',
  remedy: () =>
    'use `stackloom dataplane convert` to convert roles and nodes to NodeSets; leave the data plane of this cluster to openstack-operator',
  description: `OpenStackDataPlaneService has different meanings in the Role/Node API and in the NodeSet API. A cluster can serve
only one of them. Where NodeSets are served, the data plane controllers do not start.`,
  example: {},
})

export const inputMissing = problem<{ what: string; field?: string | undefined }>({
  code: 'SL7115',
  severity: 'error',
  title: 'An input of a service is missing',
  message: ({ what, field }) =>
    field === undefined
      ? `Input data resources missing: ${what}`
      : `Input data error occurred field '${field}' not found in ${what}`,
  remedy: ({ what }) => `create ${what}, or correct the name; the service continues as soon as it exists`,
  description: `The configuration of a service is generated from what the control plane publishes: message bus, credentials,
addresses. Nothing is generated from incomplete inputs, and nothing runs. The service continues by itself when the missing
input appears.`,
  example: { what: 'secret/rabbitmq-transport-url-nova-cell1', field: 'transport_url' },
})

export const foreignService = problem<{ kind: string; name: string; node: string }>({
  code: 'SL7116',
  severity: 'error',
  title: 'A service object of this name belongs to another node',
  message: ({ kind, name, node }) => `${kind} ${name} already exists, for node ${node}`,
  remedy: ({ kind, name }) => `correct dataplaneNodeName of ${kind} ${name}, or delete it`,
  description: `A service object has the name of its node. An object that was created manually is adopted, and its
customServiceConfig stays; but not when it names another node.`,
  example: { kind: 'NovaExternalCompute', name: 'edpm-compute-0', node: 'edpm-compute-7' },
})

export const fieldOwnedByOther = problem<{ kind: string; name: string; why: string }>({
  code: 'SL7117',
  severity: 'error',
  title: 'Another field manager owns a field of a service object',
  message: ({ kind, name, why }) => `${kind} ${name} cannot be updated from its node: ${why}`,
  remedy: ({ kind, name }) =>
    `remove the field from what the other manager applies to ${kind} ${name}; customServiceConfig and images are free to set, the rest follows the node`,
  description: `The controller applies the fields of a service object that follow from its node, and never by force. A person or a
program that set one of them to another value owns it until they stop applying it.`,
  example: {
    kind: 'NovaExternalCompute',
    name: 'edpm-compute-0',
    why: 'kubectl holds .spec.sshKeySecretName',
  },
})

export const runnerInputsUnsupported = problem<{ service: string; why: string }>({
  code: 'SL7118',
  severity: 'error',
  title: 'A service contains nothing that Ansible can run',
  message: ({ service, why }) => `OpenStackDataPlaneService ${service} cannot be run: ${why}`,
  remedy: () => 'give it a play, or a role with tasks',
  description: `An OpenStackDataPlaneService has either \`play\`, a playbook as text, or \`role\`, a list of roles to import. One
that has neither would start Ansible for nothing.`,
  example: { service: 'my-service', why: 'it has neither play nor role' },
})

export const addressesUnusable = problem<{ ipSet: string; why: string }>({
  code: 'SL7119',
  severity: 'error',
  title: 'The addresses of a node cannot be requested',
  message: ({ ipSet, why }) => `IPSet ${ipSet} cannot be created: ${why}`,
  remedy: () =>
    'correct the networks of the node or of its role, or add what is missing to the NetConfig; the node continues by itself',
  description: `Where a namespace has a NetConfig, the networks of a node (or of its role) are requested by an IPSet with the name
of its host: \`name\` is a network of the NetConfig, \`subnetName\` one of its subnets, \`fixedIP\` an address that is free.
Nothing runs on a node whose addresses are unknown.`,
  example: {
    ipSet: 'edpm-compute-0',
    why: 'NetConfig netconfig has no network internlapi: it has ctlplane, internalapi',
  },
})

export const hostNotCleared = problem<{ kind: string; node: string; why: string; override: string }>({
  code: 'SL7120',
  severity: 'error',
  title: 'A service cannot be removed from its host',
  message: ({ kind, node, why }) => `${kind} stays because ${node} could not be cleared: ${why}`,
  remedy: ({ override }) =>
    `make the host reachable, and set stackloom.dev/run-request on its node to a new value; or leave the host as it is with the annotation ${override}: "true"`,
  description: `A service that is deleted is first stopped on its host, and its configuration is removed there: a nova-compute that
still runs would register itself again, and its files contain credentials. Then it is removed from the control plane, and the
object is released. A host that is lost for good cannot be cleared: the annotation says so.`,
  example: {
    kind: 'NovaExternalCompute',
    node: 'edpm-compute-0',
    why: 'the host could not be reached',
    override: 'stackloom.dev/force-decommission',
  },
})
