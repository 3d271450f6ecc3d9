/** SL401x: runs of `up`. SL402x: what a cluster must have before clouds can be deployed on it. */
import { problem } from '../../errors/finding.ts'

export const notReady = problem<{ cause: string; next: string }>({
  code: 'SL4010',
  severity: 'error',
  title: 'A deployed object has failed',
  message: ({ cause }) => cause,
  remedy: ({ next }) => `look closer with \`${next}\`; after the repair the same \`stackloom up\` continues`,
  description: `A wait ends with ready or with a cause. Here the object, or something that it depends on, is in a state that
it does not leave by itself. A slow object is not reported: it is waited for.

Nothing is rolled back. Repair the cause and run the same command again: finished stages are skipped.`,
  example: {
    cause: 'node worker-1 refuses rhoso1-worker-1: interface enp6s0 not found',
    next: 'kubectl get nnce worker-1.rhoso1-worker-1 -o yaml',
  },
})

export const watchLost = problem<{ reason: string }>({
  code: 'SL4011',
  severity: 'error',
  title: 'The cluster could not be watched for too long',
  message: ({ reason }) => `the cluster could not be watched for too long: ${reason}`,
  remedy: () => 'check the connection to the API server and run the same command again: it resumes',
  description: `An API server that does not answer for a while is normal: changes of node networking, updates and restarts
cause that. After some minutes it is an error. The same command continues where this one stopped.`,
  example: { reason: 'connect ECONNREFUSED 127.0.0.1:6443' },
})

export const anotherRun = problem<{ holder: string }>({
  code: 'SL4012',
  severity: 'error',
  title: 'Another run is deploying to this cluster',
  message: ({ holder }) => `another run is at work on this cluster: ${holder}`,
  remedy: () => 'wait until it has ended; a run that died frees the cluster within half a minute',
  description: `Only one \`up\`, \`down\`, \`adopt\` or \`update\` writes to a cluster at a time. It holds the Lease
\`stackloom-up\` in the namespace \`stackloom-system\` and renews it every few seconds. A run that was killed does not
renew its Lease, and the next run takes over.`,
  example: { holder: 'alice@laptop (process 4711)' },
})

export const leaseLost = problem<object>({
  code: 'SL4047',
  severity: 'error',
  title: 'The run lost its Lease and stopped',
  message: () => 'the Lease of this run could not be renewed in time, so it stopped before another run may start',
  remedy: () => 'check whether the API server answers (it may be overloaded), then run the same command: it resumes',
  description: `A run holds the Lease \`stackloom-up\` in the namespace \`stackloom-system\` and renews it every few seconds,
so that no two runs write at the same time. When the server does not accept the renewal for too long, or another run holds
the Lease, the run finishes the writes in flight and stops.`,
  example: {},
})

export const unreadableInventory = problem<{ name: string }>({
  code: 'SL4013',
  severity: 'error',
  title: 'An inventory in the cluster cannot be read',
  message: ({ name }) => `the ConfigMap stackloom-system/${name} is not a valid inventory`,
  remedy: ({ name }) =>
    `look at it with \`kubectl -n stackloom-system get configmap ${name} -o yaml\`; if it cannot be repaired, delete it and run \`stackloom up\`, which lists its objects again`,
  description: `The inventory lists every object that Stackloom has put into the cluster. It was edited and can no longer be
parsed. Without it nothing is pruned or taken down, because it is unknown which objects are ours.`,
  example: { name: 'inventory-cloud-rhoso1' },
})

export const operatorMissing = problem<{ operator: string }>({
  code: 'SL4014',
  severity: 'error',
  title: 'An operator that the site needs is not installed',
  message: ({ operator }) => `${operator} is not installed, and this cluster has no OLM to install it with`,
  remedy: ({ operator }) => `install ${operator} the way this cluster installs operators, then run the same command`,
  description: `On OpenShift Stackloom installs operators through OLM. Clusters without OLM install them in different ways
(manifests, Helm, a GitOps tree), so Stackloom only reports what is missing. It never installs a second copy of an operator
that exists.`,
  example: { operator: 'nmstate' },
})

