/** Reads the fleet file, and runs a command at one of its sites with the site's options in place of the user's. */
import path from 'node:path'
import type { FleetSite } from '../../api/fleet.ts'
import { type ExitCode, Failure } from '../../errors/failure.ts'
import { type Finding, hasErrors } from '../../errors/finding.ts'
import { type Fleet, readFleet } from '../../fleet/read-fleet.ts'
import type { SiteOutcome, SiteResult } from '../../fleet/site-outcome.ts'
import { readInput } from '../files.ts'
import type { Io } from '../io.ts'
import type { FleetFlags } from './fleet-option.ts'

export interface OpenedFleet extends Fleet {
  /** Warnings: a fleet with errors is refused. */
  readonly findings: readonly Finding[]
}

export async function openFleet(file: string, io: Io): Promise<OpenedFleet> {
  const { fleet, findings } = readFleet(await readInput(file, io), file)
  if (!fleet || hasErrors(findings)) throw new Failure(findings, 2)
  // The client takes a relative path from the folder of the process.
  const sites = fleet.sites.map(({ kubeconfig, ...site }) => {
    return { ...site, ...(kubeconfig !== undefined && { kubeconfig: path.resolve(io.cwd, kubeconfig) }) }
  })
  return { ...fleet, sites, findings }
}

/** The options of a site in place of those that the command line has for one site. */
export function siteOptions<O extends FleetFlags>(options: O, { file, lock, context, kubeconfig }: FleetSite): O {
  const { fleet: _, ...others } = options
  return {
    ...others,
    file,
    ...(lock !== undefined && { lock }),
    ...(context !== undefined && { context }),
    ...(kubeconfig !== undefined && { kubeconfig }),
    output: 'json',
  } as unknown as O
}

/** Runs at one site; a failure is its outcome, not the end of the fleet. `stderr` gets the progress, if it is shown. */
export async function runAtSite(
  { name }: FleetSite,
  io: Io,
  run: (io: Io) => Promise<ExitCode>,
  stderr: (text: string) => void = () => undefined,
): Promise<SiteOutcome> {
  let printed = ''
  const atSite = Object.create(io, {
    stdout: { value: (text: string) => void (printed += text) },
    stderr: { value: stderr },
    alert: { value: undefined },
    verbose: { value: io.verbose && ((text: string) => io.verbose?.(`${name}: ${text}`)) },
    terminal: { value: undefined },
    // Several sites cannot ask at once.
    interactive: { value: false },
  }) as Io
  try {
    const exitCode = await run(atSite)
    return { site: name, exitCode, result: printed === '' ? {} : (JSON.parse(printed) as SiteResult) }
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    return { site: name, exitCode: thrown.exitCode, result: { findings: thrown.findings } }
  }
}
