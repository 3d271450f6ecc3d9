/** SL9550 to SL9559: network attachments of pods (Multus and whereabouts). */
import { problem } from '../../errors/finding.ts'

export const attachmentUnreadable = problem<{ reason: string }>({
  code: 'SL9550',
  severity: 'error',
  title: 'The configuration of a network attachment is invalid',
  message: ({ reason }) => `pods cannot be attached: ${reason}`,
  remedy: () =>
    'run stackloom up --stage netattach to render it again, or correct spec.config, which is the JSON configuration of one CNI plugin',
  description: `\`spec.config\` of a NetworkAttachmentDefinition is a string that the API server does not validate. Multus reads it when a pod
starts; if it is invalid, the pod does not start.`,
  example: { reason: 'its configuration is not JSON' },
})

export const masterMissing = problem<{ master: string; known: string | undefined }>({
  code: 'SL9551',
  severity: 'error',
  title: 'A network attachment uses an interface that no node has',
  message: ({ master, known }) =>
    `its master is ${master}, which no node has${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () =>
    'create the interface (stackloom up --stage nncp; kubectl get nncp,nnce shows whether its policy was applied), or correct the master in spec.config',
  description: `The master of a macvlan, or the bridge, must exist on the node before the pod starts: otherwise the pod stays in
ContainerCreating with "failed to lookup master" or "Link not found".`,
  example: { master: 'enp6s0.20', known: 'enp7s0.20' },
})

export const attachmentMissing = problem<{
  pod: string
  network: string
  namespace: string
  known: string | undefined
}>({
  code: 'SL9552',
  severity: 'error',
  title: 'A pod requests a network that its namespace does not have',
  message: ({ network, namespace, known }) =>
    `it requests the network ${network}, but ${namespace} has no such NetworkAttachmentDefinition${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () => 'run stackloom up --stage netattach to create it, or correct networkAttachments in the control plane',
  description: `\`networkAttachments\` of a service become an annotation of its pods, and Multus looks up the names in the namespace of the pod:
"cannot find a network-attachment-definition". The pod never starts.`,
  example: { pod: 'ovsdbserver-sb-0', network: 'internlapi', namespace: 'openstack', known: 'internalapi' },
})

export const notAttached = problem<{ pod: string; network: string }>({
  code: 'SL9553',
  severity: 'error',
  title: 'A pod runs without a requested network',
  message: ({ network }) => `it requests ${network} and runs without it: Multus was not running when the pod started`,
  remedy: ({ pod }) => `restart it: kubectl -n ${pod.split('/')[0]} delete pod ${pod.split('/')[1]}`,
  description: `The annotation \`k8s.v1.cni.cncf.io/network-status\` lists the networks that a pod really has. A pod that started before Multus
has only the default network until it is restarted.`,
  example: { pod: 'openstack/ovsdbserver-sb-0', network: 'internalapi' },
})

export const podsExhausted = problem<{ network: string; span: string; used: number }>({
  code: 'SL9554',
  severity: 'error',
  title: 'A network has no free address for pods',
  message: ({ span, used }) => `all ${used} addresses of ${span} are in use`,
  remedy: ({ network }) =>
    `release leaked addresses (see SL9555), or extend the pods span of ${network} in the site file and deploy it`,
  description: `whereabouts assigns each pod the lowest free address between \`range_start\` and \`range_end\`; when none is free it reports
"Could not allocate IP in range". Pods that were lost with their node leave addresses behind, which a nightly job of
whereabouts releases.`,
  example: { network: 'openstack/internalapi', span: '172.17.0.30-172.17.0.70', used: 41 },
})

export const leakedAddresses = problem<{ pool: string; count: number; first: string; pod: string; namespace: string }>({
  code: 'SL9555',
  severity: 'warning',
  title: 'Addresses are reserved for pods that no longer exist',
  message: ({ count, first, pod }) =>
    count === 1
      ? `${first} is reserved for pod ${pod}, which does not exist`
      : `${count} addresses are reserved for pods that do not exist, the first is ${first} of ${pod}`,
  remedy: ({ pool, namespace }) =>
    `the whereabouts reconciler releases them every night: check that its DaemonSet runs, or remove the entries: kubectl -n ${namespace} edit ippools.whereabouts.cni.cncf.io ${pool}`,
  description: `The node notifies whereabouts once when a pod ends. If the node was lost, or the API server did not answer at that moment, the
address stays reserved. By default a daily job releases such addresses.`,
  example: {
    pool: 'openstack-internalapi-172.17.0.0-24',
    count: 3,
    first: '172.17.0.31',
    pod: 'openstack/ovn-0',
    namespace: 'openshift-multus',
  },
})

export const rangeShared = problem<{ range: string; others: readonly string[] }>({
  code: 'SL9556',
  severity: 'warning',
  title: 'Two clouds share one whereabouts range',
  message: ({ range, others }) =>
    `${range} has no network_name, like ${others.join(', ')}: whereabouts allocates from one shared pool`,
  remedy: () =>
    "give each cloud's attachment its own network_name: stackloom up --stage netattach sets <namespace>-<network>",
  description: `whereabouts allocates per range, not per attachment or namespace. Two clouds with the same range on different VLANs use each
other's addresses; on the same VLAN, an attachment with \`network_name\` and one without may assign the same address twice.`,
  example: { range: '172.17.0.0/24', others: ['openstack2/internalapi'] },
})

export const rangeIgnored = problem<{ span: string; range: string }>({
  code: 'SL9557',
  severity: 'error',
  title: 'whereabouts ignores the span of an attachment',
  message: ({ span, range }) =>
    `${span} is not inside ${range}: whereabouts silently ignores it and assigns any address of the range`,
  remedy: () =>
    'correct range, range_start and range_end together: stackloom up --stage netattach sets the planned values',
  description: `whereabouts does not reject \`range_start\` and \`range_end\` outside \`range\`: it then uses the whole range, including the
addresses of nodes, VIPs and hosts. This happens when the prefix of a cloud was changed in only one of the three fields.`,
  example: { span: '172.17.0.30-172.17.0.70', range: '172.27.0.0/24' },
})