export const secretNotProvided = problem<{ namespace: string; name: string; key: string }>({
  code: 'SL4015',
  severity: 'error',
  title: 'A Secret that you must provide is missing',
  message: ({ namespace, name, key }) => `Secret ${namespace}/${name} has no key ${key}, and it cannot be generated`,
  remedy: ({ namespace, name, key }) =>
    `create it: kubectl -n ${namespace} create secret generic ${name} --from-file=${key}=FILE`,
  description: `Passwords and key pairs are generated when a cloud is first deployed. Some Secrets hold values of another
system, such as the configuration and keyring of a Ceph cluster: these must exist before.`,
  example: { namespace: 'openstack', name: 'ceph-conf-files', key: 'ceph.conf' },
})

export const needsConsent = problem<{ many: number; risks: string }>({
  code: 'SL4016',
  severity: 'error',
  title: 'Changes with a risk need consent',
  message: ({ many, risks }) => `${many} changes have a risk (${risks}), and they were not agreed to`,
  remedy: () => 'look at them with `stackloom diff`, then run the same command with --yes',
  description: `Some changes affect the users of a cloud: a VIP moves, the interfaces of a node change, an object must be
created again. On a terminal \`up\` asks; elsewhere it does nothing without \`--yes\`. Nothing was changed.`,
  example: { many: 2, risks: 'changes a VIP, touches node networking' },
})

export const lockMismatch = problem<{ moved: readonly string[] }>({
  code: 'SL4017',
  severity: 'error',
  title: 'The lock contradicts what the cluster was deployed with',
  message: ({ moved }) => `this lock moves what the cluster's own record says: ${formatSome(moved, '; ')}`,
  remedy: () => 'use the lock that the cluster was deployed with, or allow the move with --allow-move CLOUD',
  description: `Each run records the decisions of its lock in the cluster. A lock file that was lost and planned again, or
that belongs to another branch, may decide differently: following it would move addresses of running clouds. Nothing was
changed.`,
  example: { moved: ['rhoso1/internalapi VIP of keystone.internal: 172.17.0.80 -> 172.17.0.81'] },
})

export const notPruned = problem<{ object: string; why: string }>({
  code: 'SL4018',
  severity: 'warning',
  title: 'An object that left the site stays in the cluster',
  message: ({ object, why }) => `${object} is not removed: ${why}`,
  remedy: () => 'remove what uses it first, then run `stackloom up --prune` again',
  description: `Prune deletes only objects that Stackloom created and still owns. A pool whose addresses are in use stays,
because MetalLB would take the addresses from running Services.`,
  example: {
    object: 'metallb.io/IPAddressPool metallb-system/openstack-storage',
    why: '2 of its addresses are in use',
  },
})

export const discoveryFailed = problem<{ namespace: string; reason: string }>({
  code: 'SL4019',
  severity: 'error',
  title: 'Nova could not discover its hosts',
  message: ({ namespace, reason }) => `host discovery in ${namespace} failed: ${reason}`,
  remedy: ({ namespace }) =>
    `run it manually: kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts`,
  description: `After its deployment nova knows a compute host only when the conductor of cell0 has discovered it. Until then
the hypervisor list is incomplete.`,
  example: { namespace: 'openstack', reason: 'there is no pod nova-cell0-conductor-0' },
})

export const strandedCloud = problem<{ cloud: string; addresses: readonly string[] }>({
  code: 'SL4027',
  severity: 'error',
  title: 'A cloud that left the site file is still deployed on shared node networking',
  message: ({ cloud, addresses }) =>
    `${cloud} is no longer in the site file but still deployed, and the nodes would lose its addresses ${addresses.join(', ')}`,
  remedy: ({ cloud }) => `take it down first (\`stackloom down --cloud ${cloud}\`), or put it back into the site file`,
  description: `Clouds on one VLAN or bridge have their node addresses in one policy per node, which belongs to the whole
site. Without the cloud in the file that policy would be written without its addresses, while its pods still use them.
After \`stackloom down --cloud NAME\` the next \`stackloom up\` removes them from the nodes.`,
  example: { cloud: 'rhoso2', addresses: ['172.27.0.5', '172.29.0.5'] },
})

export const multusMissing = problem<object>({
  code: 'SL4020',
  severity: 'error',
  title: 'The cluster has no Multus',
  message: () => 'the cluster does not serve NetworkAttachmentDefinition: Multus is not installed',
  remedy: () => 'install Multus (OpenShift has it built in), then run the same command',
  description: `Pods of OpenStack services have several network interfaces, which Multus attaches by
NetworkAttachmentDefinitions. Without Multus they cannot start.`,
  example: {},
})

