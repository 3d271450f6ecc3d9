/** SL9600 to SL9609: hosts outside the cluster. */
import { problem } from '../../errors/finding.ts'

export const deploymentSpent = problem<{ deployment: string; namespace: string; why: string; hosts: string }>({
  code: 'SL9600',
  severity: 'error',
  title: 'A data plane deployment failed, and will not run again',
  message: ({ why, hosts }) => `it has failed for good${hosts === '' ? '' : ` on ${hosts}`}: ${why}`,
  remedy: ({ deployment, namespace }) =>
    `repair the cause, then make a new one: its spec cannot be changed, so copy it under another name (kubectl -n ${namespace} get openstackdataplanedeployment ${deployment} -o yaml); ansibleLimit keeps it to the hosts that failed`,
  description: `An OpenStackDataPlaneDeployment is one run. Its spec is immutable, and once its job has used up its tries
(BackoffLimitExceeded) the operator does not look at it again: editing it, or waiting, changes nothing. Another run is another
object with another name.`,
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
  title: 'A node set was changed and not deployed',
  message: ({ last }) =>
    `it was changed since its last deployment${last === undefined ? '' : ` (${last})`}: its hosts still have the old configuration`,
  remedy: () =>
    'deploy it: stackloom up --stage data-plane, or a new OpenStackDataPlaneDeployment; the one that has ended cannot be used again',
  description: `A change of a node set reaches its hosts with the next deployment, which somebody must ask for: the operator never runs
Ansible by itself. The hash of what is wanted and of what was deployed differ until then.`,
  example: { nodeSet: 'computes', last: 'edpm-deployment' },
})

export const notDiscovered = problem<{ hosts: readonly string[]; namespace: string }>({
  code: 'SL9602',
  severity: 'error',
  title: 'Compute hosts that nova does not know',
  message: ({ hosts }) =>
    `${hosts.join(', ')} ${hosts.length === 1 ? 'is' : 'are'} deployed, and no cell of nova knows ${hosts.length === 1 ? 'it' : 'them'}: no server is scheduled there`,
  remedy: ({ namespace }) =>
    `kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts --verbose`,
  description: `A compute host reports to its cell, and the API learns of it when the cell's hosts are discovered. That does not happen by
itself for hosts of the data plane: \`openstack hypervisor list\` stays empty until somebody runs it. \`stackloom up\` does after
every deployment.`,
  example: { hosts: ['compute-1.openstack'], namespace: 'openstack' },
})

export const beforeControlPlane = problem<{ controlPlane: string }>({
  code: 'SL9603',
  severity: 'error',
  title: 'Hosts are deployed before the control plane is ready',
  message: ({ controlPlane }) =>
    `it runs while ${controlPlane} is not ready: its hosts need Secrets and names that are not there yet`,
  remedy: () =>
    'wait for the control plane, then make a new deployment: this one does not run again once it has failed',
  description: `The configuration of nova, neutron and OVN on a host is taken from Secrets that the control plane's operators write when
they are ready. A deployment that starts earlier waits for them or fails.`,
  example: { controlPlane: 'OpenStackControlPlane openstack/controlplane' },
})

export const nodeSetMissing = problem<{ nodeSet: string; known: string | undefined }>({
  code: 'SL9604',
  severity: 'error',
  title: 'A deployment names a node set that does not exist',
  message: ({ nodeSet, known }) =>
    `it names the node set ${nodeSet}, which does not exist${known === undefined ? '' : `; there is ${known}`}`,
  remedy: () => 'delete it and make a new one with the right name: its spec cannot be changed',
  description: `The deployment waits for a node set that nobody will make. It is often left from an earlier attempt, and keeps the node sets
that do exist from being changed.`,
  example: { nodeSet: 'compute', known: 'computes' },
})

export const hostTwice = problem<{ host: string; nodeSets: readonly string[] }>({
  code: 'SL9605',
  severity: 'error',
  title: 'One host is in two node sets',
  message: ({ host, nodeSets }) => `${host} is in ${nodeSets.join(' and ')}: both configure it, each its own way`,
  remedy: () => 'take it out of one of them and deploy the other again',
  description: `The webhook refuses a host that another node set has already. It can happen where the webhook was down, or across
namespaces by way of \`ansibleHost\`: two clouds then write one machine's configuration in turns.`,
  example: { host: '192.168.122.100', nodeSets: ['openstack/computes', 'openstack2/computes'] },
})

export const nodeSetError = problem<{ condition: string; message: string }>({
  code: 'SL9606',
  severity: 'error',
  title: 'A node set reports an error that lasts',
  message: ({ condition, message }) => `${condition}: ${message}`,
  remedy: () =>
    'stackloom ipam status for addresses, kubectl describe for the rest; a deployment waits until SetupReady is True',
  description: `A node set is set up in steps, each with a condition: addresses (NodeSetIPReservationReady), names (NodeSetDNSDataReady),
inventory (SetupReady). The first that is not True holds up the rest.`,
  example: { condition: 'NodeSetDNSDataReady', message: 'multiple DNSMasq resources exist' },
})

export const deletionUnconfirmed = problem<{ deployment: string; namespace: string }>({
  code: 'SL9607',
  severity: 'warning',
  title: 'A running deployment is to be deleted',
  message: () => 'it is being deleted while it runs: the operator waits for your word',
  remedy: ({ deployment, namespace }) =>
    `kubectl -n ${namespace} annotate openstackdataplanedeployment ${deployment} dataplane.openstack.org/confirm-delete=true`,
  description: `Ending Ansible in the middle of a run may leave hosts half configured, so the operator asks for the annotation before it
lets a running deployment go.`,
  example: { deployment: 'edpm-deployment', namespace: 'openstack' },
})
