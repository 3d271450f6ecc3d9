/** SL93xx: findings of `stackloom rehearse`. */
import { problem } from '../errors/finding.ts'

export const programsMissing = problem<{ programs: readonly string[]; packages: readonly string[] }>({
  code: 'SL9300',
  severity: 'error',
  message: ({ programs }) => `rehearse needs ${programs.join(', ')}, which this machine does not have`,
  remedy: ({ packages }) => `install them: apt-get install ${packages.join(' ')}`,
})

export const machineUnfit = problem<{ reason: string }>({
  code: 'SL9301',
  severity: 'error',
  message: ({ reason }) => `rehearse cannot run here: ${reason}`,
  remedy: () => 'run it as root on a Linux machine; nothing outside of its own namespaces is changed',
})

export const enclosureUnavailable = problem<{ reason: string }>({
  code: 'SL9302',
  severity: 'error',
  message: ({ reason }) => `the namespaces of the rehearsal cannot be created: ${reason}`,
  remedy: () => 'run it as root on the machine itself or in a privileged container',
})

export const partFailed = problem<{ part: string; reason: string }>({
  code: 'SL9303',
  severity: 'error',
  message: ({ part, reason }) => `${part} cannot be prepared: ${reason}`,
  remedy: () => 'fix the reported error and run the same command again; what is finished is kept',
})

export const machineFailed = problem<{ name: string; reason: string }>({
  code: 'SL9304',
  severity: 'error',
  message: ({ name, reason }) => `the virtual machine ${name} failed: ${reason}`,
  remedy: () => 'check that this machine has 600 MB of free memory per node, and run the same command again',
})

export const policyRefused = problem<{ policy: string; node: string; line: string; remedy: string }>({
  code: 'SL9310',
  severity: 'error',
  message: ({ policy, node, line }) => `nmstate does not enact policy ${policy} on ${node}: ${line}`,
  remedy: ({ remedy }) => remedy,
})

export const secondApplyChanged = problem<{ node: string; line: string }>({
  code: 'SL9311',
  severity: 'error',
  message: ({ node, line }) => `applying the policies of ${node} a second time changes its state: ${line}`,
  remedy: () => 'every `up` would change the node again: report it with the site file',
})

export const podNotAttached = problem<{ from: string; reason: string }>({
  code: 'SL9312',
  severity: 'error',
  message: ({ from, reason }) => `no pod can be attached to ${from}: ${reason}`,
  remedy: () => 'check `attach` and the interface of the network; `stackloom render` prints its attachment definition',
})