export const whereaboutsMissing = problem<object>({
  code: 'SL4021',
  severity: 'error',
  title: 'The cluster has no whereabouts',
  message: () => 'the cluster does not serve the IPPool of whereabouts: pods would get no addresses on their networks',
  remedy: () => 'install whereabouts (OpenShift brings it with Multus), then run the same command',
  description: `Pods on a cloud's networks get their addresses from whereabouts, which records them in IPPool objects.`,
  example: {},
})

export const storageClassMissing = problem<{ name: string; known: readonly string[] }>({
  code: 'SL4022',
  severity: 'error',
  title: 'The storage class of the site does not exist',
  message: ({ name, known }) => `there is no storage class ${name}; the cluster has ${known.join(', ') || 'none'}`,
  remedy: () => 'create it, or name another one as `storageClass` in the site file',
  description: `Databases and queues keep their data on volumes of this class. With a class that does not exist their claims
stay pending forever, which shows late: so it is checked first.`,
  example: { name: 'local-storage', known: ['lvms-vg1'] },
})

export const noDefaultStorageClass = problem<{ known: readonly string[] }>({
  code: 'SL4023',
  severity: 'warning',
  title: 'The cluster has no default storage class',
  message: ({ known }) =>
    `the site names no storage class and the cluster has no default one (it has ${known.join(', ') || 'none'})`,
  remedy: () => 'name a `storageClass` in the site file',
  description: `A volume claim without a class takes the cluster's default. Without a default it stays pending.`,
  example: { known: ['local-storage'] },
})

export const gatewaySettings = problem<object>({
  code: 'SL4024',
  severity: 'warning',
  title: 'The cluster does not route through its nodes',
  message: () =>
    'network.operator/cluster lacks `routingViaHost: true` or `ipForwarding: Global`: VIPs on secondary interfaces will not answer',
  remedy: () => 'run `stackloom up --configure-cluster`, which sets both, or set them manually',
  description: `OVN-Kubernetes answers for LoadBalancer addresses on the default interface only, unless its gateway routes
through the host and the host forwards everywhere. The change restarts the network of each node once. It affects the whole
cluster, so it is made only with consent.`,
  example: {},
})

export const clusterDnsMissing = problem<{ servers: readonly string[] }>({
  code: 'SL4025',
  severity: 'warning',
  title: "The cluster does not ask the site's DNS servers",
  message: ({ servers }) => `dns.operator/default does not ask ${servers.join(', ')}`,
  remedy: () => 'run `stackloom up --configure-cluster`, which adds them, or add them manually',
  description: `Pods resolve names through the cluster's DNS. Names that only the site's servers know cannot be resolved until
the cluster's DNS forwards to them. The change affects the whole cluster, so it is made only with consent.`,
  example: { servers: ['192.168.122.1'] },
})

export const crdMismatch = problem<{ gone: readonly string[]; added: readonly string[] }>({
  code: 'SL4026',
  severity: 'warning',
  title: "The cluster's control plane has another schema than the plan",
  message: ({ gone, added }) =>
    `the OpenStackControlPlane of this cluster is not the one that the lock records: ${formatSlots(gone, added)}`,
  remedy: () =>
    'plan for the present one: `stackloom plan --crd live`, look at what changes, then run `stackloom up` again',
  description: `The lock records for which schema of the OpenStackControlPlane the addresses were planned, because each slot
for a Service override needs one. Another version of the operator brings another schema. The server refuses fields that it
does not know; the Service of a slot that the plan does not know gets no address of its cloud.`,
  example: { gone: [], added: ['watcher.template.apiServiceTemplate.override.service'] },
})

function formatSlots(gone: readonly string[], added: readonly string[]): string {
  const differences = [
    ...(gone.length > 0 ? [`it lacks ${formatSome(gone)}`] : []),
    ...(added.length > 0 ? [`it adds ${formatSome(added)}`] : []),
  ]
  return differences.join(', ') || 'the places that take a Service override are the same'
}

function formatSome(items: readonly string[], separator = ', '): string {
  const more = items.length > 3 ? ` and ${items.length - 3} more` : ''
  return `${items.slice(0, 3).join(separator)}${more}`
}
