/** SL12xx: building, starting and stopping the sandbox. */
import { problem } from '../errors/finding.ts'

export const goMissing = problem<{ needed: readonly string[]; reason: string }>({
  code: 'SL1200',
  severity: 'error',
  title: 'The Go toolchain is missing',
  message: ({ needed, reason }) => `cannot build ${needed.join(', ')}: Go cannot be run (${reason})`,
  remedy: () =>
    'install Go 1.25 or newer (Debian: `apt install golang-go` from backports, or go.dev/dl) and run this again; ' +
    'or, for the API server and etcd alone, set KUBEBUILDER_ASSETS to a folder that holds kube-apiserver and etcd',
  description: `The sandbox runs the real programs, built once on this machine from pinned sources, and that takes Go.
\`KUBEBUILDER_ASSETS\` (as \`setup-envtest\` prints it) replaces the API server and etcd only; the controller
manager, MetalLB and the CRD modules still come through Go. What was built before is used without Go.`,
  example: { needed: ['kube-apiserver', 'etcd'], reason: 'spawn go ENOENT' },
})

export const buildFailed = problem<{ programs: readonly string[]; reason: string }>({
  code: 'SL1201',
  severity: 'error',
  title: 'A program of the sandbox cannot be built',
  message: ({ programs, reason }) => `building ${programs.join(', ')} failed: ${reason}`,
  remedy: () => 'read the reason above; run the same command again, it goes on from where it stopped',
  description: `The compiler, or the download of a module, failed. What was compiled so far is kept in Go's own build cache,
so the next run repeats only what is missing. A proxy or an offline machine is the usual cause of a failed download:
see \`go env GOPROXY\`.`,
  example: { programs: ['etcd'], reason: 'dial tcp: lookup of the module proxy failed' },
})

export const buildInterrupted = problem<{ programs: readonly string[] }>({
  code: 'SL1202',
  severity: 'error',
  title: 'A build of the sandbox was interrupted',
  message: ({ programs }) => `the build of ${programs.join(', ')} was interrupted`,
  remedy: () => 'run the same command again: it goes on from where it stopped',
  description: `The build was cancelled. Nothing half-made is ever used: a program appears in the cache by one rename, when it
is whole and its checksum is written down.`,
  example: { programs: ['kube-apiserver', 'kube-controller-manager'] },
})

export const damagedCache = problem<{ what: string; folder: string; reason: string }>({
  code: 'SL1203',
  severity: 'warning',
  title: 'Something in the cache folder is damaged',
  message: ({ what, folder, reason }) => `${what} in ${folder} is damaged (${reason}); it is made again`,
  remedy: () => 'nothing: it repairs itself. If this comes back, check the disk',
  description: `Every program and every set of CRDs in the cache has its size and checksum beside it. What does not match, or
was left half-made by a crash, is removed and made again.`,
  example: { what: 'etcd', folder: '~/.cache/stackloom/programs', reason: '12 bytes instead of 26640649' },
})

export const wrongModuleSum = problem<{ module: string; expected: string; actual: string }>({
  code: 'SL1204',
  severity: 'error',
  title: 'A module that carries CRDs is not the pinned one',
  message: ({ module, expected, actual }) => `${module} has the sum ${actual}, pinned is ${expected}`,
  remedy: () => 'run it again: what was fetched is thrown away. If the sum stays wrong, do not trust your module proxy',
  description: `CRDs decide what the API server accepts, so they come from modules pinned by version and checksum. Another sum
means another content: a damaged download, or a proxy that serves something else.`,
  example: { module: 'github.com/metallb/metallb@v0.15.3', expected: 'h1:+NaI…', actual: 'h1:AAAA…' },
})

export const moduleUnavailable = problem<{ module: string; reason: string }>({
  code: 'SL1205',
  severity: 'error',
  title: 'A module that carries CRDs cannot be fetched',
  message: ({ module, reason }) => `cannot fetch ${module}: ${reason}`,
  remedy: () => 'check the network and `go env GOPROXY`, and run it again',
  description: `The CRDs of other projects are taken from their own Go modules, once, and kept in the cache as JSON.`,
  example: { module: 'github.com/metallb/metallb@v0.15.3', reason: 'the proxy answered 404' },
})

