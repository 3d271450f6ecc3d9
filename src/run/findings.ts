/** SL40xx: runs and their stages. What the cluster must bring: `preflight.ts`; the way out: `down.ts`. */
import { problem } from '../errors/finding.ts'

export const unknownStage = problem<{ stage: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4001',
  severity: 'error',
  title: 'There is no stage of this name',
  message: ({ stage, nearest }) => `no stage is called ${stage}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `the stages are ${known.join(', ')}`,
  description: `\`--stage\`, \`--from\`, \`--until\` and \`--skip\` take the name of a stage, which means that stage of
every cloud (\`netattach\`), or its id, which means one cloud's (\`rhoso1/netattach\`). Nothing was done.`,
  example: {
    stage: 'netatach',
    known: ['namespace', 'netattach', 'control-plane'],
    nearest: 'netattach',
  },
})

export const unknownCloud = problem<{ cloud: string; known: readonly string[]; nearest: string | undefined }>({
  code: 'SL4002',
  severity: 'error',
  title: 'The site has no cloud of this name',
  message: ({ cloud, nearest }) => `the site has no cloud ${cloud}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ known }) => `the clouds are ${known.join(', ') || '(none)'}`,
  description: `\`--cloud\` takes the name of a cloud in the site file, not its namespace. Nothing was done.`,
  example: { cloud: 'rhosso2', known: ['rhoso1', 'rhoso2'], nearest: 'rhoso2' },
})

export const nothingSelected = problem<object>({
  code: 'SL4003',
  severity: 'error',
  title: 'The options leave no stage to run',
  message: () => 'no stage is left to run: the options exclude each other',
  remedy: () => 'drop one of the options that choose stages: --from, --until, --skip, --stage, --cloud',
  description: `Each option narrows the choice: \`--stage control-plane --until netattach\` asks for a stage that comes
later than the last one that may run. Nothing was done.`,
  example: {},
})

export const stageCycle = problem<{ path: readonly string[] }>({
  code: 'SL4004',
  severity: 'error',
  title: 'Stages wait for each other in a circle',
  message: ({ path }) => `these stages wait for each other: ${path.join(' -> ')}`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
  description: `The order of stages is a graph without circles, which is checked before a run begins. Nothing was done.`,
  example: { path: ['nncp', 'metallb', 'nncp'] },
})

export const unknownPredecessor = problem<{ stage: string; predecessor: string }>({
  code: 'SL4005',
  severity: 'error',
  title: 'A stage waits for one that does not exist',
  message: ({ stage, predecessor }) => `stage ${stage} waits for ${predecessor}, which is no stage`,
  remedy: () => 'this is a defect of Stackloom: report it with the output of `stackloom stages`',
  description: `A wait for something that never comes would be a run that never ends, so it is refused before the run
begins. Nothing was done.`,
  example: { stage: 'rhoso1/netattach', predecessor: 'rhoso1/namespce' },
})

export const duplicateStage = problem<{ stage: string }>({
  code: 'SL4006',
  severity: 'error',
  title: 'Two stages have the same id',
  message: ({ stage }) => `two stages have the id ${stage}`,
  remedy: () => 'give the clouds different names',
  description: `A stage's id is its cloud's name and its own. Two of them cannot be told apart in the output, so the run
does not begin.`,
  example: { stage: 'rhoso1/netattach' },
})

export const notReady = problem<{ cause: string; next: string }>({
  code: 'SL4010',
  severity: 'error',
  title: 'Something that was deployed has failed',
  message: ({ cause }) => cause,
  remedy: ({ next }) => `look closer with \`${next}\`; after the repair the same \`stackloom up\` goes on`,
  description: `A wait ends with ready, or with a cause. This is a cause: the object, or something behind it, has reached a
state that it does not leave by itself. What takes long is not reported here; it is waited for.

Nothing is rolled back. Repair the cause and run the same command again: what is done is skipped.`,
  example: {
    cause: 'node worker-1 refuses rhoso1-worker-1: interface enp6s0 not found',
    next: 'kubectl get nnce worker-1.rhoso1-worker-1 -o yaml',
  },
})

export const watchLost = problem<{ reason: string }>({
  code: 'SL4011',
  severity: 'error',
  title: 'The cluster is out of sight for too long',
  message: ({ reason }) => `the cluster could not be watched for too long: ${reason}`,
  remedy: () => 'check the connection to the API server and run the same command again: it resumes',
  description: `An API server that is away for a while is ridden out: node networking changes, updates and restarts do that.
After some minutes it is an error. Nothing is lost: the same command goes on where this one stood.`,
  example: { reason: 'connect ECONNREFUSED 127.0.0.1:6443' },
})

export const anotherRun = problem<{ holder: string }>({
  code: 'SL4012',
  severity: 'error',
  title: 'Somebody else is deploying this site',
  message: ({ holder }) => `another run is at work on this cluster: ${holder}`,
  remedy: () => 'wait until it has ended; a run that died frees the cluster within half a minute',
  description: `Only one \`up\`, \`down\`, \`adopt\` or \`update\` writes to a cluster at a time. It holds the Lease
\`stackloom-up\` in the namespace \`stackloom-system\` and renews it every few seconds. A run that was killed does not
renew: the next one takes over by itself.`,
  example: { holder: 'alice@laptop (process 4711)' },
})

export const leaseLost = problem<object>({
  code: 'SL4047',
  severity: 'error',
  title: 'The run lost its Lease and stopped',
  message: () => 'the Lease of this run could not be renewed in time, so it stopped before another one may begin',
  remedy: () => 'see whether the API server answers (it may be overloaded), then run the same command: it goes on',
  description: `A run holds the Lease \`stackloom-up\` in the namespace \`stackloom-system\` and renews it every few seconds, so that
no two runs write at the same time. When the server does not take the renewal for too long, or somebody else holds the
Lease, the run finishes the writes in flight and stops.`,
  example: {},
})

