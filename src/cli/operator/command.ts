/** `stackloom operator`: the controllers and webhooks that clouds need. */
import { type Command, Option } from 'commander'
import { withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import type { InstallOptions } from './install.ts'
import { parsePartNames, parsePort, parseReplicas, parseRunTimeLimit, type RunOptions } from './options.ts'

export function define(command: Command, context: CommandContext): void {
  defineInstall(command, context)
  defineRun(command, context)
  defineCrds(command, context)
}

function defineInstall(command: Command, { io, act }: CommandContext): void {
  const install = command
    .command('install')
    .description('Put definitions, rights, Deployment and webhooks of the operator into a cluster')
  withExamples(withClusterFlags(install), [
    'stackloom operator install --image registry.example.org/stackloom:0.1.0',
    'stackloom operator install --image IMAGE --dry-run > operator.yaml   # for GitOps',
  ])
    .requiredOption('--image <image>', 'the image to run; the repository has a Containerfile')
    .option('--replicas <count>', 'pods: one works, the others answer webhooks and wait', parseReplicas, 2)
    .option(
      '--parts <names>',
      'only these parts: ipam, dns, dataplane; all that fit in the cluster unless said',
      parsePartNames,
    )
    .option('--dry-run', 'print what would be applied, and change nothing')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: InstallOptions) => act(async () => (await import('./install.ts')).install(options, io)))
}

function defineRun(command: Command, { io, act }: CommandContext): void {
  const run = command.command('run').description('Run the controllers and webhooks until told to stop')
  withExamples(withClusterFlags(run), [
    'stackloom operator run                                  # no webhooks are registered',
    'stackloom operator run --webhook-url https://10.0.0.5:9443',
    'stackloom operator run -n stackloom-operator --webhook-service stackloom-webhook   # in a pod',
    'stackloom operator run --observe                        # beside infra-operator',
  ])
    .option('--webhook-url <url>', 'register the webhooks under this address, which the API server can reach')
    .option('--webhook-service <name>', 'serve the webhooks that `operator install` registered behind this Service')
    .option('--cert-dir <folder>', 'tls.crt, tls.key and ca.crt for the webhooks; new ones are used at once')
    .option('--webhook-port <port>', 'where webhooks are served', parsePort, 9443)
    .option('--health-port <port>', 'where /healthz, /readyz and /metrics are served', parsePort, 8081)
    .option('--bind <address>', 'the address of this machine to listen on', '0.0.0.0')
    .option('--observe', 'leave the work to infra-operator: tell causes as Events and figures, write nothing else')
    .option(
      '--parts <names>',
      'only these parts: ipam, dns, dataplane; all that fit in the cluster unless said',
      parsePartNames,
    )
    .addOption(
      new Option('--runs <way>', 'where Ansible runs: as Jobs of the cluster, or on this machine')
        .choices(['jobs', 'local'])
        .default('jobs'),
    )
    .option(
      '--run-time-limit <duration>',
      'after so long a run of Ansible is ended: 90s, 1h30m; 1h unless said',
      parseRunTimeLimit,
    )
    .option('--no-leader-election', 'work at once, whoever else does: safe, and slower for both')
    .action((options: RunOptions) => act(async () => (await import('./run.ts')).runCommand(options, io)))
}

interface CrdOptions {
  readonly all?: boolean
  readonly parts?: readonly string[]
  readonly output: Format
}

function defineCrds(command: Command, { io, act }: CommandContext): void {
  const crds = command.command('crds').description('The CustomResourceDefinitions that the operator needs')
  withExamples(crds, [
    'stackloom operator crds | kubectl apply --server-side -f -        # beside those of upstream',
    'stackloom operator crds --all | kubectl apply --server-side -f -  # where upstream has none',
    'stackloom operator crds --parts dataplane                         # roles, nodes and services',
  ])
    .option('--all', 'those that upstream has, too')
    .option('--parts <names>', 'only of these parts; of those that fit in every cluster unless said', parsePartNames)
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .action((options: CrdOptions) =>
      act(async () => {
        const { crdsForParts } = await import('../../operator/crds.ts')
        const { formatYamlStream } = await import('./stream.ts')
        const { own, upstream } = crdsForParts(options.parts)
        const all = options.all ? [...upstream, ...own] : own
        const { output } = options
        io.stdout(output === 'json' ? await serialise(all, output) : await formatYamlStream(all))
        return 0
      }),
    )
}