export const diskFull = problem<{ folder: string; doing: string }>({
  code: 'SL1206',
  severity: 'error',
  title: 'The disk is full',
  message: ({ folder, doing }) => `no space left in ${folder} while ${doing}`,
  remedy: ({ folder }) =>
    `free some space there, or choose another place with XDG_CACHE_HOME and XDG_STATE_HOME (now below ${folder}), ` +
    'and run it again',
  description: `The programs take about 0.5 GB in the cache folder (and Go's own build cache about 2.5 GB while they are
compiled); a sandbox takes about 0.2 GB in the state folder. Nothing half-written is used later.`,
  example: { folder: '~/.local/state/stackloom', doing: 'starting etcd' },
})

export const portInUse = problem<{ port: number; what: string }>({
  code: 'SL1207',
  severity: 'error',
  title: 'A port is in use',
  message: ({ port, what }) => `port ${port}, which ${what} needs, is in use on this machine`,
  remedy: ({ port }) => `stop who listens there (\`ss -ltnp 'sport = :${port}'\`), or leave out --port`,
  description: `Without \`--port\` a sandbox takes a free port, and keeps it as long as it can, so that its kubeconfig stays
good. A port that was asked for by number is never exchanged for another one.`,
  example: { port: 6443, what: 'the API server' },
})

export const apiPortChanged = problem<{ name: string; was: number; now: number }>({
  code: 'SL1208',
  severity: 'warning',
  title: 'The API server of a sandbox has another port than before',
  message: ({ name, was, now }) => `port ${was} of sandbox ${name} is in use; it listens on ${now} now`,
  remedy: () => 'nothing, if you use its kubeconfig file: it was rewritten. Copies of it are out of date',
  description: `Somebody else took the port while the sandbox was stopped.`,
  example: { name: 'default', was: 40123, now: 40991 },
})

export const programFailed = problem<{ program: string; reason: string; log: string }>({
  code: 'SL1209',
  severity: 'error',
  title: 'A program of the sandbox did not become ready',
  message: ({ program, reason }) => `${program} ${reason}`,
  remedy: ({ log }) => `read its log (${log}); start again, or start from nothing with \`stackloom sandbox reset\``,
  description: `The sandbox starts the programs one after another and waits for each. One of them ended, or said nothing for
too long. The last lines of its log most often say why. Everything that had been started was stopped again.`,
  example: {
    program: 'etcd',
    reason: 'exited with code 1: panic: freepages: failed to get all reachable pages',
    log: '~/.local/state/stackloom/sandboxes/default/logs/etcd.log',
  },
})

export const namespaceUnavailable = problem<{ reason: string }>({
  code: 'SL1210',
  severity: 'error',
  title: 'A network namespace cannot be made here',
  message: ({ reason }) => `--netns: this user cannot make a network namespace: ${reason}`,
  remedy: () => 'run as root, allow unprivileged user namespaces, or start without --netns',
  description: `\`--netns\` gives the whole sandbox a network of its own, so that MetalLB's fixed ports clash with nobody. That
takes Linux, \`unshare\` and \`ip\`, and either root or unprivileged user namespaces.`,
  example: { reason: 'unshare: unshare failed: Operation not permitted' },
})

export const metallbOnAllInterfaces = problem<{ ports: readonly number[] }>({
  code: 'SL1211',
  severity: 'info',
  title: 'MetalLB listens on all interfaces',
  message: ({ ports }) => `MetalLB listens on port${ports.length > 1 ? 's' : ''} ${ports.join(', ')} of all interfaces`,
  remedy: () => 'start with --netns to keep everything off your network',
  description: `Everything else in a sandbox listens on loopback only. MetalLB has no flag for the address of its metrics and
its admission, so without \`--netns\` these are reachable from outside, as far as a firewall lets them.`,
  example: { ports: [7472, 9443] },
})

export const webhooksDisabled = problem<{ port: number }>({
  code: 'SL1212',
  severity: 'warning',
  title: "This sandbox runs without MetalLB's admission",
  message: ({ port }) => `port ${port} is in use, so this sandbox runs without MetalLB's admission webhooks`,
  remedy: () => 'start it with --netns, or stop the other sandbox first: overlapping pools are not refused here',
  description: `MetalLB's admission listens on port 9443, fixed. A second sandbox without \`--netns\` finds it taken. Addresses
are still given out; only the checks on pools, advertisements and peers are missing.`,
  example: { port: 9443 },
})

export const unknownSandbox = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1213',
  severity: 'error',
  title: 'There is no such sandbox',
  message: ({ name, known }) =>
    `there is no sandbox ${name}${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}`,
  remedy: ({ name }) => `make it with \`stackloom sandbox start --name ${name}\``,
  description: `A sandbox exists from its first start until \`reset\`. Its data is kept while it is stopped.`,
  example: { name: 'other', known: ['default'] },
})

