/** SL51xx: findings of running and installing the operator. */
import { problem } from '../errors/finding.ts'

export const kindsMissing = problem<{ missing: readonly string[]; piece?: string }>({
  code: 'SL5101',
  severity: 'error',
  title: 'The cluster does not serve the kinds that the operator works with',
  message: ({ missing, piece }) =>
    `the cluster does not serve ${missing.join(', ')}${piece === undefined ? '' : `, which ${piece} needs`}`,
  remedy: () => 'install their CustomResourceDefinitions: `stackloom operator crds | kubectl apply --server-side -f -`',
  description: `The operator serves NetConfig, IPSet and Reservation, and keeps its ledger in AddressBlocks. Installed
CustomResourceDefinitions of upstream are used as they are; AddressBlock is a kind of Stackloom.`,
  example: { missing: ['stackloom.dev/v1alpha1 AddressBlock'] },
})

export const infraOperatorRunning = problem<{ deployment: string }>({
  code: 'SL5102',
  severity: 'error',
  title: 'infra-operator runs in this cluster',
  message: ({ deployment }) =>
    `${deployment} serves IPSets in this cluster, and it assigns addresses without a shared ledger`,
  remedy: ({ deployment }) => {
    const [namespace = '', name = ''] = deployment.split('/')
    return `run only one of them: \`kubectl -n ${namespace} scale deployment ${name} --replicas=0\`, then start again; no address changes. To only observe: \`stackloom operator run --observe\``
  },
  description: `Two operators that assign addresses of one subnet need a common ledger. Stackloom's is in the cluster and is checked
at every assignment; infra-operator relies on its cache, so with both an address could be assigned twice. Addresses and
Reservations of infra-operator are taken over unchanged.`,
  example: { deployment: 'openstack-operators/infra-operator-controller-manager' },
})

export const unknownPart = problem<{ name: string; known: readonly string[] }>({
  code: 'SL5110',
  severity: 'error',
  title: 'The operator has no such part',
  message: ({ name, known }) => `the operator has no part ${name}; it has ${known.join(', ')}`,
  remedy: () => 'name the parts, separated by commas',
  description: `The operator consists of parts: addresses (ipam), names (dns), and the data plane (dataplane). All that the cluster
supports run, unless \`--parts\` selects some.`,
  example: { name: 'ipma', known: ['ipam', 'dns', 'dataplane'] },
})

export const webhooksNotInstalled = problem<{ configuration: string }>({
  code: 'SL5103',
  severity: 'error',
  title: 'The webhooks of the operator are not installed',
  message: ({ configuration }) =>
    `there is no ${configuration}, so the API server would not call the webhooks behind the Service`,
  remedy: () =>
    'run `stackloom operator install --image IMAGE`, or register the webhooks by address with `--webhook-url`',
  description: `Behind a Service the operator runs with few permissions: the installer writes the webhook configurations, and the
operator adds its certificate authority. To create a configuration it would need the permission to create any.`,
  example: { configuration: 'ValidatingWebhookConfiguration stackloom-operator' },
})
