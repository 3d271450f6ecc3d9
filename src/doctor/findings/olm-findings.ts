/** SL9590 to SL9599: operators that OLM installs. */
import { problem } from '../../errors/finding.ts'

export const operatorGroupTwice = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9590',
  severity: 'error',
  title: 'A namespace has more than one OperatorGroup',
  message: ({ namespace, names }) => `${namespace} has ${names.join(' and ')}: OLM installs nothing there`,
  remedy: ({ namespace, names }) =>
    `keep one: kubectl -n ${namespace} delete operatorgroup ${names.slice(1).join(' ')}; then delete the failed ClusterServiceVersion so that OLM creates it again`,
  description: `An OperatorGroup defines which namespaces the operators of its namespace watch. With two groups OLM cannot choose, and every
ClusterServiceVersion in the namespace fails with TooManyOperatorGroups. A tool that creates a second group is enough.`,
  example: { namespace: 'openstack-operators', names: ['openstack', 'openstack-operators-x7k2p'] },
})

export const operatorGroupMissing = problem<{ namespace: string }>({
  code: 'SL9591',
  severity: 'error',
  title: 'A namespace has a Subscription but no OperatorGroup',
  message: ({ namespace }) => `${namespace} has no OperatorGroup: OLM installs nothing there`,
  remedy: () =>
    'run stackloom up --stage openstack (or nmstate, metallb, cert-manager), which creates it with the Subscription',
  description: `Every namespace with installed operators needs exactly one OperatorGroup. Without one the ClusterServiceVersion fails with
NoOperatorGroup.`,
  example: { namespace: 'openstack-operators' },
})

export const versionFailed = problem<{ reason: string; describe: string }>({
  code: 'SL9592',
  severity: 'error',
  title: 'An operator could not be installed',
  message: ({ reason }) => `the installation failed: ${reason}`,
  remedy: ({ describe }) => `${describe}; if the message has no cause, check its Deployments and their pods`,
  description: `A ClusterServiceVersion is one version of an operator. OLM creates its Deployments and waits for them; if they do not become
available, or a requirement is missing, the phase is Failed. OLM retries some of these failures automatically.`,
  example: {
    reason: 'install strategy failed: Deployment.apps "infra-operator" is invalid',
    describe:
      'kubectl -n openstack-operators describe clusterserviceversion.operators.coreos.com openstack-operator.v1.0.12',
  },
})

export const subscriptionStuck = problem<{ reason: string; describe: string }>({
  code: 'SL9593',
  severity: 'error',
  title: 'A Subscription finds no version',
  message: ({ reason }) => reason,
  remedy: ({ describe }) => `check package, channel and catalog: kubectl get packagemanifests; ${describe}`,
  description: `OLM looks up the package in the catalog of the Subscription. It waits if the catalog does not answer, the channel does not
exist, or a dependency cannot be resolved.`,
  example: {
    reason: 'constraints not satisfiable: no operators found in package openstack-operators in the catalog',
    describe: 'kubectl -n openstack-operators describe subscription.operators.coreos.com openstack-operator',
  },
})

export const approvalWaits = problem<{ plan: string; namespace: string }>({
  code: 'SL9594',
  severity: 'warning',
  title: 'An installation waits for approval',
  message: ({ plan }) => `install plan ${plan} waits for approval`,
  remedy: ({ plan, namespace }) =>
    `kubectl -n ${namespace} patch installplan ${plan} --type=merge -p '{"spec":{"approved":true}}'`,
  description: `A Subscription with \`installPlanApproval: Manual\` installs and updates nothing until its install plan is approved. This
includes the first installation.`,
  example: { plan: 'install-x2b7c', namespace: 'openstack-operators' },
})

export const installedTwice = problem<{ package: string; namespaces: readonly string[] }>({
  code: 'SL9595',
  severity: 'error',
  title: 'One operator is installed twice',
  message: ({ package: name, namespaces }) =>
    `${name} has Subscriptions in ${namespaces.join(' and ')}: both installations write the same objects and webhooks`,
  remedy: () =>
    'keep one installation, which serves all clouds; delete the other Subscription and its ClusterServiceVersion',
  description: `The operators of OpenStack, MetalLB and nmstate watch the whole cluster, and the names of their webhooks are cluster-wide. Two
installations, possibly of different versions, overwrite each other's changes.`,
  example: { package: 'openstack-operator', namespaces: ['openstack-operators', 'openstack'] },
})
