/** SL11xx: errors that an API server returns. Problems of the connection: `connection.ts`. */
import { problem } from '../../errors/finding.ts'

export const forbidden = problem<{ action: string; reason: string }>({
  code: 'SL1108',
  severity: 'error',
  title: 'You are not allowed to do this in the cluster',
  message: ({ action, reason }) => `cannot ${action}: ${reason}`,
  remedy: () => 'ask the cluster administrator for this permission; `kubectl auth can-i --list` shows what you have',
  description: `The server accepted your credentials, and its RBAC rules do not allow this. The message names user, verb, resource and
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
  title: 'Another manager owns these fields',
  message: ({ object, conflicts }) =>
    `${object}: ${conflicts.map(({ manager, path }) => `${path} belongs to ${manager}`).join('; ')}`,
  remedy: ({ conflicts }) =>
    `leave the field to ${conflicts[0]?.manager ?? 'its manager'} by removing it from what you apply, or take it over with --force-conflicts`,
  description: `Server-side apply records which program set which field. Applying another value to a field that another manager
owns is rejected, because the two would overwrite each other. Stackloom forces it only when you ask for it.`,
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
  remedy: () => 'run the command again: it reads the new state',
  description: `A write names the version of the object that it is based on. Another program wrote in between, so the write was
rejected and nothing was lost.`,
  example: { object: 'ConfigMap openstack/stackloom', reason: 'the object has been modified' },
})

export const objectRefused = problem<{ object: string; reasons: readonly string[] }>({
  code: 'SL1111',
  severity: 'error',
  title: 'The API server rejects the object',
  message: ({ object, reasons }) => `${object} is rejected: ${reasons.join('; ')}`,
  remedy: () => 'correct the fields named here; `kubectl explain` shows what the cluster expects',
  description: `The object does not match the schema that this cluster serves, has a field that the schema does not have (strict
validation: unknown fields are rejected, never dropped), or an admission webhook denied it. A CRD of another version than
planned is a common cause.`,
  example: {
    object: 'metallb.io/IPAddressPool metallb-system/a',
    reasons: ['unknown field "spec.adresses"'],
  },
})

export const kindNotServed = problem<{ kind: string; server: string }>({
  code: 'SL1112',
  severity: 'error',
  title: 'The cluster does not serve this kind',
  message: ({ kind, server }) => `${server} does not serve ${kind}`,
  remedy: () => 'install the operator that provides this kind, or wait until its CRD is established',
  description: `The CRD of this kind is not installed, or is served in another version only.
\`kubectl api-resources\` lists what is served.`,
  example: { kind: 'metallb.io/v1beta1 IPAddressPool', server: 'https://api.lab.example:6443' },
})

export const objectMissing = problem<{ object: string }>({
  code: 'SL1113',
  severity: 'error',
  title: 'The object does not exist',
  message: ({ object }) => `${object} does not exist`,
  remedy: () => 'check name and namespace; a namespace must exist before objects can be created in it',
  description: `The object to change does not exist. Often the namespace is missing.`,
  example: { object: 'namespaces "openstack3"' },
})

export const objectExists = problem<{ object: string }>({
  code: 'SL1114',
  severity: 'error',
  title: 'The object exists already',
  message: ({ object }) => `${object} exists already`,
  remedy: () => 'choose another name, or inspect the existing object first',
  description: `The object to create has a name that is in use. The existing object was not changed.`,
  example: { object: 'Namespace openstack' },
})

export const webhookUnavailable = problem<{ webhook: string; reason: string }>({
  code: 'SL1115',
  severity: 'error',
  title: 'An admission webhook does not respond',
  message: ({ webhook, reason }) => `the admission webhook ${webhook} does not respond: ${reason}`,
  remedy: () => 'check the pods of the operator that serves it; when they are ready, run the command again',
  description: `Before it stores an object, the API server calls the webhooks that are registered for its kind. One of them could
not be called, and its failure policy is to reject. This happens while an operator is starting, or when it was removed and
its webhook configuration was left behind.`,
  example: {
    webhook: 'ipaddresspoolvalidationwebhook.metallb.io',
    reason: 'connect: connection refused',
  },
})

export const serverBusy = problem<{ server: string; reason: string }>({
  code: 'SL1116',
  severity: 'error',
  title: 'The API server is too busy',
  message: ({ server, reason }) => `${server} asks us to retry later, repeatedly: ${reason}`,
  remedy: () => 'wait a little and run the command again',
  description: `The server responded 429 to each attempt, although the requested pauses were kept. It is overloaded, or its
fairness rules give this user a small share.`,
  example: { server: 'https://api.lab.example:6443', reason: 'too many requests' },
})

export const serverFailing = problem<{ server: string; status: number; reason: string }>({
  code: 'SL1117',
  severity: 'error',
  title: 'The API server fails',
  message: ({ server, status, reason }) => `${server} responds ${status}: ${reason}`,
  remedy: () => 'check the API server and etcd; `kubectl get --raw /readyz?verbose` names the failing part',
  description: `The server was reached and failed internally, also on retries.`,
  example: { server: 'https://api.lab.example:6443', status: 500, reason: 'etcdserver: request timed out' },
})