export const unreadableInventory = problem<{ name: string }>({
  code: 'SL4013',
  severity: 'error',
  title: 'An inventory in the cluster cannot be read',
  message: ({ name }) => `the ConfigMap stackloom-system/${name} is not an inventory any more`,
  remedy: ({ name }) =>
    `look at it with \`kubectl -n stackloom-system get configmap ${name} -o yaml\`; if it cannot be repaired, delete it and run \`stackloom up\`, which lists its objects anew`,
  description: `The inventory lists every object that Stackloom has put into the cluster. Somebody has edited it into
something else. Without it nothing is pruned or torn down, because nobody knows what is ours.`,
  example: { name: 'inventory-cloud-rhoso1' },
})

export const operatorMissing = problem<{ operator: string }>({
  code: 'SL4014',
  severity: 'error',
  title: 'An operator that the site needs is not installed',
  message: ({ operator }) => `${operator} is not installed, and this cluster has no OLM through which it could be`,
  remedy: ({ operator }) => `install ${operator} the way this cluster installs operators, then run the same command`,
  description: `On OpenShift Stackloom installs operators through OLM. On plain Kubernetes everybody has their own way
(manifests, Helm, a GitOps tree), so Stackloom says what is missing and waits for you. It never installs a second
copy beside one that is there.`,
  example: { operator: 'nmstate' },
})

export const secretNotProvided = problem<{ namespace: string; name: string; key: string }>({
  code: 'SL4015',
  severity: 'error',
  title: 'A Secret that only you can give is missing',
  message: ({ namespace, name, key }) => `Secret ${namespace}/${name} has no key ${key}, and nobody can make it up`,
  remedy: ({ namespace, name, key }) =>
    `create it: kubectl -n ${namespace} create secret generic ${name} --from-file=${key}=FILE`,
  description: `Passwords and key pairs are made at random when a cloud is first deployed. Some Secrets hold what another
system has decided, such as the configuration and keyring of a Ceph cluster: these must be there beforehand.`,
  example: { namespace: 'openstack', name: 'ceph-conf-files', key: 'ceph.conf' },
})

export const needsConsent = problem<{ many: number; risks: string }>({
  code: 'SL4016',
  severity: 'error',
  title: 'Changes with a risk need consent',
  message: ({ many, risks }) => `${many} changes have a risk (${risks}), and nobody has agreed to them`,
  remedy: () => 'look at them with `stackloom diff`, then run the same command with --yes',
  description: `Some changes cost those who use a cloud something: a VIP moves, a node's interfaces change, an object must be
made anew. On a terminal \`up\` asks; elsewhere it does nothing without \`--yes\`. Nothing was changed.`,
  example: { many: 2, risks: 'changes a VIP, touches node networking' },
})

export const lockMismatch = problem<{ moved: readonly string[] }>({
  code: 'SL4017',
  severity: 'error',
  title: 'The lock contradicts what the cluster was deployed by',
  message: ({ moved }) =>
    `this lock moves what the cluster's own record says: ${moved.slice(0, 3).join('; ')}${moved.length > 3 ? ` and ${moved.length - 3} more` : ''}`,
  remedy: () => 'use the lock that the cluster was deployed with, or allow the move with --allow-move CLOUD',
  description: `Each run records the decisions of its lock in the cluster. A lock file that was lost and made anew, or that
belongs to another branch, may decide differently: following it would move addresses under running clouds.
Nothing was changed.`,
  example: { moved: ['rhoso1/internalapi VIP of keystone.internal: 172.17.0.80 -> 172.17.0.81'] },
})

export const notPruned = problem<{ object: string; why: string }>({
  code: 'SL4018',
  severity: 'warning',
  title: 'An object that left the site stays in the cluster',
  message: ({ object, why }) => `${object} is not removed: ${why}`,
  remedy: () => 'remove what uses it first, then run `stackloom up --prune` again',
  description: `Prune removes only what Stackloom made and still owns. A pool whose addresses are in use stays, because
MetalLB would take the addresses from running Services.`,
  example: {
    object: 'metallb.io/IPAddressPool metallb-system/openstack-storage',
    why: '2 of its addresses are in use',
  },
})

export const discoveryFailed = problem<{ namespace: string; reason: string }>({
  code: 'SL4019',
  severity: 'error',
  title: 'Nova could not look for its hosts',
  message: ({ namespace, reason }) => `host discovery in ${namespace} failed: ${reason}`,
  remedy: ({ namespace }) =>
    `try it by hand: kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts`,
  description: `After its deployment a compute host is known to nova only when the conductor of cell0 has looked for it. Until
then hypervisors are missing from the list.`,
  example: { namespace: 'openstack', reason: 'there is no pod nova-cell0-conductor-0' },
})

export const strandedCloud = problem<{ cloud: string; addresses: readonly string[] }>({
  code: 'SL4027',
  severity: 'error',
  title: 'A cloud that left the site file is still deployed, on node networking that it shares',
  message: ({ cloud, addresses }) =>
    `${cloud} is no longer in the site file but still deployed, and the nodes would lose its addresses ${addresses.join(', ')}`,
  remedy: ({ cloud }) => `take it down first (\`stackloom down --cloud ${cloud}\`), or put it back into the site file`,
  description: `Clouds on one VLAN or bridge have their node addresses in one policy per node, which belongs to the whole site.
Without the cloud in the file that policy would be written without its addresses, while its pods still run and use them.
After \`stackloom down --cloud NAME\` nobody does, and the next \`stackloom up\` takes them off the nodes.`,
  example: { cloud: 'rhoso2', addresses: ['172.27.0.5', '172.29.0.5'] },
})
