/** How the end of a run is told to the shell: the same for a site's deployment and a lab's. */
import type { ExitCode } from '../errors/failure.ts'
import type { RunOutcome } from '../run/events.ts'
import type { Io } from './io.ts'

/** 130 is for the one who pressed Ctrl-C; a run that had to stop has failed. */
export function runExitCode({ outcome }: { readonly outcome: RunOutcome }, { stop }: Pick<Io, 'stop'>): ExitCode {
  if (outcome === 'stopped') return stop.aborted ? 130 : 1
  return outcome === 'done' ? 0 : 1
}
