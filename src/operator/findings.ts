/** SL51xx: running and installing the operator. */
import { problem } from '../errors/finding.ts'

export const kindsMissing = problem<{ missing: readonly string[]; piece?: string }>({
  code: 'SL5101',
  severity: 'error',
  title: 'The cluster does not serve the kinds that the operator works with',
  message: ({ missing, piece }) =>
    `the cluster does not serve ${missing.join(', ')}${piece === undefined ? '' : `, which ${piece} needs`}`,
  remedy: () => 'install their CustomResourceDefinitions: `stackloom operator crds | kubectl apply --server-side -f -`',
  description: `The operator serves NetConfig, IPSet and Reservation, and keeps its ledger in AddressBlocks. Where upstream's
CustomResourceDefinitions of the first three are installed they are used as they are; the last one is Stackloom's own.`,
  example: { missing: ['stackloom.dev/v1alpha1 AddressBlock'] },
})

export const infraOperatorRunning = problem<{ deployment: string }>({
  code: 'SL5102',
  severity: 'error',
  title: 'infra-operator runs in this cluster',
  message: ({ deployment }) =>
    `${deployment} serves IPSets here already, and it grants addresses without asking anybody`,
  remedy: ({ deployment }) => {
    const [namespace = '', name = ''] = deployment.split('/')
    return `let one of them do it: \`kubectl -n ${namespace} scale deployment ${name} --replicas=0\`, then start again, and no address changes; or only look: \`stackloom operator run --observe\``
  },
  description: `Two operators that grant addresses from one subnet need one ledger. Stackloom's is in the cluster and is asked
before every grant; infra-operator trusts its own memory, so beside it an address could be given twice. What infra-operator
has granted is taken over as it is: same addresses, same Reservations.`,
  example: { deployment: 'openstack-operators/infra-operator-controller-manager' },
})

export const unknownPart = problem<{ name: string; known: readonly string[] }>({
  code: 'SL5110',
  severity: 'error',
  title: 'The operator has no such part',
  message: ({ name, known }) => `the operator has no part ${name}; it has ${known.join(', ')}`,
  remedy: () => 'name the parts that are meant, separated by commas',
  description: `The operator is made of parts: addresses (ipam), names (dns), and the data plane. All that fit in the cluster work
unless \`--parts\` names some of them.`,
  example: { name: 'ipma', known: ['ipam', 'dns', 'dataplane'] },
})

export const webhooksNotInstalled = problem<{ configuration: string }>({
  code: 'SL5103',
  severity: 'error',
  title: 'The webhooks of the operator are not installed',
  message: ({ configuration }) => `there is no ${configuration}, so nobody would ask the webhooks behind the Service`,
  remedy: () => 'run `stackloom operator install --image IMAGE`, or register by address with `--webhook-url`',
  description: `Behind a Service the operator runs with few rights: the installer writes the webhook configurations, and the
operator adds whom to trust. To create one itself it would need the right to create any.`,
  example: { configuration: 'ValidatingWebhookConfiguration stackloom-operator' },
})
