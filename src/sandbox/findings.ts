/** SL12xx: building, starting and stopping the sandbox. */
import { problem } from '../errors/finding.ts'

export const goMissing = problem<{ needed: readonly string[]; reason: string }>({
  code: 'SL1200',
  severity: 'error',
  title: 'The Go toolchain is missing',
  message: ({ needed, reason }) => `cannot build ${needed.join(', ')}: Go cannot be run (${reason})`,
  remedy: () =>
    'install Go 1.25 or newer (Debian: `apt install golang-go` from backports, or go.dev/dl) and retry; ' +
    'or, for the API server and etcd only, set KUBEBUILDER_ASSETS to a folder that contains kube-apiserver and etcd',
  description: `The sandbox runs the real programs, which are built once on this machine from pinned sources with Go. \`KUBEBUILDER_ASSETS\` (as
printed by \`setup-envtest\`) replaces only the API server and etcd; the controller manager, MetalLB and the CRD modules still
need Go. Programs that are already in the cache do not need Go.`,
  example: { needed: ['kube-apiserver', 'etcd'], reason: 'spawn go ENOENT' },
})

export const buildFailed = problem<{ programs: readonly string[]; reason: string }>({
  code: 'SL1201',
  severity: 'error',
  title: 'A program of the sandbox cannot be built',
  message: ({ programs, reason }) => `building ${programs.join(', ')} failed: ${reason}`,
  remedy: () => 'fix the reported error and run the same command again; it continues where it stopped',
  description: `The compiler or a module download failed. Compiled packages stay in the Go build cache, so the next run compiles only what is
missing. Failed downloads are usually caused by a proxy or an offline machine: check \`go env GOPROXY\`.`,
  example: { programs: ['etcd'], reason: 'dial tcp: lookup of the module proxy failed' },
})

export const buildInterrupted = problem<{ programs: readonly string[] }>({
  code: 'SL1202',
  severity: 'error',
  title: 'A build of the sandbox was interrupted',
  message: ({ programs }) => `the build of ${programs.join(', ')} was interrupted`,
  remedy: () => 'run the same command again; it continues where it stopped',
  description: `The build was cancelled. Incomplete programs are never used: a finished program is renamed into the cache together with its
checksum.`,
  example: { programs: ['kube-apiserver', 'kube-controller-manager'] },
})

export const damagedCache = problem<{ what: string; folder: string; reason: string }>({
  code: 'SL1203',
  severity: 'warning',
  title: 'An entry of the cache folder is damaged',
  message: ({ what, folder, reason }) => `${what} in ${folder} is damaged (${reason}) and is created again`,
  remedy: () => 'no action needed; if this happens again, check the disk',
  description: `The cache records the size and checksum of every program and CRD set. Entries that do not match, or that a crash left
incomplete, are removed and created again.`,
  example: { what: 'etcd', folder: '~/.cache/stackloom/programs', reason: '12 bytes instead of 26640649' },
})

export const wrongModuleSum = problem<{ module: string; expected: string; actual: string }>({
  code: 'SL1204',
  severity: 'error',
  title: 'A module that carries CRDs is not the pinned one',
  message: ({ module, expected, actual }) => `${module} has the sum ${actual}, pinned is ${expected}`,
  remedy: () => 'retry: the download is discarded. If the sum is wrong again, do not trust your module proxy',
  description: `CRDs determine what the API server accepts, so they come from modules that are pinned by version and checksum. A different sum
means different content: a damaged download, or a proxy that serves something else.`,
  example: { module: 'github.com/metallb/metallb@v0.15.3', expected: 'h1:+NaI…', actual: 'h1:AAAA…' },
})

export const moduleUnavailable = problem<{ module: string; reason: string }>({
  code: 'SL1205',
  severity: 'error',
  title: 'A module that carries CRDs cannot be fetched',
  message: ({ module, reason }) => `cannot fetch ${module}: ${reason}`,
  remedy: () => 'check the network and `go env GOPROXY`, and retry',
  description: `The CRDs of other projects are read from their Go modules once and cached as JSON.`,
  example: { module: 'github.com/metallb/metallb@v0.15.3', reason: 'the proxy answered 404' },
})

