/** The interface of a command: a name and a summary for the list, and a module that is loaded only when it is used. */
import type { Command } from 'commander'
import type { ExitCode } from '../errors/failure.ts'
import type { RunOutcome } from '../run/events.ts'
import type { Io } from './io.ts'

/** Runs the body of a command; the number that it returns is the exit code of the program. */
export type Act = (work: () => Promise<ExitCode>) => Promise<void>

export interface CommandContext {
  readonly io: Io
  readonly act: Act
}

export interface CommandModule {
  /** Adds options, arguments, examples and the action to the command that `main` has created. */
  readonly define: (command: Command, context: CommandContext) => void
}

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** The heading of the command in the help. */
  readonly group?: string
  /** Left out of the list of commands. */
  readonly hidden?: boolean
  readonly load: () => Promise<CommandModule>
}

export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`)
}

/** Exit code of a run of stages. 130 is for Ctrl-C; a run that stopped for another reason has failed. */
export function runExitCode({ outcome }: { readonly outcome: RunOutcome }, { stop }: Pick<Io, 'stop'>): ExitCode {
  if (outcome === 'stopped') return stop.aborted ? 130 : 1
  return outcome === 'done' ? 0 : 1
}