export const malformedAnswer = problem<{ server: string; reason: string }>({
  code: 'SL1118',
  severity: 'error',
  title: 'The response is not that of an API server',
  message: ({ server, reason }) => `${server} sent an invalid response: ${reason}`,
  remedy: () => 'check that the address is an API server and that no proxy or sign-in page is in between',
  description: `The response was not JSON, was truncated, or lacked what every object has. A proxy that responds for the server causes this.`,
  example: { server: 'https://api.lab.example:6443', reason: 'a web page instead of JSON' },
})

export const versionExpired = problem<{ reason: string }>({
  code: 'SL1119',
  severity: 'error',
  title: 'The server no longer has this version',
  message: ({ reason }) => `the server no longer has the requested version: ${reason}`,
  remedy: () => 'run the command again: it reads everything again',
  description: `etcd keeps old versions only for some minutes. A watch or a long list that falls behind is restarted; this is
reported only after several restarts.`,
  example: { reason: 'too old resource version: 100 (5000)' },
})

export const serverTooSlow = problem<{ server: string; reason: string }>({
  code: 'SL1120',
  severity: 'error',
  title: 'The API server takes too long',
  message: ({ server, reason }) => `${server} did not respond in time: ${reason}`,
  remedy: () => 'run the command again; if it happens again, check the load of the API server and of etcd',
  description: `The connection is open, but no response came within the time limit of a request.`,
  example: { server: 'https://api.lab.example:6443', reason: 'no response within 30 s' },
})

export const requestRejected = problem<{ status: number; reason: string }>({
  code: 'SL1121',
  severity: 'error',
  title: 'The API server rejects the request',
  message: ({ status, reason }) => `the API server rejects the request (${status}): ${reason}`,
  remedy: () => 'correct what the message names',
  description: `The server understood the request and rejected it for a reason that has no separate finding.`,
  example: { status: 413, reason: 'Request entity too large: limit is 3145728' },
})

export const unreadableDump = problem<{ file: string; reason: string }>({
  code: 'SL1123',
  severity: 'warning',
  title: 'A file of the dump cannot be read',
  message: ({ file, reason }) => `${file} was skipped: ${reason}`,
  remedy: () => 'take the dump again; the other files were used',
  description: `The file is truncated, is not UTF-8, or is neither YAML nor JSON. Objects before the error were used where the
format allows it. The rest of the file is unknown, not absent.`,
  example: { file: 'dump/pools.yaml', reason: 'unexpected end of the stream within a flow mapping' },
})

export const unreadKind = problem<{ kind: string; reason: string }>({
  code: 'SL1124',
  severity: 'warning',
  title: 'A kind could not be read',
  message: ({ kind, reason }) => `${kind} is unknown: ${reason}`,
  remedy: () => 'grant the missing permission, or install the missing CRD, and run the command again',
  description: `A report covers what could be read. What could not be read is unknown, which is not the same as absent: checks
that need this kind say so instead of passing.`,
  example: { kind: 'metallb.io/IPAddressPool', reason: 'forbidden' },
})

export const serverWarning = problem<{ text: string }>({
  code: 'SL1125',
  severity: 'warning',
  title: 'The API server sent a warning',
  message: ({ text }) => text,
  remedy: () => 'nothing failed; follow the advice before the next upgrade of the cluster',
  description: `Kubernetes sends warnings with its responses: deprecated versions and fields, values that will stop working.`,
  example: { text: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
})

export const podExecFailed = problem<{ pod: string; reason: string }>({
  code: 'SL1126',
  severity: 'error',
  title: 'A command in a pod could not be run',
  message: ({ pod, reason }) => `no command could be run in pod ${pod}: ${reason}`,
  remedy: () => 'check that the pod runs and that you are allowed to use pods/exec',
  description: `The API server passes the connection to the kubelet of the pod's node. One of the two refused, or the connection
ended before the command did.`,
  example: { pod: 'openstack/discovery-worker-0', reason: 'the connection ended early' },
})

export const namespaceTerminating = problem<{ reason: string }>({
  code: 'SL1127',
  severity: 'error',
  title: 'The namespace is being deleted',
  message: ({ reason }) => reason,
  remedy: () => 'wait until the namespace is gone, or find what blocks it: objects with finalizers',
  description: `Nothing can be created in a namespace that is being deleted. It disappears when everything in it is gone; an
object with a finalizer that no controller removes blocks it forever.`,
  example: { reason: 'namespace openstack2 is being terminated' },
})

export const emptyDump = problem<{ where: string }>({
  code: 'SL1128',
  severity: 'error',
  title: 'A folder of dumps contains no cluster objects',
  message: ({ where }) => `no file in ${where} has a Kubernetes object of the required kinds`,
  remedy: () =>
    'name a must-gather, or a folder with the output of `kubectl get -o yaml`; files end in .yaml, .yml or .json',
  description: `A folder without objects says nothing about a cluster, neither that it is healthy nor that it is not. Most often the
folder is one level too high or too low, or the dump failed and left empty files.`,
  example: { where: 'must-gather' },
})
