/** SL51xx: findings of running and installing the operator. */
import { problem } from '../errors/finding.ts'

export const kindsMissing = problem<{ missing: readonly string[]; piece?: string }>({
  code: 'SL5101',
  severity: 'error',
  message: ({ missing, piece }) =>
    `the cluster does not serve ${missing.join(', ')}${piece === undefined ? '' : `, which ${piece} needs`}`,
  remedy: () => 'install their CustomResourceDefinitions: `stackloom operator crds | kubectl apply --server-side -f -`',
})

export const infraOperatorRunning = problem<{ deployment: string }>({
  code: 'SL5102',
  severity: 'error',
  message: ({ deployment }) =>
    `${deployment} serves IPSets in this cluster, and it assigns addresses without a shared ledger`,
  remedy: ({ deployment }) => {
    const [namespace = '', name = ''] = deployment.split('/')
    return `run only one of them: \`kubectl -n ${namespace} scale deployment ${name} --replicas=0\`, then start again; no address changes. To only observe: \`stackloom operator run --observe\``
  },
})

export const unknownPart = problem<{ name: string; known: readonly string[] }>({
  code: 'SL5110',
  severity: 'error',
  message: ({ name, known }) => `the operator has no part ${name}; it has ${known.join(', ')}`,
  remedy: () => 'name the parts, separated by commas',
})

export const webhooksNotInstalled = problem<{ configuration: string }>({
  code: 'SL5103',
  severity: 'error',
  message: ({ configuration }) =>
    `there is no ${configuration}, so the API server would not call the webhooks behind the Service`,
  remedy: () =>
    'run `stackloom operator install --image IMAGE`, or register the webhooks by address with `--webhook-url`',
})

export const permissionsMissing = problem<{ right: string; namespace: string; reason: string }>({
  code: 'SL5114',
  severity: 'error',
  message: ({ right, namespace, reason }) =>
    `the operator may not ${right} in namespace ${namespace}, which it needs to ${reason}`,
  remedy: () =>
    'install the operator again with the same options, which grants the rights of this version (`stackloom operator install --help`)',
})

export const uninstallNeedsYes = problem<Record<string, never>>({
  code: 'SL5115',
  severity: 'error',
  message: () => 'the operator was not uninstalled: this was not confirmed',
  remedy: () => 'repeat the command with --yes',
})
