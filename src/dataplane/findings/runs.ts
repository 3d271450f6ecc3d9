/** SL75xx: runs of Ansible, `config explain` and the conversion to NodeSets. */
import { problem } from '../../errors/finding.ts'

export const runInputMissing = problem<{ missing: readonly string[] }>({
  code: 'SL7501',
  severity: 'warning',
  title: 'A run waits for its inputs',
  message: ({ missing }) => `the run waits for ${missing.join(', ')}`,
  remedy: () => 'create what is missing; the run continues by itself',
  description: `A run reads its inventory, its SSH key and its configuration from Secrets and ConfigMaps when it starts. Until all of
them exist no host is touched, and no attempt is counted. A volume that is marked \`optional\` may stay absent.`,
  example: { missing: ['Secret dataplane-ansible-ssh-private-key-secret'] },
})

export const runInputUnusable = problem<{ what: string; reason: string }>({
  code: 'SL7502',
  severity: 'error',
  title: 'A run has an invalid input',
  message: ({ what, reason }) => `${what}: ${reason}`,
  remedy: () => 'correct the spec in a new OpenStackAnsibleEE; this one is not started',
  description: `The spec of a run is checked before any host is touched: paths that leave their folder, a key that a Secret does not
have, a volume that only a pod can mount, a run without a play. Such a run ends as Failed with the reason NotStarted, and is
not retried, because the same spec would fail again.`,
  example: { what: 'volume ssh-key', reason: 'Secret ssh has no key ssh-privatekey' },
})

export const runAlreadyDone = problem<{ by: string }>({
  code: 'SL7503',
  severity: 'warning',
  title: 'The same inputs are already deployed',
  message: ({ by }) => `${by} has succeeded with the same inputs`,
  remedy: () => 'no action is needed; change an input to run Ansible again',
  description: `The identity of a run is the hash of all its inputs. After a recorded success no other attempt with this hash starts,
regardless of its creator and of operator restarts.`,
  example: { by: 'edpm-compute-0-nova-5f2a91c0-1' },
})

export const runFailed = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7504',
  severity: 'error',
  title: 'A task failed on a host',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'check the named task on the named host, fix the cause, and request another run',
  description: `Ansible has finished, and a task failed on the named hosts. The other hosts are done. The counts of every host are in
\`status.result.hosts\`; the executor keeps the output of the run (the log of the pod, or the folder of the run).`,
  example: { hosts: ['edpm-compute-0'], message: 'Write the network configuration: no space left on device' },
})

export const runUnreachable = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7505',
  severity: 'error',
  title: 'A host could not be reached',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'check that the host is up, that its inventory address is right, and that it accepts the SSH key',
  description: `Ansible logs in by SSH with the key of \`ansibleSSHPrivateKeySecret\`. A host that does not answer is left out of the
rest of the play; the play continues on the other hosts.`,
  example: {
    hosts: ['edpm-compute-1'],
    message: 'connect to host 192.168.122.101 port 22: No route to host',
  },
})

export const runTimedOut = problem<{ seconds: number }>({
  code: 'SL7506',
  severity: 'error',
  title: 'A run did not finish in time',
  message: ({ seconds }) => `the run was stopped after ${seconds} s`,
  remedy: () => 'find the task that hangs (the last one that the events name), or give the run more time',
  description: `A run that has not finished within its time limit is killed, with every process that it started. It may have changed
its hosts; the next attempt starts from the beginning, which playbooks must allow in any case.`,
  example: { seconds: 3600 },
})

export const runEndUnknown = problem<{ attempt: number }>({
  code: 'SL7507',
  severity: 'warning',
  title: 'The result of a run is unknown',
  message: ({ attempt }) => `attempt ${attempt} has no recorded result; it may have changed its hosts`,
  remedy: () => 'no action is needed: its remaining processes are killed, then it is repeated as a new attempt',
  description: `An attempt whose operator, runner or machine was killed has no result. It counts as Unknown: neither done nor failed.
Its remaining processes are killed first; then a new attempt starts under an identity of its own, so that two attempts never
run on one host.`,
  example: { attempt: 1 },
})

export const ansibleNotFound = problem<{ tried: readonly string[] }>({
  code: 'SL7508',
  severity: 'error',
  title: 'Ansible is not installed on this machine',
  message: ({ tried }) => `none of ${tried.join(', ')} can be started`,
  remedy: () => 'install ansible-core (and ansible-runner), or run Ansible as Jobs: `--runs jobs`',
  description: `The local executor starts \`ansible-runner\`, or \`ansible-playbook\` where that is missing, on the machine of the
operator. In a cluster the operator creates Jobs instead, and needs neither.`,
  example: { tried: ['ansible-runner', 'ansible-playbook'] },
})

export const localRunsNeedLeader = problem<object>({
  code: 'SL7509',
  severity: 'error',
  title: 'Local Ansible runs need leader election',
  message: () => '--runs local cannot be combined with --no-leader-election',
  remedy: () => 'remove --no-leader-election, or run Ansible as Jobs: `--runs jobs`',
  description: `Only the operator's own machine knows a run that is executed there: another operator would treat it as a run without
a recorded result, and repeat it. Leader election guarantees that there is no other operator. A Job is visible to all, so
several operators can work at once with Jobs.`,
  example: {},
})

export const noServiceOnNode = problem<{ node: string; kinds: readonly string[] }>({
  code: 'SL7520',
  severity: 'error',
  title: 'A node has no OpenStack service',
  message: ({ node, kinds }) => `no service object is named ${node}: there is no ${kinds.join(', no ')}`,
  remedy: () => 'check the name and the namespace (-n); an annotation on a node or its role gives the node a service',
  description: `Service objects have the name of their node and are created by an annotation on the node or on its role:
\`nova.openstack.org/cell\` creates the NovaExternalCompute, and so on for every service (the data plane guide lists them).
Without a service object there is no configuration to explain.`,
  example: { node: 'openstack/edpm-compute-0', kinds: ['NovaExternalCompute', 'OVNMetadataAgent'] },
})

export const configNotGenerated = problem<{ object: string; why: string }>({
  code: 'SL7521',
  severity: 'error',
  title: 'The configuration is not generated yet',
  message: ({ object, why }) => `${object} has no configuration yet: ${why}`,
  remedy: () => 'wait until the named condition is met, then try again',
  description: `The configuration of a service is generated when the node is prepared and its control plane is ready: before that, the
message bus and the credentials are unknown.`,
  example: { object: 'NovaExternalCompute openstack/edpm-compute-0', why: 'Waiting for NovaCell nova-cell1' },
})

export const notConverted = problem<{ what: string; why: string }>({
  code: 'SL7530',
  severity: 'warning',
  title: 'A setting cannot be converted to the NodeSet API',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'review the converted NodeSet and add the intended setting there',
  description: `Roles and nodes became NodeSets. A NodeSet has one cell, one SSH key and one configuration for all its nodes; settings
that a single node could have in the Role/Node API are left out and reported. Everything else is converted.`,
  example: {
    what: 'OpenStackDataPlaneNode edpm-compute-0',
    why: 'it has no role, and a NodeSet is created from one',
  },
})
