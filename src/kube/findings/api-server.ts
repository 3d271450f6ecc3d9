/** SL11xx: what an API server answers. The way to it: `connection.ts`. */
import { problem } from '../../errors/finding.ts'

export const forbidden = problem<{ action: string; reason: string }>({
  code: 'SL1108',
  severity: 'error',
  title: 'You may not do this in the cluster',
  message: ({ action, reason }) => `cannot ${action}: ${reason}`,
  remedy: () => 'ask the cluster administrator for this permission; `kubectl auth can-i --list` shows what you have',
  description: `The server knows who you are, and its RBAC rules do not allow this. The message names user, verb, resource and
namespace.`,
  example: {
    action: 'list metallb.io/v1beta1 IPAddressPool',
    reason: 'User "ann" cannot list resource "ipaddresspools" in API group "metallb.io" at the cluster scope',
  },
})

export const fieldConflict = problem<{
  object: string
  conflicts: readonly { readonly manager: string; readonly path: string }[]
}>({
  code: 'SL1109',
  severity: 'error',
  title: 'Somebody else manages these fields',
  message: ({ object, conflicts }) =>
    `${object}: ${conflicts.map(({ manager, path }) => `${path} belongs to ${manager}`).join('; ')}`,
  remedy: ({ conflicts }) =>
    `leave the field to ${conflicts[0]?.manager ?? 'its manager'} by taking it out of what you apply, or take it over with --force-conflicts`,
  description: `Server-side apply records which program set which field. Applying another value to a field that another manager
owns is refused, because the two would fight. Stackloom never forces this unless it was asked to.`,
  example: {
    object: 'metallb.io/IPAddressPool metallb-system/openstack-internalapi',
    conflicts: [{ manager: 'kubectl-edit', path: '.spec.addresses' }],
  },
})

export const staleWrite = problem<{ object: string; reason: string }>({
  code: 'SL1110',
  severity: 'error',
  title: 'The object has changed in the meantime',
  message: ({ object, reason }) => `${object} has changed since it was read: ${reason}`,
  remedy: () => 'run the command again: it will look at the new state',
  description: `A write names the version of the object that it was based on. Somebody wrote in between, so the write was refused
and nothing was lost.`,
  example: { object: 'ConfigMap openstack/stackloom', reason: 'the object has been modified' },
})

export const objectRefused = problem<{ object: string; reasons: readonly string[] }>({
  code: 'SL1111',
  severity: 'error',
  title: 'The API server refuses the object',
  message: ({ object, reasons }) => `${object} is refused: ${reasons.join('; ')}`,
  remedy: () => 'correct the fields named here; `kubectl explain` tells what the cluster expects',
  description: `The object does not fit the schema that this cluster serves, has a field that the schema does not know (strict
validation: unknown fields are refused, never dropped), or an admission webhook said no. A CRD of another version than the
one that was planned for is a common cause.`,
  example: {
    object: 'metallb.io/IPAddressPool metallb-system/a',
    reasons: ['unknown field "spec.adresses"'],
  },
})

export const kindNotServed = problem<{ kind: string; server: string }>({
  code: 'SL1112',
  severity: 'error',
  title: 'The cluster does not know this kind',
  message: ({ kind, server }) => `${server} does not serve ${kind}`,
  remedy: () => 'install the operator that brings this kind, or wait until its CRD is established',
  description: `The kind comes with a CRD that is not installed, or is served in another version only.
\`kubectl api-resources\` lists what is served.`,
  example: { kind: 'metallb.io/v1beta1 IPAddressPool', server: 'https://api.lab.example:6443' },
})

export const objectMissing = problem<{ object: string }>({
  code: 'SL1113',
  severity: 'error',
  title: 'The object does not exist',
  message: ({ object }) => `${object} does not exist`,
  remedy: () => 'check name and namespace; a namespace must exist before anything can be put into it',
  description: `Something was to be changed that is not there. Often it is the namespace that is missing.`,
  example: { object: 'namespaces "openstack3"' },
})

export const objectExists = problem<{ object: string }>({
  code: 'SL1114',
  severity: 'error',
  title: 'The object exists already',
  message: ({ object }) => `${object} exists already`,
  remedy: () => 'choose another name, or look at what is there first',
  description: `Something was to be created under a name that is taken. What is there was not touched.`,
  example: { object: 'Namespace openstack' },
})

export const webhookUnavailable = problem<{ webhook: string; reason: string }>({
  code: 'SL1115',
  severity: 'error',
  title: 'An admission webhook does not answer',
  message: ({ webhook, reason }) => `the admission webhook ${webhook} does not answer: ${reason}`,
  remedy: () => 'look at the pods of the operator that serves it; once they are ready, run the command again',
  description: `Before it stores an object, the API server asks the webhooks that are registered for its kind. One of them could
not be asked, and its rule is to refuse then. An operator that is starting, or one that was removed while its webhook
configuration stayed behind, does this.`,
  example: {
    webhook: 'ipaddresspoolvalidationwebhook.metallb.io',
    reason: 'connect: connection refused',
  },
})

export const serverBusy = problem<{ server: string; reason: string }>({
  code: 'SL1116',
  severity: 'error',
  title: 'The API server is too busy',
  message: ({ server, reason }) => `${server} asks us to come back later, again and again: ${reason}`,
  remedy: () => 'wait a little and run the command again',
  description: `The server answered 429 each time, although the pauses that it asked for were kept. It is overloaded, or its
fairness rules give this user a small share.`,
  example: { server: 'https://api.lab.example:6443', reason: 'too many requests' },
})