export const diskFull = problem<{ folder: string; doing: string }>({
  code: 'SL1206',
  severity: 'error',
  title: 'The disk is full',
  message: ({ folder, doing }) => `no space left in ${folder} while ${doing}`,
  remedy: ({ folder }) =>
    `free some space there, or choose another location with XDG_CACHE_HOME and XDG_STATE_HOME (now below ${folder}), ` +
    'and retry',
  description: `The programs need about 0.5 GB in the cache folder (and the Go build cache about 2.5 GB while they are compiled); a sandbox needs
about 0.2 GB in the state folder. Incomplete files are never used.`,
  example: { folder: '~/.local/state/stackloom', doing: 'starting etcd' },
})

export const portInUse = problem<{ port: number; what: string }>({
  code: 'SL1207',
  severity: 'error',
  title: 'A port is in use',
  message: ({ port, what }) => `port ${port}, which ${what} needs, is in use on this machine`,
  remedy: ({ port }) => `stop the process that listens there (\`ss -ltnp 'sport = :${port}'\`), or omit --port`,
  description: `Without \`--port\` a sandbox chooses a free port and keeps it as long as possible, so that its kubeconfig stays valid. A port that
was set with \`--port\` is never replaced by another one.`,
  example: { port: 6443, what: 'the API server' },
})

export const apiPortChanged = problem<{ name: string; was: number; now: number }>({
  code: 'SL1208',
  severity: 'warning',
  title: 'The API server port of a sandbox changed',
  message: ({ name, was, now }) => `port ${was} of sandbox ${name} is in use; it now listens on ${now}`,
  remedy: () => 'no action needed for its kubeconfig file, which was updated; replace copies of it',
  description: `Another process took the port while the sandbox was stopped.`,
  example: { name: 'default', was: 40123, now: 40991 },
})

export const programFailed = problem<{ program: string; reason: string; log: string }>({
  code: 'SL1209',
  severity: 'error',
  title: 'A program of the sandbox did not become ready',
  message: ({ program, reason }) => `${program} ${reason}`,
  remedy: ({ log }) => `check its log (${log}); retry, or delete the data with \`stackloom sandbox reset\``,
  description: `The sandbox starts its programs in order and waits for each. One of them exited or did not become ready in time. The last lines
of its log usually show the reason. All programs were stopped again.`,
  example: {
    program: 'etcd',
    reason: 'exited with code 1: panic: freepages: failed to get all reachable pages',
    log: '~/.local/state/stackloom/sandboxes/default/logs/etcd.log',
  },
})

export const namespaceUnavailable = problem<{ reason: string }>({
  code: 'SL1210',
  severity: 'error',
  title: 'A network namespace cannot be created',
  message: ({ reason }) => `--netns: this user cannot create a network namespace: ${reason}`,
  remedy: () => 'run as root, allow unprivileged user namespaces, or start without --netns',
  description: `\`--netns\` runs the whole sandbox in its own network, so that the fixed ports of MetalLB cannot conflict. This needs Linux,
\`unshare\` and \`ip\`, and either root or unprivileged user namespaces.`,
  example: { reason: 'unshare: unshare failed: Operation not permitted' },
})

export const metallbOnAllInterfaces = problem<{ ports: readonly number[] }>({
  code: 'SL1211',
  severity: 'info',
  title: 'MetalLB listens on all interfaces',
  message: ({ ports }) => `MetalLB listens on port${ports.length > 1 ? 's' : ''} ${ports.join(', ')} of all interfaces`,
  remedy: () => 'start with --netns to isolate it from your network',
  description: `All other programs of a sandbox listen on loopback only. MetalLB has no flag for the listen address of its metrics and its
admission webhooks, so without \`--netns\` these are reachable from other machines unless a firewall blocks them.`,
  example: { ports: [7472, 9443] },
})

export const webhooksDisabled = problem<{ port: number }>({
  code: 'SL1212',
  severity: 'warning',
  title: "This sandbox runs without MetalLB's admission webhooks",
  message: ({ port }) => `port ${port} is in use, so this sandbox runs without MetalLB's admission webhooks`,
  remedy: () => 'start it with --netns, or stop the other sandbox first; until then overlapping pools are not rejected',
  description: `The admission webhooks of MetalLB always listen on port 9443, which a second sandbox without \`--netns\` cannot use. Addresses are
still assigned; only the validation of pools, advertisements and peers is missing.`,
  example: { port: 9443 },
})

export const unknownSandbox = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1213',
  severity: 'error',
  title: 'The sandbox does not exist',
  message: ({ name, known }) =>
    `there is no sandbox ${name}${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}`,
  remedy: ({ name }) => `create it with \`stackloom sandbox start --name ${name}\``,
  description: `A sandbox exists from its first start until \`reset\`. A stopped sandbox keeps its data.`,
  example: { name: 'other', known: ['default'] },
})

