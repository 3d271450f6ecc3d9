/** SL75xx: runs of Ansible, what they need and how they end. */
import { problem } from '../../errors/finding.ts'

export const runInputMissing = problem<{ missing: readonly string[] }>({
  code: 'SL7501',
  severity: 'warning',
  title: 'A run waits for its inputs',
  message: ({ missing }) => `the run waits for ${missing.join(', ')}`,
  remedy: () => 'create what is missing; the run goes on by itself',
  description: `A run reads its inventory, its SSH key and its configuration from Secrets and ConfigMaps when it begins. Until
all of them are there no host is touched, and nothing counts as a failed attempt. A volume that is marked \`optional\` may
be absent for ever.`,
  example: { missing: ['Secret dataplane-ansible-ssh-private-key-secret'] },
})

export const runInputUnusable = problem<{ what: string; reason: string }>({
  code: 'SL7502',
  severity: 'error',
  title: 'A run asks for something that cannot be done',
  message: ({ what, reason }) => `${what}: ${reason}`,
  remedy: () => 'correct the spec in a new OpenStackAnsibleEE; this one is not begun',
  description: `What a run asks for is checked before any host is touched: paths that leave their folder, a key that a Secret
does not have, a volume that only a pod can mount, a run without a play. Such a run ends as Failed with the reason
NotStarted, and is not tried again, because the same spec would say the same.`,
  example: { what: 'volume ssh-key', reason: 'Secret ssh has no key ssh-privatekey' },
})

export const runAlreadyDone = problem<{ by: string }>({
  code: 'SL7503',
  severity: 'warning',
  title: 'The same inputs were deployed already',
  message: ({ by }) => `${by} has succeeded with the same inputs`,
  remedy: () => 'nothing is to be done; change an input to run Ansible again',
  description: `The identity of a run is the hash of all its inputs. After a recorded success no other attempt with this hash
begins, whoever made it and however often the operator restarts.`,
  example: { by: 'edpm-compute-0-nova-5f2a91c0-1' },
})

export const runFailed = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7504',
  severity: 'error',
  title: 'A task failed on a host',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'look at the named task on the named host, correct the cause, and ask for another attempt',
  description: `Ansible has run to its end, and on the named hosts a task failed. The others are done. The counts of every host
stand in \`status.result.hosts\`; the output of the run is kept where the executor keeps it (the log of the pod, or the
folder of the run).`,
  example: { hosts: ['edpm-compute-0'], message: 'Write the network configuration: no space left on device' },
})

export const runUnreachable = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7505',
  severity: 'error',
  title: 'A host could not be reached',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'check that the host is up, that its address in the inventory is right, and that the SSH key is let in',
  description: `Ansible logs in by SSH with the key of \`ansibleSSHPrivateKeySecret\`. A host that does not answer is left out of
the rest of the play; on the other hosts the play goes on.`,
  example: {
    hosts: ['edpm-compute-1'],
    message: 'connect to host 192.168.122.101 port 22: No route to host',
  },
})

export const runTimedOut = problem<{ seconds: number }>({
  code: 'SL7506',
  severity: 'error',
  title: 'A run did not end in time',
  message: ({ seconds }) => `the run was ended after ${seconds} s`,
  remedy: () => 'find the task that hangs (the last one that the events name), or give the run more time',
  description: `A run that has not ended within its time limit is ended with everything that it started. It may have changed its
hosts; the next attempt begins from the start, which playbooks must allow in any case.`,
  example: { seconds: 3600 },
})

export const runEndUnknown = problem<{ attempt: number }>({
  code: 'SL7507',
  severity: 'warning',
  title: 'Nobody knows how a run ended',
  message: ({ attempt }) => `attempt ${attempt} has no recorded end; it may have changed its hosts`,
  remedy: () => 'nothing: it is repeated as a new attempt, after everything that was left of it is ended',
  description: `An attempt whose operator, runner or machine was killed leaves no result. It counts as Unknown: neither done nor
failed. What is left of its processes is ended first, then a new attempt begins with an identity of its own, so that two
never work on one host.`,
  example: { attempt: 1 },
})

export const ansibleNotFound = problem<{ tried: readonly string[] }>({
  code: 'SL7508',
  severity: 'error',
  title: 'There is no Ansible on this machine',
  message: ({ tried }) => `none of ${tried.join(', ')} can be started`,
  remedy: () => 'install ansible-core (and ansible-runner), or run Ansible as Jobs: `--runs jobs`',
  description: `The local runner starts \`ansible-runner\`, or \`ansible-playbook\` where that is missing, on the machine of the
operator. In a cluster the operator makes Jobs instead, and needs neither.`,
  example: { tried: ['ansible-runner', 'ansible-playbook'] },
})

export const localRunsNeedLeader = problem<object>({
  code: 'SL7509',
  severity: 'error',
  title: 'Ansible on this machine needs a leader',
  message: () => '--runs local and --no-leader-election do not go together',
  remedy: () => 'leave out --no-leader-election, or run Ansible as Jobs: `--runs jobs`',
  description: `A run that works on the operator's machine is known to that machine alone: another operator would take it for one
without a recorded end, and repeat it. The leader election makes sure that there is no other. A Job is seen by everybody,
so with Jobs several operators may work at once.`,
  example: {},
})

export const noServiceOnNode = problem<{ node: string; kinds: readonly string[] }>({
  code: 'SL7520',
  severity: 'error',
  title: 'No OpenStack service is meant for this node',
  message: ({ node, kinds }) => `no service object is named ${node}: there is no ${kinds.join(', no ')}`,
  remedy: () => 'check the name and the namespace (-n); a node gets a service by an annotation on it or on its role',
  description: `Service objects are named as their node, and an annotation on the node or on its role makes them:
\`nova.openstack.org/cell\` the NovaExternalCompute, and so on for every service (the guide of the data plane has the
list). Without one there is no configuration to explain.`,
  example: { node: 'openstack/edpm-compute-0', kinds: ['NovaExternalCompute', 'OVNMetadataAgent'] },
})

export const configNotGenerated = problem<{ object: string; why: string }>({
  code: 'SL7521',
  severity: 'error',
  title: 'There is no configuration yet',
  message: ({ object, why }) => `${object} has no configuration yet: ${why}`,
  remedy: () => 'wait for what it waits for, then ask again',
  description: `The configuration of a service is generated when the node is prepared and the control plane that it belongs to is
ready: before that, the message bus and the credentials are not known.`,
  example: { object: 'NovaExternalCompute openstack/edpm-compute-0', why: 'Waiting for NovaCell nova-cell1' },
})

export const notConverted = problem<{ what: string; why: string }>({
  code: 'SL7530',
  severity: 'warning',
  title: "Something has no place in today's data plane API",
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'look at the converted NodeSet and say there what is meant',
  description: `Roles and nodes of 2023 became NodeSets. A NodeSet has one cell, one SSH key and one configuration for all its
nodes; settings that a single node could have then are left out, and said so. Everything else is converted.`,
  example: {
    what: 'OpenStackDataPlaneNode edpm-compute-0',
    why: 'it has no role, and a NodeSet is made from one',
  },
})