export const serverFailing = problem<{ server: string; status: number; reason: string }>({
  code: 'SL1117',
  severity: 'error',
  title: 'The API server fails',
  message: ({ server, status, reason }) => `${server} answers ${status}: ${reason}`,
  remedy: () => 'look at the API server and at etcd; `kubectl get --raw /readyz?verbose` names the failing part',
  description: `The server was reached and failed inside, also when asked again.`,
  example: { server: 'https://api.lab.example:6443', status: 500, reason: 'etcdserver: request timed out' },
})

export const malformedAnswer = problem<{ server: string; reason: string }>({
  code: 'SL1118',
  severity: 'error',
  title: 'The answer is not what an API server says',
  message: ({ server, reason }) => `${server} gave an answer that makes no sense: ${reason}`,
  remedy: () => 'check that the address is an API server and that no proxy or sign-in page stands in between',
  description: `The answer was not JSON, was cut, or lacked what every object has. A proxy that answers for the server does this.`,
  example: { server: 'https://api.lab.example:6443', reason: 'a web page instead of JSON' },
})

export const versionExpired = problem<{ reason: string }>({
  code: 'SL1119',
  severity: 'error',
  title: 'The server has forgotten this version',
  message: ({ reason }) => `the server no longer holds the version that was asked for: ${reason}`,
  remedy: () => 'run the command again: it will read everything anew',
  description: `etcd keeps old versions for some minutes only. A watch or a long list that falls behind starts anew; this reaches
you only where that was tried several times.`,
  example: { reason: 'too old resource version: 100 (5000)' },
})

export const serverTooSlow = problem<{ server: string; reason: string }>({
  code: 'SL1120',
  severity: 'error',
  title: 'The API server takes too long',
  message: ({ server, reason }) => `${server} did not answer in time: ${reason}`,
  remedy: () => 'run the command again; when it stays so, look at the load of the API server and of etcd',
  description: `The connection stands, but no answer came within the time that a request may take.`,
  example: { server: 'https://api.lab.example:6443', reason: 'no answer within 30 s' },
})

export const requestRejected = problem<{ status: number; reason: string }>({
  code: 'SL1121',
  severity: 'error',
  title: 'The API server rejects the request',
  message: ({ status, reason }) => `the API server rejects the request (${status}): ${reason}`,
  remedy: () => 'correct what the message names',
  description: `The server understood the request and did not do it, for a reason that has no finding of its own.`,
  example: { status: 413, reason: 'Request entity too large: limit is 3145728' },
})

export const unreadableDump = problem<{ file: string; reason: string }>({
  code: 'SL1123',
  severity: 'warning',
  title: 'A file of the dump cannot be read',
  message: ({ file, reason }) => `${file} was left out: ${reason}`,
  remedy: () => 'take the dump again; what the other files hold was used',
  description: `The file is cut, is not UTF-8, or is no YAML or JSON. Objects before the broken place were used where the format
allows it. What the file held beyond that is unknown, not absent.`,
  example: { file: 'dump/pools.yaml', reason: 'unexpected end of the stream within a flow mapping' },
})

export const unreadKind = problem<{ kind: string; reason: string }>({
  code: 'SL1124',
  severity: 'warning',
  title: 'A kind could not be read',
  message: ({ kind, reason }) => `${kind} is unknown: ${reason}`,
  remedy: () => 'give the missing permission, or install the missing CRD, and look again',
  description: `A report says what it has seen. What could not be read is unknown, which is not the same as absent: checks that
need this kind say so instead of passing.`,
  example: { kind: 'metallb.io/IPAddressPool', reason: 'forbidden' },
})

export const serverWarning = problem<{ text: string }>({
  code: 'SL1125',
  severity: 'warning',
  title: 'The API server warns',
  message: ({ text }) => text,
  remedy: () => 'nothing failed; follow the advice before the next upgrade of the cluster',
  description: `Kubernetes sends warnings beside its answers: deprecated versions and fields, values that will stop working.`,
  example: { text: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
})

export const podExecFailed = problem<{ pod: string; reason: string }>({
  code: 'SL1126',
  severity: 'error',
  title: 'A command in a pod could not be run',
  message: ({ pod, reason }) => `no command could be run in pod ${pod}: ${reason}`,
  remedy: () => 'check that the pod runs and that you may use pods/exec',
  description: `The API server hands the connection to the kubelet of the pod's node. One of the two refused, or the connection
ended before the command did.`,
  example: { pod: 'openstack/discovery-worker-0', reason: 'the connection ended early' },
})

export const namespaceTerminating = problem<{ reason: string }>({
  code: 'SL1127',
  severity: 'error',
  title: 'The namespace is being deleted',
  message: ({ reason }) => reason,
  remedy: () => 'wait until the namespace is gone, or look at what keeps it: objects with finalizers',
  description: `Nothing can be put into a namespace that is being deleted. It disappears when everything in it is gone; an object
whose finalizer nobody serves keeps it for ever.`,
  example: { reason: 'namespace openstack2 is being terminated' },
})

export const emptyDump = problem<{ where: string }>({
  code: 'SL1128',
  severity: 'error',
  title: 'A folder of dumps shows nothing of a cluster',
  message: ({ where }) => `no file in ${where} has a Kubernetes object of the kinds that are looked at`,
  remedy: () =>
    'name a must-gather, or a folder with the output of `kubectl get -o yaml`; files end in .yaml, .yml or .json',
  description: `Nothing can be said about a cluster from a folder that shows nothing of it: neither that it is well nor that it is
not. Most often the folder is one too high or one too low, or the dump went wrong and left its files empty.`,
  example: { where: 'must-gather' },
})
