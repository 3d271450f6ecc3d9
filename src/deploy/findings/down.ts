/** SL404x: status, and taking a cloud out of the cluster. */
import { problem } from '../../errors/finding.ts'

export const nothingDeployed = problem<object>({
  code: 'SL4040',
  severity: 'error',
  title: 'Nothing is deployed here',
  message: () => 'this cluster has no inventory of Stackloom: nothing was deployed here, or it was torn down',
  remedy: () => 'deploy with `stackloom up -f site.yaml`, or name the right cluster with --context',
  description: `What Stackloom has deployed is listed in ConfigMaps in the namespace \`stackloom-system\`. There are none in
this cluster, so there is nothing whose state could be told.`,
  example: {},
})

export const unknownInventory = problem<{
  cloud: string
  known: readonly string[]
  nearest: string | undefined
}>({
  code: 'SL4041',
  severity: 'error',
  title: 'No cloud of this name is deployed here',
  message: ({ cloud, nearest }) =>
    `no cloud ${cloud} is deployed in this cluster${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `deployed are ${known.join(', ') || '(none)'}`,
  description: `Taking down works from the inventory in the cluster, not from the site file: what is not listed there was
never deployed by Stackloom, or is gone already.`,
  example: { cloud: 'rhosso2', known: ['rhoso1', 'rhoso2'], nearest: 'rhoso2' },
})

export const stuckFinalizer = problem<{ object: string; finalizers: readonly string[]; owner: string }>({
  code: 'SL4042',
  severity: 'error',
  title: 'An object does not go because of its finalizer',
  message: ({ object, finalizers, owner }) =>
    `${object} is kept by ${finalizers.join(', ') || 'what is in it'}, set by ${owner}`,
  remedy: ({ owner }) => `see why ${owner} does not clean up (its logs, its pods), then run the same command again`,
  description: `A finalizer is a controller's promise to clean up before an object goes. When the controller is gone or
fails, the object stays. Stackloom does not rip finalizers out: what they protect (volumes, database users,
registered hosts) would be left behind for ever.`,
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
    `${cloud} leaves ${claims.length} volume claims in namespace ${namespace} (${claims.slice(0, 3).join(', ')}${claims.length > 3 ? ', …' : ''}), with the Secrets that open them`,
  remedy: ({ cloud }) => `if the data may go: stackloom down --cloud ${cloud} --delete-data`,
  description: `Databases and images of a cloud live on volumes. They are nobody's to delete by accident, so the namespace
stays with its claims and Secrets until somebody says that the data may go.`,
  example: { cloud: 'rhoso2', namespace: 'openstack2', claims: ['mysql-db-openstack-galera-0'] },
})

export const objectsRemain = problem<{ object: string }>({
  code: 'SL4044',
  severity: 'error',
  title: 'Something of ours is left after taking down',
  message: ({ object }) => `${object} is still there`,
  remedy: () => 'run the same command again; if it stays, look at its finalizers with kubectl',
  description: `Taking down ends with a proof: the server is asked for everything that carries our labels. Whatever it names
is not gone yet.`,
  example: { object: 'IPAddressPool metallb-system/openstack2-storage' },
})

export const operatorInUse = problem<{ operator: string }>({
  code: 'SL4045',
  severity: 'warning',
  title: 'An operator stays because others use it',
  message: ({ operator }) => `${operator} stays: something that is not of this site uses it`,
  remedy: () => 'nothing to do; remove it by hand when its other users are gone',
  description: `Operators belong to the whole cluster. Stackloom removes the ones that it installed, unless objects that it
did not make depend on them.`,
  example: { operator: 'MetalLB' },
})

export const nameNotConfirmed = problem<{ name: string }>({
  code: 'SL4046',
  severity: 'error',
  title: 'Taking down needs the name',
  message: ({ name }) => `the name ${name} was not typed: nothing was taken down`,
  remedy: () => 'type it on a terminal, or run the same command with --yes',
  description: `Taking a cloud down cannot be undone, so its name must be typed. Elsewhere than on a terminal \`--yes\` stands
for it.`,
  example: { name: 'rhoso2' },
})
