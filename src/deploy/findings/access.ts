/** SL406x: accessing a running cloud. */
import { problem } from '../../errors/finding.ts'

export const noCredentials = problem<{ cloud: string; namespace: string; missing: string }>({
  code: 'SL4060',
  severity: 'error',
  title: 'The cloud has no credentials yet',
  message: ({ cloud, namespace, missing }) => `${cloud} cannot be accessed: ${missing} is missing in ${namespace}`,
  remedy: ({ cloud }) => `check the state of the cloud with \`stackloom status --cloud ${cloud}\``,
  description: `The keystone operator writes the ConfigMap \`openstack-config\` and the Secret \`openstack-config-secret\` when
keystone is up. \`access\` combines them to a clouds.yaml. No file was written.`,
  example: { cloud: 'rhoso1', namespace: 'openstack', missing: 'Secret openstack-config-secret' },
})

export const unreadableCredentials = problem<{ object: string; reason: string }>({
  code: 'SL4061',
  severity: 'error',
  title: "The operator's clouds.yaml cannot be read",
  message: ({ object, reason }) => `${object} is not a clouds.yaml: ${reason}`,
  remedy: () => 'it was edited: delete it, and the keystone operator writes it again',
  description: `\`access\` reads what the keystone operator has written. No file was written.`,
  example: { object: 'ConfigMap openstack/openstack-config', reason: 'it has no cloud' },
})

export const noAuthority = problem<{ cloud: string; namespace: string }>({
  code: 'SL4062',
  severity: 'warning',
  title: 'The cloud has no certificate authority of its own',
  message: ({ cloud, namespace }) => `${cloud} has no CA bundle (Secret combined-ca-bundle) in ${namespace}`,
  remedy: () => 'if its endpoints use TLS with a private CA, configure that CA in the client',
  description: `With TLS on, the operator collects the CAs that clients need in the Secret \`combined-ca-bundle\`. Without it the
clouds.yaml has no \`cacert\`, and the client trusts what its machine trusts.`,
  example: { cloud: 'rhoso1', namespace: 'openstack' },
})

export const contextTaken = problem<{ context: string; file: string }>({
  code: 'SL4063',
  severity: 'error',
  title: 'The kubeconfig has another context of this name',
  message: ({ context, file }) => `${file} has a context ${context} for another cluster, user or namespace`,
  remedy: () => 'choose another name with --context NAME',
  description: `An existing context may be in use, so it is not changed. The file stays as it was.`,
  example: { context: 'rhoso1', file: '~/.kube/config' },
})

export const noKubeconfig = problem<object>({
  code: 'SL4064',
  severity: 'error',
  title: 'There is no kubeconfig to add a context to',
  message: () =>
    'the cluster is reached without a kubeconfig (from inside a pod), so there is no file to add a context to',
  remedy: () => 'run the command where a kubeconfig exists, or name one with --kubeconfig',
  description: `\`access --context\` adds a context to the kubeconfig that the command was run with.`,
  example: {},
})

export const cloudNotFound = problem<{ cloud: string; file: string }>({
  code: 'SL4065',
  severity: 'error',
  title: 'The namespace of this cloud is unknown',
  message: ({ cloud, file }) => `neither the cluster's inventories nor ${file} have a cloud ${cloud}`,
  remedy: () => 'name a cloud that was deployed or adopted, or give its site file with -f',
  description: `\`access\` finds the namespace of a cloud in the inventory that \`up\` and \`adopt\` write to the cluster, or in the site
file. It takes the name of the cloud, not its namespace.`,
  example: { cloud: 'rhosso1', file: 'site.yaml' },
})
