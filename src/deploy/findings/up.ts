/** SL401x: runs of `up`. SL402x: what a cluster must have before clouds can be deployed on it. */
import { problem } from '../../errors/finding.ts'
import { quoteShellWord } from '../../errors/shell-words.ts'

export const notReady = problem<{ cause: string; next: string }>({
  code: 'SL4010',
  severity: 'error',
  message: ({ cause }) => cause,
  remedy: ({ next }) => `look closer with \`${next}\`; after the repair the same \`stackloom up\` continues`,
})

export const watchLost = problem<{ reason: string }>({
  code: 'SL4011',
  severity: 'error',
  message: ({ reason }) => `the cluster could not be watched for too long: ${reason}`,
  remedy: () => 'check the connection to the API server and run the same command again: it resumes',
})

export const anotherRun = problem<{ holder: string }>({
  code: 'SL4012',
  severity: 'error',
  message: ({ holder }) => `another run is at work on this cluster: ${holder}`,
  remedy: () => 'wait until it has ended; a run that died frees the cluster within half a minute',
})

export const recordsTerminating = problem<{ namespace: string }>({
  code: 'SL4035',
  severity: 'error',
  message: ({ namespace }) => `namespace ${namespace}, which holds the records and the Lease of runs, is being deleted`,
  remedy: ({ namespace }) =>
    `run the same command again when it is gone; \`kubectl get namespace ${namespace} -o yaml\` shows what it waits for`,
})

export const leaseLost = problem<object>({
  code: 'SL4047',
  severity: 'error',
  message: () => 'the Lease of this run could not be renewed in time, so it stopped before another run may start',
  remedy: () => 'check whether the API server answers (it may be overloaded), then run the same command: it resumes',
})

export const unreadableInventory = problem<{ name: string }>({
  code: 'SL4013',
  severity: 'error',
  message: ({ name }) => `the ConfigMap stackloom-system/${name} is not a valid inventory`,
  remedy: ({ name }) =>
    `look at it with \`kubectl -n stackloom-system get configmap ${name} -o yaml\`; if it cannot be repaired, delete it and run \`stackloom up\`, which lists its objects again`,
})

export const operatorMissing = problem<{ operator: string }>({
  code: 'SL4014',
  severity: 'error',
  message: ({ operator }) => `${operator} is not installed, and this cluster has no OLM to install it with`,
  remedy: ({ operator }) => `install ${operator} the way this cluster installs operators, then run the same command`,
})

export const secretNotProvided = problem<{ namespace: string; name: string; key: string }>({
  code: 'SL4015',
  severity: 'error',
  message: ({ namespace, name, key }) => `Secret ${namespace}/${name} has no key ${key}, and it cannot be generated`,
  remedy: ({ namespace, name, key }) =>
    `create it: \`kubectl -n ${namespace} create secret generic ${quoteShellWord(name)} --from-file=${quoteShellWord(key)}=FILE\``,
})

export const incompleteKeyPair = problem<{ namespace: string; name: string; key: string; other: string }>({
  code: 'SL4028',
  severity: 'error',
  message: ({ namespace, name, key, other }) =>
    `Secret ${namespace}/${name} has ${other} and no ${key}, which cannot be derived from it`,
  remedy: ({ namespace, name, key }) =>
    `add ${key} of the same pair, or delete the Secret to generate a new pair: \`kubectl -n ${namespace} delete secret ${name}\``,
})

export const needsConsent = problem<{ many: number; risks: string }>({
  code: 'SL4016',
  severity: 'error',
  message: ({ many, risks }) => `${many} changes have a risk (${risks}), and they were not agreed to`,
  remedy: () => 'look at them with `stackloom diff`, then run the same command with --yes',
})

export const lockMismatch = problem<{ moved: readonly string[] }>({
  code: 'SL4017',
  severity: 'error',
  message: ({ moved }) => `this lock moves what the cluster's own record says: ${formatSome(moved, '; ')}`,
  remedy: () => 'use the lock that the cluster was deployed with, or allow the move with --allow-move CLOUD',
})

export const notPruned = problem<{ object: string; why: string }>({
  code: 'SL4018',
  severity: 'warning',
  message: ({ object, why }) => `${object} is not removed: ${why}`,
  remedy: () => 'remove what uses it first, then run `stackloom up --prune` again',
})

export const discoveryFailed = problem<{ namespace: string; reason: string }>({
  code: 'SL4019',
  severity: 'error',
  message: ({ namespace, reason }) => `host discovery in ${namespace} failed: ${reason}`,
  remedy: ({ namespace }) =>
    `run it manually: \`kubectl -n ${namespace} exec nova-cell0-conductor-0 -- nova-manage cell_v2 discover_hosts\``,
})

export const secondControlPlane = problem<{ cloud: string; namespace: string; name: string }>({
  code: 'SL4032',
  severity: 'error',
  message: ({ cloud, namespace, name }) =>
    `namespace ${namespace} of ${cloud} has the control plane ${name} already, and a second one cannot run beside it`,
  remedy: ({ cloud }) =>
    `leave it to the tool that deployed it: write \`keep: [control-plane]\` into ${cloud} in the site file`,
})

export const strandedCloud = problem<{ cloud: string; addresses: readonly string[] }>({
  code: 'SL4027',
  severity: 'error',
  message: ({ cloud, addresses }) =>
    `${cloud} is no longer in the site file but still deployed, and the nodes would lose its addresses ${addresses.join(', ')}`,
  remedy: ({ cloud }) => `take it down first (\`stackloom down --cloud ${cloud}\`), or put it back into the site file`,
})

