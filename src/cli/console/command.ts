/** Defines `stackloom console`: serves the page on loopback and prints a link that works once. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type ClusterFlags, withConnectionFlags } from '../cluster.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption } from '../output/format.ts'
import { repeatable } from '../repeatable.ts'
import { siteFileOption } from '../site-file.ts'

export interface ConsoleOptions extends ClusterFlags {
  readonly file: string
  readonly lock?: string
  readonly from?: string
  readonly run?: readonly string[]
  readonly lab?: string
  readonly fleet?: string
  readonly site?: string
  readonly prometheus?: string
  readonly port: number
  readonly open?: boolean
  readonly allowActions?: boolean
  readonly output: Format
}

/** The fleet file has these for each site. */
const PER_SITE = ['file', 'lock', 'context', 'kubeconfig', 'from']

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(withConnectionFlags(command), [
    'stackloom console                          # site.yaml, if there is one, and the cluster of your kubeconfig',
    'stackloom console -f site.yaml --open',
    'stackloom console --from must-gather/      # a folder of dumps instead of a cluster',
    'stackloom console --run run.jsonl          # replay what `up --events jsonl` printed',
    'stackloom console --fleet fleet.yaml --site paris',
    'stackloom console --allow-actions          # let the page start plan, verify, doctor, diff, up and down',
  ])
    .addOption(siteFileOption('site file to show; without one, only the cluster is shown'))
    .option('--lock <file>', 'lock file, if it is not beside the site file')
    .option('--from <dir>', 'read a folder of dumps instead of a live cluster')
    .option('--run <file>', 'show the run whose events are in this file; may be repeated', repeatable)
    .option('--lab <file>', 'show the lab of this file')
    .addOption(
      new Option('--fleet <file>', 'list the sites of this fleet file; the views show its first one').conflicts(
        PER_SITE,
      ),
    )
    .option('--site <name>', 'show this site of the fleet file')
    .option('--prometheus <url>', 'show the use of addresses before this console was started, from this Prometheus')
    .option('--port <port>', 'serve on this port of 127.0.0.1; 0 chooses a free one', parsePort, 0)
    .option('--open', 'open the page in your browser')
    .addOption(new Option('--read-only', 'start nothing from the page (the default)').conflicts('allowActions'))
    .option('--allow-actions', 'let the page start commands; up and down ask first')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((options: ConsoleOptions) => act(async () => (await import('./run-console.ts')).runConsole(options, io)))
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('a port is a number up to 65535')
  return port
}
