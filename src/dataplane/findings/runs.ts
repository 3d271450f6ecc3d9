/** SL75xx: runs of Ansible, `config explain` and the conversion to NodeSets. */
import { problem } from '../../errors/finding.ts'
import { declareLostCommand } from '../../errors/lost-node.ts'

export const runInputMissing = problem<{ missing: readonly string[] }>({
  code: 'SL7501',
  severity: 'warning',
  message: ({ missing }) => `the run waits for ${missing.join(', ')}`,
  remedy: () => 'create what is missing; the run continues by itself',
})

export const runInputUnusable = problem<{ what: string; reason: string }>({
  code: 'SL7502',
  severity: 'error',
  message: ({ what, reason }) => `${what}: ${reason}`,
  remedy: () => 'correct the spec in a new OpenStackAnsibleEE; this one is not started',
})

export const runAlreadyDone = problem<{ by: string }>({
  code: 'SL7503',
  severity: 'warning',
  message: ({ by }) => `${by} has succeeded with the same inputs`,
  remedy: () => 'no action is needed; change an input to run Ansible again',
})

export const runFailed = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7504',
  severity: 'error',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'check the named task on the named host, fix the cause, and request another run',
})

export const runUnreachable = problem<{ hosts: readonly string[]; message: string }>({
  code: 'SL7505',
  severity: 'error',
  message: ({ hosts, message }) => `${hosts.join(', ')}: ${message}`,
  remedy: () => 'check that the host is up, that its inventory address is right, and that it accepts the SSH key',
})

export const runTimedOut = problem<{ seconds: number }>({
  code: 'SL7506',
  severity: 'error',
  message: ({ seconds }) => `the run was stopped after ${seconds} s`,
  remedy: () => 'find the task that hangs (the last one that the events name), or give the run more time',
})

export const runEndUnknown = problem<{ attempt: number }>({
  code: 'SL7507',
  severity: 'warning',
  message: ({ attempt }) => `attempt ${attempt} has no recorded result; it may have changed its hosts`,
  remedy: () => 'no action is needed: its remaining processes are killed, then it is repeated as a new attempt',
})

export const ansibleNotFound = problem<{ tried: readonly string[] }>({
  code: 'SL7508',
  severity: 'error',
  message: ({ tried }) => `none of ${tried.join(', ')} can be started`,
  remedy: () => 'install ansible-core (and ansible-runner), or run Ansible as Jobs: `--runs jobs`',
})

export const localRunsNeedLeader = problem<object>({
  code: 'SL7509',
  severity: 'error',
  message: () => '--runs local cannot be combined with --no-leader-election',
  remedy: () => 'remove --no-leader-election, or run Ansible as Jobs: `--runs jobs`',
})

export const runPodLost = problem<{ pod: string; node: string }>({
  code: 'SL7510',
  severity: 'warning',
  message: ({ pod, node }) =>
    `node ${node} does not answer, and pod ${pod} on it may still work on the hosts of the run`,
  remedy: ({ node }) =>
    `bring ${node} back; if it is switched off for good: \`${declareLostCommand(node)}\`, and the run is repeated on another node`,
})

export const runPodNotStarted = problem<{ pod: string; namespace: string; reason: string }>({
  code: 'SL7511',
  severity: 'warning',
  message: ({ pod, reason }) => `pod ${pod} does not start: ${reason}`,
  remedy: ({ pod, namespace }) =>
    `\`kubectl -n ${namespace} describe pod ${pod}\`; the run continues by itself when the cause is gone`,
})

export const noServiceOnNode = problem<{ node: string; kinds: readonly string[] }>({
  code: 'SL7520',
  severity: 'error',
  message: ({ node, kinds }) => `no service object is named ${node}: there is no ${kinds.join(', no ')}`,
  remedy: () => 'check the name and the namespace (-n); an annotation on a node or its role gives the node a service',
})

export const configNotGenerated = problem<{ object: string; why: string }>({
  code: 'SL7521',
  severity: 'error',
  message: ({ object, why }) => `${object} has no configuration yet: ${why}`,
  remedy: () => 'wait until the named condition is met, then try again',
})

export const notConverted = problem<{ what: string; why: string }>({
  code: 'SL7530',
  severity: 'warning',
  message: ({ what, why }) => `${what}: ${why}`,
  remedy: () => 'review the converted NodeSet and add the intended setting there',
})

export const hostKeyChanged = problem<{ host: string; sent: string }>({
  code: 'SL7556',
  severity: 'error',
  message: ({ host, sent }) => `${host} has another SSH host key than its node records: it sent ${sent}`,
  remedy: ({ host }) =>
    `if ${host} was installed again, set its new key in the annotation stackloom.dev/ssh-host-keys of the node; otherwise find out which machine answers`,
})

export const runNotAllowed = problem<{ what: string; option: string }>({
  code: 'SL7540',
  severity: 'error',
  message: ({ what }) => `the run is not started: ${what}`,
  remedy: ({ option }) => `remove it, or ask the administrator to start the operator with \`${option}\``,
})
