/** `stackloom operator`: the controllers and webhooks that clouds need. */
import type { Command } from 'commander'
import type { KubeObject } from '../../api/object.ts'
import { withClusterFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { portOf, type RunOptions } from './options.ts'

export function define(command: Command, context: CommandContext): void {
  defineRun(command, context)
  defineCrds(command, context)
}

function defineRun(command: Command, { io, act }: CommandContext): void {
  const run = command.command('run').description('Run the controllers and webhooks until told to stop')
  withExamples(withClusterFlags(run), [
    'stackloom operator run                                  # no webhooks are registered',
    'stackloom operator run --webhook-url https://10.0.0.5:9443',
    'stackloom operator run -n stackloom-system --webhook-service stackloom-webhook   # in a pod',
  ])
    .option('--webhook-url <url>', 'register the webhooks under this address, which the API server can reach')
    .option('--webhook-service <name>', 'register the webhooks behind this Service of the own namespace')
    .option('--cert-dir <folder>', 'tls.crt, tls.key and ca.crt for the webhooks; a new pair is used at once')
    .option('--webhook-port <port>', 'where webhooks are served', portOf, 9443)
    .option('--health-port <port>', 'where /healthz, /readyz and /metrics are served', portOf, 8081)
    .option('--bind <address>', 'the address of this machine to listen on', '0.0.0.0')
    .option('--no-leader-election', 'work at once, whoever else does: safe, and slower for both')
    .action((options: RunOptions) => act(async () => (await import('./run.ts')).runOperator(options, io)))
}

function defineCrds(command: Command, { io, act }: CommandContext): void {
  const crds = command.command('crds').description('The CustomResourceDefinitions that the operator needs')
  withExamples(crds, [
    'stackloom operator crds | kubectl apply --server-side -f -          # beside those of upstream',
    'stackloom operator crds --network | kubectl apply --server-side -f - # where upstream has none',
  ])
    .option('--network', 'NetConfig, IPSet and Reservation too')
    .addOption(outputOption(['yaml', 'json'], 'yaml'))
    .action((options: { readonly network?: boolean; readonly output: Format }) =>
      act(async () => {
        const { ledgerCrds, networkCrds } = await import('./crds.ts')
        const all = options.network ? [...networkCrds, ...ledgerCrds] : ledgerCrds
        const { output } = options
        io.stdout(output === 'json' ? await serialise(all, output) : await stream(all))
        return 0
      }),
    )
}

/** One YAML stream, as kubectl reads it. */
async function stream(objects: readonly KubeObject[]): Promise<string> {
  const texts = await Promise.all(objects.map((one) => serialise(one, 'yaml')))
  return texts.map((text) => `---\n${text}`).join('')
}
