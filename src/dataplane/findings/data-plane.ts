/** SL71xx: the data plane controllers and their webhooks. The messages are also what conditions and refusals say. */
import { problem } from '../../errors/finding.ts'

export const malformedServiceAnnotation = problem<{
  key: string
  value: string
  why: string
  remedy: string
}>({
  code: 'SL7101',
  severity: 'error',
  title: 'An annotation asks for a service in a way that cannot be',
  message: ({ key, value, why }) => `${key}: ${JSON.stringify(value)} cannot be used: ${why}`,
  remedy: ({ remedy }) => remedy,
  description: `Annotations on an OpenStackDataPlaneRole or an OpenStackDataPlaneNode say which OpenStack services run on a node.
The value of \`nova.openstack.org/cell\` is the name of a NovaCell object, which holds both the name of the Nova and of the
cell: \`nova-cell1\`. cell0 holds instances that were never scheduled and never has compute nodes. Nothing is made from such
an annotation, and nothing runs.`,
  example: {
    key: 'nova.openstack.org/cell',
    value: 'nova-cell0',
    why: 'cell0 never has compute nodes',
    remedy: 'name a NovaCell object, such as nova-cell1; leave it empty where a node is no compute',
  },
})

export const roleMissing = problem<{ role: string; namespace: string }>({
  code: 'SL7102',
  severity: 'error',
  title: 'The role of a node does not exist',
  message: ({ role, namespace }) => `there is no OpenStackDataPlaneRole ${role} in namespace ${namespace}`,
  remedy: ({ role }) => `create the role, or correct spec.role; the node goes on as soon as ${role} is there`,
  description: `A node takes its services, and every value that it does not have itself, from its role. Without the role it is
not known what to do with the node, so nothing is done: no inventory is written, nothing runs, and services that exist
already stay as they are.`,
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
  description: `Ansible reaches a node by SSH with the private key of this Secret, under the key \`ssh-privatekey\`. Nothing runs
until it is there; the node goes on by itself when it is.`,
  example: { secret: 'dataplane-ansible-ssh-private-key-secret', why: 'no-key' },
})

export const deprecatedField = problem<{ field: string; instead: string }>({
  code: 'SL7104',
  severity: 'warning',
  title: 'A field that is accepted and ignored',
  message: ({ field }) => `${field} is deprecated and ignored`,
  remedy: ({ instead }) => instead,
  description: `The first form of the data plane API carried OpenStack services inside roles and nodes (\`nova:\`), and a compute
named its Nova and its cell apart (\`novaInstance\`, \`cellName: cell1\`). Services are now objects of their own, made by
annotations; the configuration of a service is its \`customServiceConfig\`. Objects with the old fields are still taken, so
that nothing breaks, but the fields have no effect.`,
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
    `${key} asks for ${JSON.stringify(asked)} on node ${node}, but its ${kind} has ${field} ${bound}, which never changes`,
  remedy: ({ key, node, kind, bound }) =>
    `set ${key} back to ${bound}; to use the node elsewhere, delete ${kind} ${node} first, which takes the compute out of its cell`,
  description: `Nova cannot move a compute node between cells: its instances, its allocations and its service record are in the
database of the cell it started in. What counts is the cell that holds for the node, whether its own annotation says so, its
role's, or another role's after \`spec.role\` was changed; also for a node that was deleted and made anew while its compute
lived on. The webhooks refuse such a change. Where they could not, the controller leaves the compute as it is and says so.`,
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
  message: ({ key, node, kind }) => `${key} no longer holds for node ${node}, but its ${kind} exists`,
  remedy: ({ node, kind }) =>
    `delete ${kind} ${node} first (\`kubectl delete --wait=false\`), which takes the service off the node, and remove the annotation while it goes`,
  description: `Removing an annotation is easily done by mistake, for a whole role at once. It must not take services away from
nodes that run instances, so it takes nothing away: the service object has to be deleted by name, and that is refused while
instances run there.`,
  example: { key: 'nova.openstack.org/cell', node: 'edpm-compute-0', kind: 'NovaExternalCompute' },
})

export const unreadableAnsibleVars = problem<{ field: string; why: string }>({
  code: 'SL7107',
  severity: 'error',
  title: 'ansibleVars is not a set of variables',
  message: ({ field, why }) => `${field} cannot be read: ${why}`,
  remedy: () => 'write YAML: one `name: value` per line, at the left margin of the block',
  description: `\`ansibleVars\` is one text that holds YAML. It becomes part of the inventory, so it must be a mapping of names to
values. What cannot be read would leave every variable out without a word.`,
  example: { field: 'spec.nodeTemplate.ansibleVars', why: 'it is not a mapping of names to values' },
})

