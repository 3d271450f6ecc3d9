/** SL9600 to SL9609: hosts outside the cluster. */
import { problem } from '../../errors/finding.ts'

export const deploymentFailed = problem<{ deployment: string; namespace: string; why: string; hosts: string }>({
  code: 'SL9600',
  severity: 'error',
  title: 'A data plane deployment failed and will not run again',
  message: ({ why, hosts }) => `it failed${hosts === '' ? '' : ` on ${hosts}`} and is not retried: ${why}`,
  remedy: ({ deployment, namespace }) =>
    `fix the cause, then create a new deployment: its spec cannot be changed, so copy it under another name (kubectl -n ${namespace} get openstackdataplanedeployment ${deployment} -o yaml); set ansibleLimit to restrict it to the failed hosts`,
  description: `An OpenStackDataPlaneDeployment is one run. Its spec is immutable, and after its job has used all retries
(BackoffLimitExceeded) the operator ignores it: editing or waiting does not help. Another run needs a new object with another
name.`,
  example: {
    deployment: 'edpm-deployment',
    namespace: 'openstack',
    why: 'Job has reached the specified backoff limit',
    hosts: 'compute-1',
  },
})

export const changeNotDeployed = problem<{ nodeSet: string; last: string | undefined }>({
  code: 'SL9601',
  severity: 'warning',
  title: 'A node set was changed but not deployed',
  message: ({ last }) =>
    `it was changed after its last deployment${last === undefined ? '' : ` (${last})`}: its hosts still have the old configuration`,
  remedy: () =>
    'deploy it: stackloom up --stage data-plane, or a new OpenStackDataPlaneDeployment; a finished deployment cannot be used again',
  description: `A change of a node set reaches its hosts with the next deployment, which must be requested: the operator never runs
Ansible on its own. Until then the hashes of the desired and the deployed configuration differ.`,
  example: { nodeSet: 'computes', last: 'edpm-deployment' },
})

export const notDiscovered = problem<{ hosts: readonly string[]; namespace: string }>({
  code: 'SL9602',
  severity: 'error',
  title: 'Nova does not know some compute hosts',
  message: ({ hosts }) =>
    `${hosts.join(', ')} ${hosts.length === 1 ? 'is' : 'are'} deployed, but not mapped to a nova cell: no server is scheduled there`,
  remedy: ({ namespace }) =>
    `kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts --verbose`,
  description: `A compute host reports to its cell. The API knows the host only after the hosts of the cell were discovered, which does not
happen automatically for data plane hosts: \`openstack hypervisor list\` stays empty until discover_hosts runs. \`stackloom up\`
runs it after every deployment.`,
  example: { hosts: ['compute-1.openstack'], namespace: 'openstack' },
})

export const beforeControlPlane = problem<{ controlPlane: string }>({
  code: 'SL9603',
  severity: 'error',
  title: 'Hosts are deployed before the control plane is ready',
  message: ({ controlPlane }) =>
    `it runs while ${controlPlane} is not ready: its hosts need Secrets and DNS names that do not exist yet`,
  remedy: () => 'wait for the control plane, then create a new deployment: a failed deployment does not run again',
  description: `The configuration of nova, neutron and OVN on a host comes from Secrets that the operators of the control plane write when
they are ready. A deployment that starts earlier waits for these Secrets or fails.`,
  example: { controlPlane: 'OpenStackControlPlane openstack/controlplane' },
})

export const nodeSetMissing = problem<{ nodeSet: string; known: string | undefined }>({
  code: 'SL9604',
  severity: 'error',
  title: 'A deployment refers to a node set that does not exist',
  message: ({ nodeSet, known }) =>
    `it refers to node set ${nodeSet}, which does not exist${known === undefined ? '' : `; did you mean ${known}?`}`,
  remedy: () => 'delete it and create a new one with the correct name: its spec cannot be changed',
  description: `The deployment waits for a node set that will not appear. It is often left over from an earlier attempt, and it blocks
changes of the node sets that do exist.`,
  example: { nodeSet: 'compute', known: 'computes' },
})

export const hostTwice = problem<{ host: string; nodeSets: readonly string[] }>({
  code: 'SL9605',
  severity: 'error',
  title: 'One host is in two node sets',
  message: ({ host, nodeSets }) => `${host} is in ${nodeSets.join(' and ')}: both configure it differently`,
  remedy: () => 'remove it from one node set and deploy the other again',
  description: `The webhook rejects a host that another node set already has. A duplicate can appear while the webhook is down, or across
namespaces through \`ansibleHost\`: then two clouds configure the same machine.`,
  example: { host: '192.168.122.100', nodeSets: ['openstack/computes', 'openstack2/computes'] },
})

export const nodeSetError = problem<{ condition: string; message: string }>({
  code: 'SL9606',
  severity: 'error',
  title: 'A node set reports a persistent error',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: () =>
    'run stackloom ipam status for addresses and kubectl describe for the rest; a deployment waits until SetupReady is True',
  description: `A node set is set up in steps, each with a condition: addresses (NodeSetIPReservationReady), names (NodeSetDNSDataReady),
inventory (SetupReady). The first condition that is not True blocks the rest.`,
  example: { condition: 'NodeSetDNSDataReady', message: 'multiple DNSMasq resources exist' },
})

export const deletionUnconfirmed = problem<{ deployment: string; namespace: string }>({
  code: 'SL9607',
  severity: 'warning',
  title: 'A running deployment is being deleted',
  message: () => 'it is being deleted while it runs: the operator waits for confirmation',
  remedy: ({ deployment, namespace }) =>
    `kubectl -n ${namespace} annotate openstackdataplanedeployment ${deployment} dataplane.openstack.org/confirm-delete=true`,
  description: `Stopping Ansible during a run may leave hosts partly configured, so the operator requires the annotation before it removes a
running deployment.`,
  example: { deployment: 'edpm-deployment', namespace: 'openstack' },
})
