/** Defines `stackloom operator`: installs and runs the controllers and webhooks that clouds need. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { parseDuration } from '../duration.ts'
import { type Format, outputOption, serialiseObjects } from '../output/format.ts'
import type { InstallOptions } from './install.ts'
import type { RunOptions } from './run.ts'
import type { UninstallOptions } from './uninstall.ts'

const PARTS_HELP =
  'select parts: ipam, dns, dataplane, hosts, addresses, certificates, backups; by default all that the cluster supports'

export function define(command: Command, context: CommandContext): void {
  defineInstall(command, context)
  defineUninstall(command, context)
  defineRun(command, context)
  defineCrds(command, context)
}

function defineInstall(command: Command, { io, act }: CommandContext): void {
  const install = command
    .command('install')
    .description('Install the CRDs, permissions, Deployment and webhooks of the operator in a cluster')
  withExamples(withClusterFlags(install), [
    'stackloom operator install --image registry.example.org/stackloom:0.1.0',
    'stackloom operator install --image IMAGE --dry-run > operator.yaml   # for GitOps',
  ])
    .requiredOption('--image <image>', 'run this image; the repository has a Containerfile')
    .option('--replicas <count>', 'run so many pods: one leads, all serve webhooks', parseReplicas, 2)
    .option('--parts <names>', PARTS_HELP, parsePartNames)
    .option('--console', 'also serve the console, for a proxy in the pod that signs users in')
    .option('--dry-run', 'print what would be applied, and change nothing')
    .addOption(outputOption(['table', 'json', 'yaml']))
  withPolicyOptions(install).action((options: InstallOptions) =>
    act(async () => (await import('./install.ts')).install(options, io)),
  )
}

function defineUninstall(command: Command, { io, act }: CommandContext): void {
  const uninstall = command
    .command('uninstall')
    .description('Delete what `operator install` applied; CRDs and their objects are kept')
  withExamples(withClusterFlags(uninstall), [
    'stackloom operator uninstall',
    'stackloom operator uninstall --yes --delete-crds             # and the CRDs that have no objects',
    'stackloom operator uninstall --yes --delete-objects   # and all NetConfigs, IPSets, nodes, …',
  ])
    .option('--delete-crds', 'delete the CRDs that `operator install` applied, where they have no objects')
    .option('--delete-objects', 'delete these CRDs with all of their objects, in every namespace')
    .option('--yes', 'do not ask')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: UninstallOptions) => act(async () => (await import('./uninstall.ts')).uninstall(options, io)))
}

function defineRun(command: Command, { io, act }: CommandContext): void {
  const run = command.command('run').description('Run the controllers and webhooks until interrupted')
  withExamples(withClusterFlags(run), [
    'stackloom operator run                                  # without webhooks',
    'stackloom operator run --webhook-url https://10.0.0.5:9443',
    'stackloom operator run -n stackloom-operator --webhook-service stackloom-webhook   # in a pod',
    'stackloom operator run --observe                        # in a cluster with infra-operator',
  ])
    .option('--webhook-url <url>', 'register the webhooks with this address, which the API server can reach')
    .option('--webhook-service <name>', 'serve the webhooks that `operator install` registered behind this Service')
    .option('--cert-dir <dir>', 'read tls.crt, tls.key and ca.crt of the webhooks here; changes are picked up')
    .option('--webhook-port <port>', 'serve webhooks on this port', parsePort, 9443)
    .option(
      '--health-port <port>',
      'serve /healthz and /readyz on this port; /metrics too with a loopback --bind',
      parsePort,
      8081,
    )
    .option('--console', 'serve the console on loopback, for a proxy that signs users in and sends their bearer tokens')
    .option('--console-port <port>', 'serve the console on this port of 127.0.0.1', parsePort, 8082)
    .option('--bind <address>', 'listen on this address of the machine', '0.0.0.0')
    .option('--observe', 'leave the work to infra-operator: only record causes as Events and serve metrics')
    .option('--parts <names>', PARTS_HELP, parsePartNames)
    .addOption(
      new Option('--runs <way>', 'run Ansible as Jobs of the cluster, or on this machine')
        .choices(['jobs', 'local'])
        .default('jobs'),
    )
    .option(
      '--run-time-limit <duration>',
      'terminate an Ansible run after this time, such as 90s or 1h30m; 1h by default',
      parseRunTimeLimit,
    )
    .option(
      '--shutdown-delay <duration>',
      'go on for this time after SIGTERM, while connections still arrive; 5s with --webhook-service, otherwise 0s',
      parseShutdownDelay,
    )
    .option('--no-leader-election', 'start without waiting for leadership: safe with several operators, but slower')
  withPolicyOptions(run, 'or-environment').action((options: RunOptions) =>
    act(async () => (await import('./run.ts')).runCommand(options, io)),
  )
}

interface CrdOptions {
  readonly all?: boolean
  readonly parts?: readonly string[]
  readonly output: Format
}

function defineCrds(command: Command, { io, act }: CommandContext): void {
  const crds = command.command('crds').description('Print the CustomResourceDefinitions that the operator needs')
  withExamples(crds, [
    'stackloom operator crds | kubectl apply --server-side -f -        # where upstream is installed',
    'stackloom operator crds --all | kubectl apply --server-side -f -  # where it is not',
    'stackloom operator crds --parts dataplane                         # roles, nodes and services',
  ])
    .option('--all', 'include those that upstream provides')
    .option('--parts <names>', 'select parts; by default those that every cluster supports', parsePartNames)
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .action(({ all, parts, output }: CrdOptions) =>
      act(async () => {
        const { crdsForParts } = await import('../../operator/parts.ts')
        const { formatYamlStream } = await import('./install.ts')
        const sets = crdsForParts(parts)
        const objects = all ? [...sets.upstream, ...sets.own] : sets.own
        io.stdout(output === 'json' ? await serialiseObjects(objects) : await formatYamlStream(objects))
        return 0
      }),
    )
}

/** `90s`, `1h30m` */
function parseRunTimeLimit(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined || ms < 1_000) throw new InvalidArgumentError('a duration such as 90s or 1h30m')
  return ms
}