export const unsafeAnsibleOption = problem<{ field: string; value: string }>({
  code: 'SL7108',
  severity: 'error',
  title: 'Tags or a limit that are more than words',
  message: ({ field, value }) => `${field}: ${JSON.stringify(value)} holds more than names`,
  remedy: () =>
    'write names of letters, digits, `_`, `-` and `.`, separated by commas; `*` stands for anything in a limit',
  description: `Tags and limits become options of \`ansible-playbook\`. A space or a quote in them could add further options, or
files to be read, so only names are taken.`,
  example: { field: 'spec.deployStrategy.ansibleTags', value: 'network --check' },
})

export const unknownDataPlaneService = problem<{ service: string; namespace: string }>({
  code: 'SL7109',
  severity: 'error',
  title: 'A role lists a service that does not exist',
  message: ({ service, namespace }) =>
    `there is no OpenStackDataPlaneService ${service} in namespace ${namespace}, and none is built in`,
  remedy: ({ service }) => `create the OpenStackDataPlaneService ${service}, or take it out of the role's services`,
  description: `The \`services\` of a role are what phase 0 does to its nodes, in this order. Each is an OpenStackDataPlaneService
of the namespace; configure-network, validate-network, install-os, configure-os and run-os are built in where the namespace
has none of that name. Services after the missing one wait.`,
  example: { service: 'ceph-client', namespace: 'openstack' },
})

export const runsExhausted = problem<{ step: string; attempts: number; run: string; why: string }>({
  code: 'SL7110',
  severity: 'error',
  title: 'Ansible failed as often as it may',
  message: ({ step, attempts, run, why }) =>
    `${step} failed ${attempts} times with the same inputs, the last time in ${run}: ${why}`,
  remedy: ({ run }) =>
    `\`kubectl describe openstackansibleee ${run}\` has the cause; after it is gone, set the annotation stackloom.dev/run-request to a new value`,
  description: `Every attempt is one OpenStackAnsibleEE. After a failed one the next follows later and later, for the hosts that
failed only; after the last nothing runs until an input changes or somebody asks: the value of
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
  title: 'There is no free machine for a node',
  message: ({ role, namespace, seen, why }) =>
    `no BareMetalHost in namespace ${namespace} fits role ${role}: ${seen} seen, ${why}`,
  remedy: () =>
    'register a BareMetalHost that is available and has the labels and the hardware that the role asks for; the node takes it at once',
  description: `A role that is not preProvisioned takes machines that metal3 knows (BareMetalHost), by label and hardware. One is
free when it is available and nobody's \`consumerRef\` stands on it. The claim is one write on the version that was seen, so
two nodes never take the same machine.`,
  example: { role: 'edpm-compute', namespace: 'openshift-machine-api', seen: 3, why: 'all are taken' },
})

export const instancesRunning = problem<{ node: string; instances: number; override: string }>({
  code: 'SL7112',
  severity: 'error',
  title: 'A compute node cannot go while it has instances',
  message: ({ node, instances }) => `${node} still has ${instances} instances`,
  remedy: ({ override }) => `migrate or delete them; or give them up with the annotation ${override}: "true"`,
  description: `Deleting a NovaExternalCompute takes the compute out of its cell for good. Nova is asked for the instances on the
host first, and as long as there are any the object stays. The annotation says that they may be lost.`,
  example: { node: 'edpm-compute-0', instances: 3, override: 'stackloom.dev/force-decommission' },
})

export const decommissionUnknown = problem<{ node: string; why: string; override: string }>({
  code: 'SL7113',
  severity: 'error',
  title: 'Nobody can say whether a compute node has instances',
  message: ({ node, why }) => `it is not known whether ${node} has instances: ${why}`,
  remedy: ({ override }) => `make Nova reachable; or go on without asking with the annotation ${override}: "true"`,
  description: `Before a compute node goes, Nova is asked for its instances. An answer that cannot be had is no permission: the
object stays until Nova answers, or until somebody says that it does not matter.`,
  example: {
    node: 'edpm-compute-0',
    why: 'connection refused',
    override: 'stackloom.dev/force-decommission',
  },
})

export const nodeSetInstalled = problem<object>({
  code: 'SL7114',
  severity: 'warning',
  title: 'The cluster has the data plane API of today',
  message: () =>
    "the cluster serves OpenStackDataPlaneNodeSet: today's data plane API has names in common with the one that Stackloom's controllers serve",
  remedy: () =>
    'use `stackloom dataplane convert` to make NodeSets of roles and nodes; leave the data plane to openstack-operator here',
  description: `OpenStackDataPlaneService means one thing in the API of roles and nodes and another in today's API of NodeSets. A
cluster can serve one of them. Where NodeSets are served, the data plane controllers stay out.`,
  example: {},
})

export const inputMissing = problem<{ what: string; field?: string | undefined }>({
  code: 'SL7115',
  severity: 'error',
  title: 'Something that a service needs is missing',
  message: ({ what, field }) =>
    field === undefined
      ? `Input data resources missing: ${what}`
      : `Input data error occurred field '${field}' not found in ${what}`,
  remedy: ({ what }) => `create ${what}, or correct the name; the service goes on as soon as it is there`,
  description: `The configuration of a service is made of what the control plane publishes: message bus, credentials, addresses.
Nothing is generated from half of it, and nothing runs. The service goes on by itself when the missing part appears.`,
  example: { what: 'secret/rabbitmq-transport-url-nova-cell1', field: 'transport_url' },
})

export const foreignService = problem<{ kind: string; name: string; node: string }>({
  code: 'SL7116',
  severity: 'error',
  title: 'A service object of this name belongs to another node',
  message: ({ kind, name, node }) => `${kind} ${name} is there already, for node ${node}`,
  remedy: ({ kind, name }) => `correct dataplaneNodeName of ${kind} ${name}, or delete it`,
  description: `A service object has the name of its node. One that was made before by hand is taken over, and what a person wrote
in it stays; but not when it names another node.`,
  example: { kind: 'NovaExternalCompute', name: 'edpm-compute-0', node: 'edpm-compute-7' },
})

export const fieldOwnedByOther = problem<{ kind: string; name: string; why: string }>({
  code: 'SL7117',
  severity: 'error',
  title: 'Somebody else holds a field of a service object',
  message: ({ kind, name, why }) => `${kind} ${name} cannot be kept as its node says: ${why}`,
  remedy: ({ kind, name }) =>
    `take the field out of what the other one writes to ${kind} ${name}; customServiceConfig and images are free, the rest follows the node`,
  description: `The fields of a service object that follow from its node are applied by the controller and never taken by force. A
person or a program that set one of them to another value holds it until they let go.`,
  example: {
    kind: 'NovaExternalCompute',
    name: 'edpm-compute-0',
    why: 'kubectl holds .spec.sshKeySecretName',
  },
})

export const runnerInputsUnsupported = problem<{ service: string; why: string }>({
  code: 'SL7118',
  severity: 'error',
  title: 'A service says nothing that Ansible could run',
  message: ({ service, why }) => `OpenStackDataPlaneService ${service} cannot be run: ${why}`,
  remedy: () => 'give it a play, or a role with tasks',
  description: `An OpenStackDataPlaneService holds either \`play\`, a playbook as text, or \`role\`, a list of roles to import. One
that has neither would start Ansible for nothing.`,
  example: { service: 'my-service', why: 'it has neither play nor role' },
})

