/** The option `--fleet` of commands that can run at every site of a fleet. Its work is loaded when it is used. */
import type { Command } from 'commander'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import type { Io } from '../io.ts'
import type { Format } from '../output/format.ts'

export interface FleetFlags {
  readonly fleet?: string
  readonly output: Format
}

/** The commands that print one row per site. */
export type FleetCommand = 'status' | 'verify' | 'doctor' | 'hosts' | 'certificates' | 'plan'

/** The fleet file has these for each site. */
const PER_SITE = ['file', 'lock', 'context', 'kubeconfig', 'from']

/** `others` are options that have no meaning for several sites, such as one file that all would write. */
export function withFleetFlag(command: Command, others: readonly string[] = []): Command {
  return command
    .option('--fleet <file>', 'do it at every site of this fleet file; worst first')
    .hook('preAction', (owner) => {
      if (owner.getOptionValue('fleet') === undefined) return
      const given = [...PER_SITE, ...others].find((name) => owner.getOptionValueSource(name) === 'cli')
      if (given === undefined) return
      const reason = `--fleet excludes --${toDashes(given)}`
      throw failure(wrongUse, { reason, command: `stackloom ${owner.name()}` })
    })
}

/** commander's `dryRun` as users write it: `dry-run`. */
function toDashes(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Runs the command at every site with `--fleet`, and once without it. */
export async function runOrFleet<O extends FleetFlags>(
  command: FleetCommand,
  options: O,
  io: Io,
  run: (options: O, io: Io) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (options.fleet === undefined) return run(options, io)
  const { runAtSites } = await import('./run-at-sites.ts')
  return runAtSites(command, options, io, run)
}
