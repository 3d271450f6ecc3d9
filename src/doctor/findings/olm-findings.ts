/** SL9590 to SL9599: operators that come by OLM. */
import { problem } from '../../errors/finding.ts'

export const operatorGroups = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9590',
  severity: 'error',
  title: 'A namespace has more than one OperatorGroup',
  message: ({ namespace, names }) => `${namespace} has ${names.join(' and ')}: OLM installs nothing there`,
  remedy: ({ namespace, names }) =>
    `keep one: kubectl -n ${namespace} delete operatorgroup ${names.slice(1).join(' ')}; then delete the failed ClusterServiceVersion, and OLM makes it anew`,
  description: `An OperatorGroup says which namespaces the operators of its namespace watch. With two of them OLM cannot choose, and every
ClusterServiceVersion there fails with TooManyOperatorGroups. A tool that makes one of its own beside yours is enough.`,
  example: { namespace: 'openstack-operators', names: ['openstack', 'openstack-operators-x7k2p'] },
})

export const noOperatorGroup = problem<{ namespace: string }>({
  code: 'SL9591',
  severity: 'error',
  title: 'A namespace has a Subscription and no OperatorGroup',
  message: ({ namespace }) => `${namespace} has no OperatorGroup: OLM installs nothing there`,
  remedy: () => 'stackloom up --stage openstack (or nmstate, metallb, cert-manager) makes it with the Subscription',
  description: `Every namespace that operators are installed into needs exactly one OperatorGroup. Without one the ClusterServiceVersion
fails with NoOperatorGroup.`,
  example: { namespace: 'openstack-operators' },
})

export const versionFailed = problem<{ reason: string; describe: string }>({
  code: 'SL9592',
  severity: 'error',
  title: 'An operator could not be installed',
  message: ({ reason }) => `the installation failed: ${reason}`,
  remedy: ({ describe }) => `${describe}; its Deployments and their pods have the cause where this text has none`,
  description: `A ClusterServiceVersion is one version of an operator. OLM makes its Deployments and waits for them; when they do not come
up, or something that it requires is missing, the phase is Failed. OLM tries some of these again by itself.`,
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
  description: `OLM looks for the package in the catalog that the Subscription names. A catalog that does not answer, a channel that does
not exist, or a version that needs another which cannot be had, leaves it waiting.`,
  example: {
    reason: 'constraints not satisfiable: no operators found in package openstack-operators in the catalog',
    describe: 'kubectl -n openstack-operators describe subscription.operators.coreos.com openstack-operator',
  },
})

export const approvalWaits = problem<{ plan: string; namespace: string }>({
  code: 'SL9594',
  severity: 'warning',
  title: 'An installation waits for approval',
  message: ({ plan }) => `install plan ${plan} waits for somebody to approve it`,
  remedy: ({ plan, namespace }) =>
    `kubectl -n ${namespace} patch installplan ${plan} --type=merge -p '{"spec":{"approved":true}}'`,
  description: `A Subscription with \`installPlanApproval: Manual\` installs and updates nothing until its install plan is approved. On
first installation nothing runs before that.`,
  example: { plan: 'install-x2b7c', namespace: 'openstack-operators' },
})

export const installedTwice = problem<{ package: string; namespaces: readonly string[] }>({
  code: 'SL9595',
  severity: 'error',
  title: 'One operator is installed twice',
  message: ({ package: name, namespaces }) =>
    `${name} is subscribed to in ${namespaces.join(' and ')}: both write the same objects and webhooks`,
  remedy: () =>
    'keep one of them: one operator serves all clouds; delete the other Subscription and its ClusterServiceVersion',
  description: `Operators of OpenStack, MetalLB and nmstate watch the whole cluster, and their webhooks have names that exist once. Two
copies, perhaps of two versions, undo each other's work.`,
  example: { package: 'openstack-operator', namespaces: ['openstack-operators', 'openstack'] },
})