export const settingsConflict = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1214',
  severity: 'error',
  title: 'A sandbox exists with other settings',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} has ${setting} ${has}, which was set at its first start and cannot be changed to ${asked}`,
  remedy: ({ name }) =>
    `omit the option, choose another --name, or delete the sandbox with \`stackloom sandbox reset --name ${name}\``,
  description: `CRDs of different sets have the same names, so a cluster keeps one set. Changing the set would delete every object of the other
set.`,
  example: { name: 'default', setting: '--crds', has: 'today', asked: '2023' },
})

export const badSandboxName = problem<{ name: string }>({
  code: 'SL1215',
  severity: 'error',
  title: 'The sandbox name is invalid',
  message: ({ name }) => `'${name}' is not a valid sandbox name`,
  remedy: () => 'use up to 40 lower-case letters, digits and dashes, starting with a letter',
  description: `The name is used for a folder and in the path of a socket.`,
  example: { name: '../etc' },
})

export const missingAsset = problem<{ folder: string; program: string }>({
  code: 'SL1216',
  severity: 'error',
  title: 'KUBEBUILDER_ASSETS lacks a program',
  message: ({ folder, program }) => `KUBEBUILDER_ASSETS is ${folder}, which contains no program ${program}`,
  remedy: () => 'correct the variable, or unset it to build the pinned programs',
  description: `\`KUBEBUILDER_ASSETS\` is a folder with kube-apiserver and etcd that replace the pinned programs.`,
  example: { folder: '/usr/local/kubebuilder/bin', program: 'etcd' },
})

export const damagedState = problem<{ name: string; folder: string; reason: string }>({
  code: 'SL1217',
  severity: 'error',
  title: 'The state of a sandbox cannot be read',
  message: ({ name, folder, reason }) => `the state of sandbox ${name} in ${folder} is damaged: ${reason}`,
  remedy: ({ name }) =>
    `delete the sandbox with \`stackloom sandbox reset --name ${name}\` and start it again; its data is lost`,
  description: `\`sandbox.json\` or a certificate in the folder of the sandbox is missing or unreadable.`,
  example: { name: 'default', folder: '~/.local/state/stackloom/sandboxes/default', reason: 'not JSON' },
})

export const supervisorUnresponsive = problem<{ name: string; log: string; reason: string }>({
  code: 'SL1218',
  severity: 'error',
  title: 'The supervisor of a sandbox does not answer',
  message: ({ name, reason }) => `the supervisor of sandbox ${name} does not answer: ${reason}`,
  remedy: ({ name, log }) =>
    `check ${log}; run \`stackloom sandbox stop --name ${name}\` to stop the remaining processes`,
  description: `Each running sandbox has one supervisor process that starts its programs, restarts them after a crash, and stops them. When it
exits, its programs exit too.`,
  example: { name: 'default', log: 'supervisor.log', reason: 'exited with code 1' },
})

export const unknownActor = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1219',
  severity: 'error',
  title: 'The actor does not exist',
  message: ({ name, known }) => `there is no actor '${name}'; there are: ${known.join(', ')}`,
  remedy: () => 'correct --actors',
  description: `Actors simulate the operators that cannot run in the sandbox.`,
  example: { name: 'nmstat', known: ['nmstate', 'olm'] },
})

export const runningWithOtherSettings = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1220',
  severity: 'error',
  title: 'A sandbox runs with other settings than requested',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} is running with ${setting} ${has}, requested is ${asked}`,
  remedy: ({ name }) => `stop it (\`stackloom sandbox stop --name ${name}\` keeps its data), then start it again`,
  description: `The network, the port and the actors of a sandbox are set when it starts. A start without these options does not change a
running sandbox.`,
  example: { name: 'default', setting: '--actors', has: 'none', asked: 'nmstate,olm' },
})

export const startInterrupted = problem<{ name: string }>({
  code: 'SL1221',
  severity: 'error',
  title: 'The start of a sandbox was interrupted',
  message: ({ name }) => `the start of sandbox ${name} was interrupted; its programs were stopped again`,
  remedy: () => 'run the same command again',
  description: `Ctrl-C stops the programs that were already running, in order. The data of the sandbox is not affected.`,
  example: { name: 'default' },
})
