/** SL9550 to SL9559, SL9650, SL9651: network attachments of pods (Multus and whereabouts). */
import { problem } from '../../errors/finding.ts'

export const attachmentUnreadable = problem<{ reason: string }>({
  code: 'SL9550',
  severity: 'error',
  message: ({ reason }) => `pods cannot be attached: ${reason}`,
  remedy: () =>
    'run `stackloom up --stage netattach` to render it again, or correct spec.config, which is the JSON configuration of one CNI plugin',
})

export const masterMissing = problem<{ master: string; known: string | undefined }>({
  code: 'SL9551',
  severity: 'error',
  message: ({ master, known }) =>
    `its master is ${master}, which no node has${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () =>
    'create the interface (`stackloom up --stage nncp`; `kubectl get nncp,nnce` shows whether its policy was applied), or correct the master in spec.config',
})

export const attachmentMissing = problem<{
  pod: string
  network: string
  namespace: string
  known: string | undefined
}>({
  code: 'SL9552',
  severity: 'error',
  message: ({ network, namespace, known }) =>
    `it requests the network ${network}, but ${namespace} has no such NetworkAttachmentDefinition${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () => 'run `stackloom up --stage netattach` to create it, or correct networkAttachments in the control plane',
})

export const notAttached = problem<{ pod: string; network: string }>({
  code: 'SL9553',
  severity: 'error',
  message: ({ network }) => `it requests ${network} and runs without it: Multus was not running when the pod started`,
  remedy: ({ pod }) => `restart it: \`kubectl -n ${pod.split('/')[0]} delete pod ${pod.split('/')[1]}\``,
})

export const podsExhausted = problem<{ network: string; span: string; used: number }>({
  code: 'SL9554',
  severity: 'error',
  message: ({ span, used }) => `all ${used} addresses of ${span} are in use`,
  remedy: ({ network }) =>
    `release leaked addresses (see SL9555), or extend the pods span of ${network} in the site file and deploy it`,
})

export const leakedAddresses = problem<{ count: number; first: string; pod: string }>({
  code: 'SL9555',
  severity: 'warning',
  message: ({ count, first, pod }) =>
    count === 1
      ? `${first} is reserved for pod ${pod}, which does not exist`
      : `${count} addresses are reserved for pods that do not exist, the first is ${first} of ${pod}`,
  remedy: () =>
    'free them: `stackloom ip repair --dry-run`, then without it; the whereabouts reconciler does it every night: check that its DaemonSet runs',
})

export const rangeShared = problem<{ range: string; others: readonly string[] }>({
  code: 'SL9556',
  severity: 'warning',
  message: ({ range, others }) =>
    `${range} has no network_name, like ${others.join(', ')}: whereabouts allocates from one shared pool`,
  remedy: () =>
    'stop all pods of the network, because whereabouts forgets the addresses of running pods, then give each cloud a network_name: `stackloom up --stage netattach` sets <namespace>-<network>',
})

export const rangeIgnored = problem<{ span: string; range: string }>({
  code: 'SL9557',
  severity: 'error',
  message: ({ span, range }) =>
    `${span} is not inside ${range}: whereabouts silently ignores it and assigns any address of the range`,
  remedy: () =>
    'correct range, range_start and range_end together while no pod of the network runs, because whereabouts forgets the addresses of running pods: `stackloom up --stage netattach` sets the planned values',
})

export const addressUnreserved = problem<{ address: string; network: string; pool: string; pod: string }>({
  code: 'SL9650',
  severity: 'error',
  message: ({ address, network, pool }) =>
    `it has ${address} on ${network}, which IPPool ${pool} does not have for it: whereabouts may give it to another pod`,
  remedy: ({ pod }) =>
    `restart it, so that it gets a reserved address: \`kubectl -n ${pod.split('/')[0]} delete pod ${pod.split('/')[1]}\``,
})

export const leakedOverlaps = problem<{ count: number; first: string; pod: string }>({
  code: 'SL9651',
  severity: 'warning',
  message: ({ count, first, pod }) =>
    count === 1
      ? `it blocks ${first} for pod ${pod}, which does not exist`
      : `this and ${count - 1} more block addresses for pods that do not exist, the first is ${first} of ${pod}`,
  remedy: () => 'free them: `stackloom ip repair --dry-run`, then without it',
})
