/** SL9550 to SL9559: attachments of pods to the networks: Multus and whereabouts. */
import { problem } from '../../errors/finding.ts'

export const attachmentUnreadable = problem<{ reason: string }>({
  code: 'SL9550',
  severity: 'error',
  title: 'A network attachment has a configuration that cannot be read',
  message: ({ reason }) => `pods cannot be attached to it: ${reason}`,
  remedy: () => 'render it anew: stackloom up --stage netattach; by hand: spec.config is JSON text of one CNI plugin',
  description: `\`spec.config\` of a NetworkAttachmentDefinition is text, which the API server does not look into. Multus reads it when a
pod starts, and then the pod does not start.`,
  example: { reason: 'its configuration is not JSON' },
})

export const masterNowhere = problem<{ master: string; known: string | undefined }>({
  code: 'SL9551',
  severity: 'error',
  title: 'A network attachment stands on an interface that no node has',
  message: ({ master, known }) =>
    `its pods are to be put on ${master}, which no node has${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () =>
    'kubectl get nncp,nnce shows whether the policy that makes it was taken (stackloom up --stage nncp); or correct the master in spec.config',
  description: `The master of a macvlan, or the bridge, must be on the node before the pod starts: otherwise the pod stays in
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
  title: 'A pod asks for a network that its namespace does not have',
  message: ({ network, namespace, known }) =>
    `it asks for the network ${network}, but ${namespace} has no such NetworkAttachmentDefinition${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () => 'stackloom up --stage netattach makes them; or correct networkAttachments in the control plane',
  description: `\`networkAttachments\` of a service become an annotation of its pods, and Multus looks for the names in the pod's
namespace: "cannot find a network-attachment-definition". The pod waits for ever.`,
  example: { pod: 'ovsdbserver-sb-0', network: 'internlapi', namespace: 'openstack', known: 'internalapi' },
})

export const notAttached = problem<{ pod: string; network: string }>({
  code: 'SL9553',
  severity: 'error',
  title: 'A pod runs without a network that it asked for',
  message: ({ network }) => `it asked for ${network} and runs without it: Multus was not there when it started`,
  remedy: ({ pod }) => `start it again: kubectl -n ${pod.split('/')[0]} delete pod ${pod.split('/')[1]}`,
  description: `\`k8s.v1.cni.cncf.io/network-status\` of a pod lists what it really got. A pod that started on a node before Multus did
has only its ordinary network, and nothing will change that until it is started again.`,
  example: { pod: 'openstack/ovsdbserver-sb-0', network: 'internalapi' },
})

export const podsExhausted = problem<{ network: string; span: string; used: number }>({
  code: 'SL9554',
  severity: 'error',
  title: 'A network has no address left for pods',
  message: ({ span, used }) => `all ${used} addresses of ${span} are in use`,
  remedy: ({ network }) =>
    `free those that pods no longer have (see SL9555), or widen the span pods of ${network} in the site file and deploy it`,
  description: `whereabouts gives each pod the lowest free address between \`range_start\` and \`range_end\`: "Could not allocate IP in
range". Pods that were killed with their node leave addresses behind, which a nightly job of whereabouts frees.`,
  example: { network: 'openstack/internalapi', span: '172.17.0.30-172.17.0.70', used: 41 },
})

export const leakedAddresses = problem<{
  pool: string
  count: number
  first: string
  pod: string
  namespace: string
}>({
  code: 'SL9555',
  severity: 'warning',
  title: 'Addresses are held for pods that are gone',
  message: ({ count, first, pod }) =>
    count === 1
      ? `${first} is held for pod ${pod}, which does not exist`
      : `${count} addresses are held for pods that do not exist, the first is ${first} of ${pod}`,
  remedy: ({ pool, namespace }) =>
    `whereabouts' reconciler frees them at night; see that its DaemonSet runs, or take the entries out: kubectl -n ${namespace} edit ippools.whereabouts.cni.cncf.io ${pool}`,
  description: `whereabouts is told of the end of a pod once, by the node. A node that vanished, or an API server that did not answer
at that moment, leaves the address held. It is freed by a job that runs once a day unless configured otherwise.`,
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
  title: 'Two clouds share the addresses of one range',
  message: ({ range, others }) =>
    `${range} has no network_name, like ${others.join(', ')}: whereabouts counts them as one`,
  remedy: () =>
    "give each cloud's attachment its own network_name: stackloom up --stage netattach writes <namespace>-<network>",
  description: `whereabouts counts by range, not by attachment and not by namespace. Two clouds with the same range on different VLANs
use up each other's addresses; on the same VLAN, one that has a \`network_name\` and one that has none may give the same
address twice.`,
  example: { range: '172.17.0.0/24', others: ['openstack2/internalapi'] },
})

export const rangeIgnored = problem<{ span: string; range: string }>({
  code: 'SL9557',
  severity: 'error',
  title: 'whereabouts ignores the span of an attachment',
  message: ({ span, range }) =>
    `${span} is not inside ${range}: whereabouts ignores it in silence and gives any address of the range`,
  remedy: () =>
    'correct range, range_start and range_end together: stackloom up --stage netattach writes what is planned',
  description: `\`range_start\` and \`range_end\` outside \`range\` are no error for whereabouts: it uses the whole range then, including
the addresses of nodes, VIPs and hosts. It happens when a cloud's prefix was changed in one place of three.`,
  example: { span: '172.17.0.30-172.17.0.70', range: '172.27.0.0/24' },
})