export const addressesUnusable = problem<{ ipSet: string; why: string }>({
  code: 'SL7119',
  severity: 'error',
  title: 'The addresses of a node cannot be asked for',
  message: ({ ipSet, why }) => `IPSet ${ipSet} cannot be made: ${why}`,
  remedy: () =>
    'correct the networks of the node or of its role, or add what is missing to the NetConfig; the node goes on by itself',
  description: `Where a namespace has a NetConfig, the networks of a node (or of its role) are asked for by an IPSet with the name
of its host: \`name\` is a network of the NetConfig, \`subnetName\` one of its subnets, \`fixedIP\` an address that nobody else
has. Nothing runs on a node whose addresses are not known.`,
  example: {
    ipSet: 'edpm-compute-0',
    why: 'NetConfig netconfig has no network internlapi: it has ctlplane, internalapi',
  },
})

export const hostNotCleared = problem<{ kind: string; node: string; why: string; override: string }>({
  code: 'SL7120',
  severity: 'error',
  title: 'A service cannot be taken off its host',
  message: ({ kind, node, why }) => `${kind} stays because ${node} could not be cleared: ${why}`,
  remedy: ({ override }) =>
    `make the host reachable, and set stackloom.dev/run-request on its node to a new value; or let it go as it is with the annotation ${override}: "true"`,
  description: `A service that is deleted ends on its host first, and its configuration goes from there: a nova-compute that still
runs would register itself again, and its files hold credentials. Only then is it taken out of the control plane and the
object goes. A host that is lost for good cannot be cleared: the annotation says so.`,
  example: {
    kind: 'NovaExternalCompute',
    node: 'edpm-compute-0',
    why: 'the host could not be reached',
    override: 'stackloom.dev/force-decommission',
  },
})
