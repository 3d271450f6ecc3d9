/** SL12xx and SL1255: building, starting and stopping the sandbox. */
import { problem } from '../errors/finding.ts'

export const goMissing = problem<{ needed: readonly string[]; reason: string }>({
  code: 'SL1200',
  severity: 'error',
  message: ({ needed, reason }) => `cannot build ${needed.join(', ')}: Go cannot be run (${reason})`,
  remedy: () =>
    'install Go 1.25 or newer (Debian: `apt install golang-go` from backports, or go.dev/dl) and retry; ' +
    'or, for the API server and etcd only, set KUBEBUILDER_ASSETS to a folder that contains kube-apiserver and etcd',
})

export const buildFailed = problem<{ programs: readonly string[]; reason: string }>({
  code: 'SL1201',
  severity: 'error',
  message: ({ programs, reason }) => `building ${programs.join(', ')} failed: ${reason}`,
  remedy: () => 'fix the reported error and run the same command again; it continues where it stopped',
})

export const buildInterrupted = problem<{ programs: readonly string[] }>({
  code: 'SL1202',
  severity: 'error',
  message: ({ programs }) => `the build of ${programs.join(', ')} was interrupted`,
  remedy: () => 'run the same command again; it continues where it stopped',
})

export const damagedCache = problem<{ what: string; folder: string; reason: string }>({
  code: 'SL1203',
  severity: 'warning',
  message: ({ what, folder, reason }) => `${what} in ${folder} is damaged (${reason}) and is created again`,
  remedy: () => 'no action needed; if this happens again, check the disk',
})

export const wrongModuleSum = problem<{ module: string; expected: string; actual: string }>({
  code: 'SL1204',
  severity: 'error',
  message: ({ module, expected, actual }) => `${module} has the sum ${actual}, pinned is ${expected}`,
  remedy: () => 'retry: the download is discarded. If the sum is wrong again, do not trust your module proxy',
})

export const moduleUnavailable = problem<{ module: string; reason: string }>({
  code: 'SL1205',
  severity: 'error',
  message: ({ module, reason }) => `cannot fetch ${module}: ${reason}`,
  remedy: () => 'check the network and `go env GOPROXY`, and retry',
})

export const diskFull = problem<{ folder: string; doing: string }>({
  code: 'SL1206',
  severity: 'error',
  message: ({ folder, doing }) => `no space left in ${folder} while ${doing}`,
  remedy: ({ folder }) =>
    `free some space there, or choose another location with XDG_CACHE_HOME and XDG_STATE_HOME (now below ${folder}), ` +
    'and retry',
})

export const portInUse = problem<{ port: number; what: string }>({
  code: 'SL1207',
  severity: 'error',
  message: ({ port, what }) => `port ${port}, which ${what} needs, is in use on this machine`,
  remedy: ({ port }) => `stop the process that listens there (\`ss -ltnp 'sport = :${port}'\`), or omit --port`,
})

export const apiPortChanged = problem<{ name: string; was: number; now: number }>({
  code: 'SL1208',
  severity: 'warning',
  message: ({ name, was, now }) => `port ${was} of sandbox ${name} is in use; it now listens on ${now}`,
  remedy: () => 'no action needed for its kubeconfig file, which was updated; replace copies of it',
})

export const programFailed = problem<{ program: string; reason: string; log: string }>({
  code: 'SL1209',
  severity: 'error',
  message: ({ program, reason }) => `${program} ${reason}`,
  remedy: ({ log }) => `check its log (${log}); retry, or delete the data with \`stackloom sandbox reset\``,
})

export const namespaceUnavailable = problem<{ reason: string }>({
  code: 'SL1210',
  severity: 'error',
  message: ({ reason }) => `--netns: this user cannot create a network namespace: ${reason}`,
  remedy: () => 'run as root, allow unprivileged user namespaces, or start without --netns',
})

export const metallbOnAllInterfaces = problem<{ ports: readonly number[] }>({
  code: 'SL1211',
  severity: 'info',
  message: ({ ports }) => `MetalLB listens on port${ports.length > 1 ? 's' : ''} ${ports.join(', ')} of all interfaces`,
  remedy: () => 'start with --netns to isolate it from your network',
})

export const webhooksDisabled = problem<{ port: number }>({
  code: 'SL1212',
  severity: 'warning',
  message: ({ port }) => `port ${port} is in use, so this sandbox runs without MetalLB's admission webhooks`,
  remedy: () => 'start it with --netns, or stop the other sandbox first; until then overlapping pools are not rejected',
})

export const unknownSandbox = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1213',
  severity: 'error',
  message: ({ name, known }) =>
    `there is no sandbox ${name}${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}`,
  remedy: ({ name }) => `create it with \`stackloom sandbox start --name ${name}\``,
})

export const settingsConflict = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1214',
  severity: 'error',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} has ${setting} ${has}, which was set at its first start and cannot be changed to ${asked}`,
  remedy: ({ name }) =>
    `omit the option, choose another --name, or delete the sandbox with \`stackloom sandbox reset --name ${name}\``,
})

