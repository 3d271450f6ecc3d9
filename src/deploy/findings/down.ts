/** SL404x: `status`, and taking clouds out of a cluster. */
import { problem } from '../../errors/finding.ts'

export const nothingDeployed = problem<object>({
  code: 'SL4040',
  severity: 'error',
  title: 'Nothing is deployed in this cluster',
  message: () => 'this cluster has no inventory of Stackloom: nothing was deployed here, or it was taken down',
  remedy: () => 'deploy with `stackloom up -f site.yaml`, or name the right cluster with --context',
  description: `What Stackloom has deployed is listed in ConfigMaps in the namespace \`stackloom-system\`. This cluster
has none, so there is no state to show.`,
  example: {},
})

export const unknownInventory = problem<{ cloud: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4041',
  severity: 'error',
  title: 'No cloud of this name is deployed here',
  message: ({ cloud, nearest }) =>
    `no cloud ${cloud} is deployed in this cluster${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `deployed are ${known.join(', ') || '(none)'}`,
  description: `Taking down works from the inventory in the cluster, not from the site file: a cloud that is not listed there
was never deployed by Stackloom, or is gone already.`,
  example: { cloud: 'rhosso2', known: ['rhoso1', 'rhoso2'], nearest: 'rhoso2' },
})

export const stuckFinalizer = problem<{ object: string; finalizers: readonly string[]; owner: string }>({
  code: 'SL4042',
  severity: 'error',
  title: 'A finalizer keeps an object from being deleted',
  message: ({ object, finalizers, owner }) =>
    `${object} is kept by ${finalizers.join(', ') || 'what is in it'}, set by ${owner}`,
  remedy: ({ owner }) =>
    `find out why ${owner} does not clean up (its logs, its pods), then run the same command again`,
  description: `A finalizer is a controller's promise to clean up before an object is deleted. When the controller is gone
or fails, the object stays. Stackloom does not remove finalizers: what they protect (volumes, database users, registered
hosts) would be left behind forever.`,
  example: {
    object: 'OpenStackControlPlane openstack/controlplane',
    finalizers: ['openstack.org/openstackcontrolplane'],
    owner: 'openstack-operator',
  },
})

export const volumesRemain = problem<{ cloud: string; namespace: string; claims: readonly string[] }>({
  code: 'SL4043',
  severity: 'warning',
  title: 'Volumes of a cloud that was taken down stay',
  message: ({ cloud, namespace, claims }) =>
    `${cloud} leaves ${claims.length} volume claims in namespace ${namespace} (${claims.slice(0, 3).join(', ')}${claims.length > 3 ? ', …' : ''}), with the Secrets that they need`,
  remedy: ({ cloud }) => `if the data may be deleted: stackloom down --cloud ${cloud} --delete-data`,
  description: `Databases and images of a cloud are on volumes. They must not be deleted by accident, so the namespace
stays with its claims and Secrets until \`--delete-data\` is given.`,
  example: { cloud: 'rhoso2', namespace: 'openstack2', claims: ['mysql-db-openstack-galera-0'] },
})

export const objectsRemain = problem<{ object: string }>({
  code: 'SL4044',
  severity: 'error',
  title: 'Objects of Stackloom are left after taking down',
  message: ({ object }) => `${object} still exists`,
  remedy: () => 'run the same command again; if it stays, look at its finalizers with kubectl',
  description: `Taking down ends with a check: the server lists everything that has our labels. What it lists is not gone
yet.`,
  example: { object: 'IPAddressPool metallb-system/openstack2-storage' },
})

export const operatorInUse = problem<{ operator: string }>({
  code: 'SL4045',
  severity: 'warning',
  title: 'An operator stays because other objects need it',
  message: ({ operator }) => `${operator} stays: an object that does not belong to this site needs it`,
  remedy: () => 'nothing to do; remove it manually when the other objects are gone',
  description: `Operators belong to the whole cluster. Stackloom removes those that it installed, unless objects that it
did not create depend on them.`,
  example: { operator: 'MetalLB' },
})

export const nameNotConfirmed = problem<{ name: string }>({
  code: 'SL4046',
  severity: 'error',
  title: 'The name was not confirmed',
  message: ({ name }) => `the name ${name} was not typed: nothing was taken down`,
  remedy: () => 'type it on a terminal, or run the same command with --yes',
  description: `Taking a cloud down cannot be undone, so its name must be typed. Without a terminal \`--yes\` confirms
it.`,
  example: { name: 'rhoso2' },
})