export const multusMissing = problem<object>({
  code: 'SL4020',
  severity: 'error',
  message: () => 'the cluster does not serve NetworkAttachmentDefinition: Multus is not installed',
  remedy: () => 'install Multus (OpenShift has it built in), then run the same command',
})

export const whereaboutsMissing = problem<object>({
  code: 'SL4021',
  severity: 'error',
  message: () => 'the cluster does not serve the IPPool of whereabouts: pods would get no addresses on their networks',
  remedy: () => 'install whereabouts (OpenShift brings it with Multus), then run the same command',
})

export const storageClassMissing = problem<{ name: string; known: readonly string[] }>({
  code: 'SL4022',
  severity: 'error',
  message: ({ name, known }) => `there is no storage class ${name}; the cluster has ${known.join(', ') || 'none'}`,
  remedy: () => 'create it, or name another one as `storageClass` in the site file',
})

export const noDefaultStorageClass = problem<{ known: readonly string[] }>({
  code: 'SL4023',
  severity: 'warning',
  message: ({ known }) =>
    `the site names no storage class and the cluster has no default one (it has ${known.join(', ') || 'none'})`,
  remedy: () => 'name a `storageClass` in the site file',
})

export const gatewaySettings = problem<object>({
  code: 'SL4024',
  severity: 'warning',
  message: () =>
    'network.operator/cluster lacks `routingViaHost: true` or `ipForwarding: Global`: VIPs on secondary interfaces will not answer',
  remedy: () => 'run `stackloom up --configure-cluster`, which sets both, or set them manually',
})

export const clusterDnsMissing = problem<{ servers: readonly string[] }>({
  code: 'SL4025',
  severity: 'warning',
  message: ({ servers }) => `dns.operator/default does not ask ${servers.join(', ')}`,
  remedy: () => 'run `stackloom up --configure-cluster`, which adds them, or add them manually',
})

export const crdMismatch = problem<{ gone: readonly string[]; added: readonly string[] }>({
  code: 'SL4026',
  severity: 'warning',
  message: ({ gone, added }) =>
    `the OpenStackControlPlane of this cluster is not the one that the lock records: ${formatSlots(gone, added)}`,
  remedy: () =>
    'plan for the present one: `stackloom plan --crd live`, look at what changes, then run `stackloom up` again',
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

export const refusedByCrd = problem<{
  kind: string
  field: string
  problem: 'unknown' | 'missing'
  planned: string
  cluster: string
}>({
  code: 'SL4029',
  severity: 'error',
  message: ({ kind, field, problem: what, planned, cluster }) =>
    what === 'unknown'
      ? `${kind} of this cluster (${cluster}) has no field ${field}, which is rendered for ${planned}`
      : `${kind} of this cluster (${cluster}) requires ${field}, which is not rendered for ${planned}`,
  remedy: ({ cluster }) =>
    `plan for this cluster: \`stackloom plan --crd live\`, or set spec.cluster.release${/^\S+$/.test(cluster) ? ` to ${cluster}` : ''}`,
})

/** What to do instead, by the words of the operators' rules. */
const waysAround: readonly (readonly [RegExp, string])[] = [
  [/scal(?:e-in|ing down)/, 'keep the number of replicas: the operator does not move the data of a removed one'],
  [/layout/i, 'keep `type`, or add a glance API of another name with the new type and move to it'],
  [/DatabaseInstance/, 'keep `databaseInstance`: the operator does not move the data'],
  [
    /network \S+ removed|of a subnet must not change/,
    'keep the network as it is while hosts have addresses of it, or remove the hosts of the cloud first and add them again',
  ],
  [/bmhLabelSelector|hardwareReqs/, 'keep both fields, or add a node set with the new ones and move the hosts to it'],
  [
    /must be in the list of current or previous available versions/,
    'see the versions with `stackloom update --dry-run`',
  ],
]

export const updateRefused = problem<{ object: string; reasons: readonly string[] }>({
  code: 'SL4030',
  severity: 'error',
  message: ({ object, reasons }) => `the cluster refuses the update of ${object}: ${reasons.join('; ')}`,
  remedy: ({ reasons }) =>
    waysAround.find(([words]) => reasons.some((reason) => words.test(reason)))?.[1] ??
    'take the change of these fields back in the site file',
})

export const hostInLeftover = problem<{ hosts: readonly string[]; from: string; to: string; namespace: string }>({
  code: 'SL4031',
  severity: 'error',
  message: ({ hosts, from, to }) =>
    `${formatSome(hosts)} moved to the node set ${to}, but the node set ${from}, which left the site file, still has ${hosts.length > 1 ? 'them' : 'it'}`,
  remedy: ({ from, namespace }) =>
    `delete the old one, which does not touch its hosts: \`kubectl -n ${namespace} delete openstackdataplanenodeset ${from}\`; then run the same command again`,
})

export const nodeTuningMissing = problem<object>({
  code: 'SL4090',
  severity: 'error',
  message: () => 'the cluster has no Node Tuning Operator, which would set arp_ignore on the nodes',
  remedy: () =>
    'set net.ipv4.conf.all.arp_ignore=1 on the nodes in another way, and cluster.isolation.nodeAddresses: any-segment in the site file',
})

export const runTimedOut = problem<{ ms: number }>({
  code: 'SL4100',
  severity: 'error',
  message: ({ ms }) => `the run was stopped after ${ms / 1000} seconds, as --timeout asks; what is done stays done`,
  remedy: () => 'run the same command again to continue, with a longer --timeout or without one',
})