export const badSandboxName = problem<{ name: string }>({
  code: 'SL1215',
  severity: 'error',
  message: ({ name }) => `'${name}' is not a valid sandbox name`,
  remedy: () => 'use up to 40 lower-case letters, digits and dashes, starting with a letter',
})

export const missingAsset = problem<{ folder: string; program: string }>({
  code: 'SL1216',
  severity: 'error',
  message: ({ folder, program }) => `KUBEBUILDER_ASSETS is ${folder}, which contains no program ${program}`,
  remedy: () => 'correct the variable, or unset it to build the pinned programs',
})

export const damagedState = problem<{ name: string; folder: string; reason: string }>({
  code: 'SL1217',
  severity: 'error',
  message: ({ name, folder, reason }) => `the state of sandbox ${name} in ${folder} is damaged: ${reason}`,
  remedy: ({ name }) =>
    `delete the sandbox with \`stackloom sandbox reset --name ${name}\` and start it again; its data is lost`,
})

export const supervisorUnresponsive = problem<{ name: string; log: string; reason: string }>({
  code: 'SL1218',
  severity: 'error',
  message: ({ name, reason }) => `the supervisor of sandbox ${name} does not answer: ${reason}`,
  remedy: ({ name, log }) =>
    `check ${log}; run \`stackloom sandbox stop --name ${name}\` to stop the remaining processes`,
})

export const unknownActor = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1219',
  severity: 'error',
  message: ({ name, known }) => `there is no actor '${name}'; there are: ${known.join(', ')}`,
  remedy: () => 'correct --actors',
})

export const runningWithOtherSettings = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1220',
  severity: 'error',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} is running with ${setting} ${has}, requested is ${asked}`,
  remedy: ({ name }) => `stop it (\`stackloom sandbox stop --name ${name}\` keeps its data), then start it again`,
})

export const startInterrupted = problem<{ name: string }>({
  code: 'SL1221',
  severity: 'error',
  message: ({ name }) => `the start of sandbox ${name} was interrupted; its programs were stopped again`,
  remedy: () => 'run the same command again',
})

export const releaseMissing = problem<{ release: string; folder: string; known: readonly string[] }>({
  code: 'SL1222',
  severity: 'error',
  message: ({ release, folder, known }) =>
    `there are no CRDs of ${release} in ${folder}${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}`,
  remedy: ({ release, folder }) =>
    `copy config/crd/bases of openstack-operator and of infra-operator (branch ${release} of both repositories) to ` +
    `${folder}/${release}, or give any folder that has them: --crd ./FOLDER`,
})

export const crdFolderUnusable = problem<{ folder: string; reason: string }>({
  code: 'SL1223',
  severity: 'error',
  message: ({ folder, reason }) => `cannot read CRDs from ${folder}: ${reason}`,
  remedy: () => 'give a folder with CRDs as YAML or JSON, such as config/crd/bases of openstack-operator',
})

export const podsUnavailable = problem<{ reason: string }>({
  code: 'SL1239',
  severity: 'error',
  message: ({ reason }) => `--pods: this machine cannot run nodes: ${reason}`,
  remedy: () =>
    'run it as root on a Linux machine that has what is missing, or start without --pods: `--actors kubelet` simulates pods',
})

export const podProgramsMissing = problem<{ programs: readonly string[]; packages: readonly string[] }>({
  code: 'SL1240',
  severity: 'error',
  message: ({ programs }) => `--pods: this machine does not have ${programs.join(', ')}`,
  remedy: ({ packages }) => `run \`apt install ${packages.join(' ')}\` and retry`,
})

export const nodesNotReady = problem<{ nodes: readonly string[]; seconds: number; logs: string }>({
  code: 'SL1241',
  severity: 'error',
  message: ({ nodes, seconds }) => `after ${seconds} s not all nodes are ready: ${nodes.join('; ')}`,
  remedy: ({ logs }) => `check the logs of kubelet and containerd in ${logs}; the sandbox is still running`,
})

export const certManagerSilent = problem<{ seconds: number; logs: string }>({
  code: 'SL1255',
  severity: 'error',
  message: ({ seconds }) => `after ${seconds} s the API server has no authority for the webhook of cert-manager`,
  remedy: ({ logs }) => `check the logs of cert-manager-cainjector and cert-manager-webhook in ${logs}`,
})

export const badNodeName = problem<{ kind: 'node' | 'NIC'; name: string }>({
  code: 'SL1242',
  severity: 'error',
  message: ({ kind, name }) => `'${name}' cannot be a ${kind} of a sandbox with pods`,
  remedy: ({ kind }) =>
    kind === 'node'
      ? 'use each name once: a host name of up to 63 lower-case letters, digits, dashes and dots; at most 50 nodes'
      : 'use each name once: up to 15 letters, digits, dots, dashes and underscores; not lo, eth0 or cni0',
})

export const archiveUnusable = problem<{ url: string; reason: string }>({
  code: 'SL1249',
  severity: 'warning',
  message: ({ url, reason }) => `${url} cannot be used: ${reason}; the programs are built from their sources instead`,
  remedy: () =>
    'check the network, or name a mirror with STACKLOOM_ENVTEST=https://…; with another checksum do not trust the server',
})
