/** SL11xx: errors that an API server returns. Problems of the connection: `connection.ts`. */
import { problem } from '../../errors/finding.ts'

export const forbidden = problem<{ action: string; reason: string }>({
  code: 'SL1108',
  severity: 'error',
  message: ({ action, reason }) => `cannot ${action}: ${reason}`,
  remedy: () => 'ask the cluster administrator for this permission; `kubectl auth can-i --list` shows what you have',
})

export const fieldConflict = problem<{
  object: string
  conflicts: readonly { readonly manager: string; readonly path: string }[]
}>({
  code: 'SL1109',
  severity: 'error',
  message: ({ object, conflicts }) =>
    `${object}: ${conflicts.map(({ manager, path }) => `${path} belongs to ${manager}`).join('; ')}`,
  remedy: ({ object, conflicts }) =>
    /network-?attachment-?definition/i.test(object)
      ? 'leave it to the tool that deployed it: write `keep: [attachments]` into its cloud in the site file; take it over with --force-conflicts only when no pod of the network runs, because whereabouts forgets the addresses of running pods'
      : takeOver(conflicts),
})

function takeOver(conflicts: readonly { readonly manager: string }[]): string {
  return `leave the field to ${conflicts[0]?.manager ?? 'its manager'} by removing it from what you apply, or take it over with --force-conflicts`
}

export const staleWrite = problem<{ object: string; reason: string }>({
  code: 'SL1110',
  severity: 'error',
  message: ({ object, reason }) => `${object} has changed since it was read: ${reason}`,
  remedy: () => 'run the command again: it reads the new state',
})

export const objectRefused = problem<{ object: string; reasons: readonly string[] }>({
  code: 'SL1111',
  severity: 'error',
  message: ({ object, reasons }) => `${object} is rejected: ${reasons.join('; ')}`,
  remedy: ({ reasons }) =>
    reasons.some((reason) => /^admission webhook .* denied the request/.test(reason))
      ? 'correct what the webhook names; where another object is in the way, `stackloom verify` names it'
      : 'correct the fields named here; `kubectl explain` shows what the cluster expects',
})

export const kindNotServed = problem<{ kind: string; server: string }>({
  code: 'SL1112',
  severity: 'error',
  message: ({ kind, server }) => `${server} does not serve ${kind}`,
  remedy: () => 'install the operator that provides this kind, or wait until its CRD is established',
})

export const objectMissing = problem<{ object: string }>({
  code: 'SL1113',
  severity: 'error',
  message: ({ object }) => `${object} does not exist`,
  remedy: () => 'check name and namespace; a namespace must exist before objects can be created in it',
})

export const objectExists = problem<{ object: string }>({
  code: 'SL1114',
  severity: 'error',
  message: ({ object }) => `${object} exists already`,
  remedy: () => 'choose another name, or inspect the existing object first',
})

export const webhookUnavailable = problem<{ webhook: string; reason: string }>({
  code: 'SL1115',
  severity: 'error',
  message: ({ webhook, reason }) => `the admission webhook ${webhook} does not respond: ${reason}`,
  remedy: () => 'check the pods of the operator that serves it; when they are ready, run the command again',
})

export const serverBusy = problem<{ server: string; reason: string }>({
  code: 'SL1116',
  severity: 'error',
  message: ({ server, reason }) => `${server} asks us to retry later, repeatedly: ${reason}`,
  remedy: () => 'wait a little and run the command again',
})

export const serverFailing = problem<{ server: string; status: number; reason: string }>({
  code: 'SL1117',
  severity: 'error',
  message: ({ server, status, reason }) => `${server} responds ${status}: ${reason}`,
  remedy: () => 'check the API server and etcd; `kubectl get --raw /readyz?verbose` names the failing part',
})

export const malformedAnswer = problem<{ server: string; reason: string }>({
  code: 'SL1118',
  severity: 'error',
  message: ({ server, reason }) => `${server} sent an invalid response: ${reason}`,
  remedy: () => 'check that the address is an API server and that no proxy or sign-in page is in between',
})

export const versionExpired = problem<{ reason: string }>({
  code: 'SL1119',
  severity: 'error',
  message: ({ reason }) => `the server no longer has the requested version: ${reason}`,
  remedy: () => 'run the command again: it reads everything again',
})

export const serverTooSlow = problem<{ server: string; reason: string }>({
  code: 'SL1120',
  severity: 'error',
  message: ({ server, reason }) => `${server} did not respond in time: ${reason}`,
  remedy: () => 'run the command again; if it happens again, check the load of the API server and of etcd',
})

export const requestRejected = problem<{ status: number; reason: string }>({
  code: 'SL1121',
  severity: 'error',
  message: ({ status, reason }) => `the API server rejects the request (${status}): ${reason}`,
  remedy: () => 'correct what the message names',
})

export const unreadableDump = problem<{ file: string; reason: string }>({
  code: 'SL1123',
  severity: 'warning',
  message: ({ file, reason }) => `${file} was skipped: ${reason}`,
  remedy: () => 'take the dump again; the other files were used',
})

export const unreadKind = problem<{ kind: string; reason: string; dumped?: boolean }>({
  code: 'SL1124',
  severity: 'warning',
  message: ({ kind, reason }) => `${kind} is unknown: ${reason}`,
  remedy: ({ dumped }) =>
    dumped
      ? 'if the cluster serves this kind, add it to the dump: `kubectl get KIND -A -o yaml`'
      : 'grant the missing permission, or install the missing CRD, and run the command again',
})

export const malformedObject = problem<{
  object: string
  path: string
  found: string
  expected: string
  more: number
  used: boolean
}>({
  code: 'SL1169',
  severity: 'warning',
  message: ({ object, path, found, expected, more, used }) => {
    const others = more > 0 ? ` (and ${more} more)` : ''
    return `${path} of ${object} is ${found}, and ${expected}${others}; the ${used ? 'field' : 'object'} was left out`
  },
  remedy: () => 'correct the object, or take the dump again with `kubectl get -o yaml`',
})

export const serverWarning = problem<{ text: string }>({
  code: 'SL1125',
  severity: 'warning',
  message: ({ text }) => text,
  remedy: () => 'nothing failed; follow the advice before the next upgrade of the cluster',
})

export const podExecFailed = problem<{ pod: string; reason: string }>({
  code: 'SL1126',
  severity: 'error',
  message: ({ pod, reason }) => `no command could be run in pod ${pod}: ${reason}`,
  remedy: () => 'check that the pod runs and that you are allowed to use pods/exec',
})

export const namespaceTerminating = problem<{ reason: string }>({
  code: 'SL1127',
  severity: 'error',
  message: ({ reason }) => reason,
  remedy: () => 'wait until the namespace is gone, or find what blocks it: objects with finalizers',
})

export const emptyDump = problem<{ where: string }>({
  code: 'SL1128',
  severity: 'error',
  message: ({ where }) => `no file in ${where} has a Kubernetes object of the required kinds`,
  remedy: () =>
    'name a must-gather, or a folder with the output of `kubectl get -o yaml`; files end in .yaml, .yml or .json',
})