export const settingsConflict = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1214',
  severity: 'error',
  title: 'A sandbox exists with other settings',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} has ${setting} ${has}, and ${asked} was asked for; that is decided at its first start`,
  remedy: ({ name }) =>
    `leave the option out, choose another --name, or start over with \`stackloom sandbox reset --name ${name}\``,
  description: `CRDs of two sets share names, so a cluster holds one set for its whole life. A change would mean deleting
every object of the other set.`,
  example: { name: 'default', setting: '--crds', has: 'today', asked: '2023' },
})

export const badSandboxName = problem<{ name: string }>({
  code: 'SL1215',
  severity: 'error',
  title: 'Not a name for a sandbox',
  message: ({ name }) => `'${name}' cannot be the name of a sandbox`,
  remedy: () => 'use up to 40 lower-case letters, digits and dashes, beginning with a letter',
  description: `The name becomes a folder and part of a socket's path.`,
  example: { name: '../etc' },
})

export const missingAsset = problem<{ folder: string; program: string }>({
  code: 'SL1216',
  severity: 'error',
  title: 'KUBEBUILDER_ASSETS has no such program',
  message: ({ folder, program }) => `KUBEBUILDER_ASSETS is ${folder}, and there is no program ${program} in it`,
  remedy: () => 'correct the variable, or unset it to build the pinned programs',
  description: `\`KUBEBUILDER_ASSETS\` names the folder of a kube-apiserver and an etcd to use in place of ours.`,
  example: { folder: '/usr/local/kubebuilder/bin', program: 'etcd' },
})

export const damagedState = problem<{ name: string; folder: string; reason: string }>({
  code: 'SL1217',
  severity: 'error',
  title: 'The state of a sandbox cannot be read',
  message: ({ name, folder, reason }) => `the state of sandbox ${name} in ${folder} is damaged: ${reason}`,
  remedy: ({ name }) => `start over with \`stackloom sandbox reset --name ${name}\`: its data is lost`,
  description: `\`sandbox.json\` or a certificate in the sandbox's folder is missing or no longer readable.`,
  example: { name: 'default', folder: '~/.local/state/stackloom/sandboxes/default', reason: 'not JSON' },
})

export const supervisorUnresponsive = problem<{ name: string; log: string; reason: string }>({
  code: 'SL1218',
  severity: 'error',
  title: 'The process that watches a sandbox does not answer',
  message: ({ name, reason }) => `the supervisor of sandbox ${name} does not answer: ${reason}`,
  remedy: ({ name, log }) => `see ${log}; \`stackloom sandbox stop --name ${name}\` ends what is left`,
  description: `Each running sandbox has one process that starts its programs, restarts those that crash, and ends them. When
it ends, they end with it.`,
  example: { name: 'default', log: 'supervisor.log', reason: 'it ended with code 1' },
})

export const unknownActor = problem<{ name: string; known: readonly string[] }>({
  code: 'SL1219',
  severity: 'error',
  title: 'There is no such actor',
  message: ({ name, known }) => `there is no actor '${name}'; there are: ${known.join(', ')}`,
  remedy: () => 'correct --actors',
  description: `Actors play, in the sandbox, the operators that cannot run there.`,
  example: { name: 'nmstat', known: ['nmstate', 'olm'] },
})

export const runningWithOtherSettings = problem<{ name: string; setting: string; has: string; asked: string }>({
  code: 'SL1220',
  severity: 'error',
  title: 'A sandbox runs in another way than asked for',
  message: ({ name, setting, has, asked }) =>
    `sandbox ${name} is running with ${setting} ${has}, and ${asked} was asked for`,
  remedy: ({ name }) =>
    `stop it first (\`stackloom sandbox stop --name ${name}\`, its data is kept), then start it again`,
  description: `Its network, its port and its actors are decided when a sandbox starts. A start without these options leaves a
running sandbox as it is.`,
  example: { name: 'default', setting: '--actors', has: 'none', asked: 'nmstate,olm' },
})

export const startInterrupted = problem<{ name: string }>({
  code: 'SL1221',
  severity: 'error',
  title: 'The start of a sandbox was interrupted',
  message: ({ name }) => `the start of sandbox ${name} was interrupted; what had been started was stopped again`,
  remedy: () => 'run the same command again',
  description: `Ctrl-C ends the programs that were already running, in order. The sandbox's data is as good as before.`,
  example: { name: 'default' },
})
