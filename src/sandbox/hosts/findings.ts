/** SL1250 to SL1279: findings of root file systems, hosts and the real OpenStack of a sandbox. */
import { problem } from '../../errors/finding.ts'

export const rootFileSystemFailed = problem<{ name: string; reason: string }>({
  code: 'SL1250',
  severity: 'error',
  message: ({ name, reason }) => `the root file system ${name} cannot be built: ${reason}`,
  remedy: () => 'check that apt can download packages and that 4 GB of disk are free, and run the same command again',
})

export const hostsUnavailable = problem<{ reason: string }>({
  code: 'SL1251',
  severity: 'error',
  message: ({ reason }) => `this machine cannot run hosts in namespaces: ${reason}`,
  remedy: () => 'run it as root on Linux; without --openstack the OpenStack services are simulated',
})

export const hostProgramsMissing = problem<{ programs: readonly string[]; packages: readonly string[] }>({
  code: 'SL1252',
  severity: 'error',
  message: ({ programs }) => `hosts in namespaces need ${programs.join(', ')}, which this machine does not have`,
  remedy: ({ packages }) => `run \`apt install ${packages.join(' ')}\` and retry`,
})

export const hostNotStarted = problem<{ name: string; reason: string }>({
  code: 'SL1253',
  severity: 'error',
  message: ({ name, reason }) => `host ${name} cannot be started: ${reason}`,
  remedy: () =>
    'run it as root, with the folder of the sandbox on a file system that overlays can use (not on an overlay)',
})

export const computeHostFailed = problem<{ name: string; cloud: string; reason: string; log: string }>({
  code: 'SL1256',
  severity: 'warning',
  message: ({ name, cloud, reason }) => `compute host ${name} of ${cloud} does not run: ${reason}`,
  remedy: ({ log }) => `look at its log, ${log}; it is started again by itself`,
})

export const noSuchCloud = problem<{ cloud: string; sandbox: string; known: readonly string[] }>({
  code: 'SL1254',
  severity: 'error',
  message: ({ cloud, sandbox, known }) =>
    `sandbox ${sandbox} runs no services of a cloud ${cloud}${known.length > 0 ? `; it has: ${known.join(', ')}` : ''}`,
  remedy: ({ sandbox }) =>
    `start it with \`stackloom sandbox start --name ${sandbox} --openstack\` and deploy the cloud with \`stackloom up\``,
})
