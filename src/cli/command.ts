/**
 * What a command is: a name and a line for the list, and a module that is loaded only when it is used.
 */
import type { Command } from 'commander'
import type { ExitCode } from '../errors/failure.ts'
import type { Io } from './io.ts'

/** Runs a command's body; its number is the program's exit code. */
export type Act = (work: () => Promise<ExitCode>) => Promise<void>

export interface CommandContext {
  readonly io: Io
  readonly act: Act
}

export interface CommandModule {
  /** Adds options, arguments, examples and the action to the command that `main` has made. */
  readonly define: (command: Command, context: CommandContext) => void
}

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  /** Not for people: the list does not show it. */
  readonly hidden?: boolean
  readonly load: () => Promise<CommandModule>
}

/** Examples come first in a person's eyes: they stand right below the usage line. */
export function withExamples(command: Command, examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}\n`)
}
