/** SL9590 to SL9599: operators that OLM installs. */
import { problem } from '../../errors/finding.ts'

export const operatorGroupTwice = problem<{ namespace: string; names: readonly string[] }>({
  code: 'SL9590',
  severity: 'error',
  message: ({ namespace, names }) => `${namespace} has ${names.join(' and ')}: OLM installs nothing there`,
  remedy: ({ namespace, names }) =>
    `keep one: \`kubectl -n ${namespace} delete operatorgroup ${names.slice(1).join(' ')}\`; then delete the failed ClusterServiceVersion so that OLM creates it again`,
})

export const operatorGroupMissing = problem<{ namespace: string }>({
  code: 'SL9591',
  severity: 'error',
  message: ({ namespace }) => `${namespace} has no OperatorGroup: OLM installs nothing there`,
  remedy: () =>
    'run `stackloom up --stage openstack` (or nmstate, metallb, cert-manager), which creates it with the Subscription',
})

export const versionFailed = problem<{ reason: string; describe: string }>({
  code: 'SL9592',
  severity: 'error',
  message: ({ reason }) => `the installation failed: ${reason}`,
  remedy: ({ describe }) => `\`${describe}\`; if the message has no cause, check its Deployments and their pods`,
})

export const subscriptionStuck = problem<{ reason: string; describe: string }>({
  code: 'SL9593',
  severity: 'error',
  message: ({ reason }) => reason,
  remedy: ({ describe }) => `check package, channel and catalog: \`kubectl get packagemanifests\`; \`${describe}\``,
})

export const approvalWaits = problem<{ plan: string; namespace: string }>({
  code: 'SL9594',
  severity: 'warning',
  message: ({ plan }) => `install plan ${plan} waits for approval`,
  remedy: ({ plan, namespace }) =>
    `\`kubectl -n ${namespace} patch installplan ${plan} --type=merge -p '{"spec":{"approved":true}}'\``,
})

export const installedTwice = problem<{ package: string; namespaces: readonly string[] }>({
  code: 'SL9595',
  severity: 'error',
  message: ({ package: name, namespaces }) =>
    `${name} has Subscriptions in ${namespaces.join(' and ')}: both installations write the same objects and webhooks`,
  remedy: () =>
    'keep one installation, which serves all clouds; delete the other Subscription and its ClusterServiceVersion',
})
