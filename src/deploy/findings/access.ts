/** SL406x: accessing a running cloud. */
import { problem } from '../../errors/finding.ts'

export const noCredentials = problem<{ cloud: string; namespace: string; missing: string }>({
  code: 'SL4060',
  severity: 'error',
  message: ({ cloud, namespace, missing }) => `${cloud} cannot be accessed: ${missing} is missing in ${namespace}`,
  remedy: ({ cloud }) => `check the state of the cloud with \`stackloom status --cloud ${cloud}\``,
})

export const unreadableCredentials = problem<{ object: string; reason: string }>({
  code: 'SL4061',
  severity: 'error',
  message: ({ object, reason }) => `${object} is not a clouds.yaml: ${reason}`,
  remedy: () => 'it was edited: delete it, and the keystone operator writes it again',
})

export const noAuthority = problem<{ cloud: string; namespace: string }>({
  code: 'SL4062',
  severity: 'warning',
  message: ({ cloud, namespace }) => `${cloud} has no CA bundle (Secret combined-ca-bundle) in ${namespace}`,
  remedy: () => 'if its endpoints use TLS with a private CA, configure that CA in the client',
})

export const contextTaken = problem<{ context: string; file: string }>({
  code: 'SL4063',
  severity: 'error',
  message: ({ context, file }) => `${file} has a context ${context} for another cluster, user or namespace`,
  remedy: () => 'choose another name with --add-context NAME',
})

export const noKubeconfig = problem<object>({
  code: 'SL4064',
  severity: 'error',
  message: () =>
    'the cluster is reached without a kubeconfig (from inside a pod), so there is no file to add a context to',
  remedy: () => 'run the command where a kubeconfig exists, or name one with --kubeconfig',
})

export const cloudNotFound = problem<{ cloud: string; file: string }>({
  code: 'SL4065',
  severity: 'error',
  message: ({ cloud, file }) => `neither the cluster's inventories nor ${file} have a cloud ${cloud}`,
  remedy: () => 'name a cloud that was deployed or adopted, or give its site file with -f',
})