function parseShutdownDelay(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('a duration such as 5s')
  return ms
}

/** 0 selects any free port. */
function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number up to 65535')
  return port
}

interface PolicyOption {
  readonly flags: string
  readonly description: string
  readonly parse?: (text: string) => readonly string[]
  /** For a pod whose arguments cannot be changed: OLM passes only the environment of a Subscription. */
  readonly variable?: string
}

/** What an administrator allows to the authors of NetConfigs, roles, nodes and runs. */
const policyOptions: readonly PolicyOption[] = [
  {
    flags: '--namespaces <names>',
    description: 'serve only these namespaces, with rights in no other',
    parse: parseNames,
  },
  {
    flags: '--segment-owners <pairs>',
    description:
      'give addresses of a segment only to its namespaces: vlan-20=openstack,untagged=openstack2; * is every other segment',
    parse: parseSegmentOwners,
    variable: 'STACKLOOM_SEGMENT_OWNERS',
  },
  {
    flags: '--machine-namespaces <names>',
    description: 'let nodes of every namespace claim machines of these namespaces',
    parse: parseNames,
    variable: 'STACKLOOM_MACHINE_NAMESPACES',
  },
  {
    flags: '--run-volumes <kinds>',
    description: 'let Ansible runs mount these kinds of volumes too, such as hostPath',
    parse: parseNames,
    variable: 'STACKLOOM_RUN_VOLUMES',
  },
  {
    flags: '--run-service-accounts <names>',
    description: 'let Ansible runs use these service accounts',
    parse: parseNames,
    variable: 'STACKLOOM_RUN_SERVICE_ACCOUNTS',
  },
  { flags: '--run-privileged', description: 'let Ansible runs be root and use any security context' },
]

function withPolicyOptions(command: Command, source?: 'or-environment'): Command {
  return policyOptions.reduce((changed, { flags, description, parse, variable }) => {
    const option = new Option(flags, description)
    if (parse) option.argParser(parse)
    if (variable !== undefined && source) option.env(variable)
    return changed.addOption(option)
  }, command)
}

/** A segment as AddressBlocks name it: the annotation of the NetConfig, if it has one, and the VLAN. */
const SEGMENT_OWNER = /^(?:\*|(?:.+\/)?(?:untagged|vlan-[1-9]\d{0,3}))=[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

function parseSegmentOwners(text: string): readonly string[] {
  const pairs = parseNames(text)
  const wrong = pairs.find((pair) => !SEGMENT_OWNER.test(pair))
  if (wrong === undefined) return pairs
  throw new InvalidArgumentError(`${wrong} is not a segment and a namespace, such as vlan-20=openstack`)
}

function parseNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}

/** `ipam,dns` */
function parsePartNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function parseReplicas(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a positive whole number')
  return Number(text)
}
