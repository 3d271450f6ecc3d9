/**
 * `stackloom __complete -- WORDS…`: prints completions for the scripts of the shells and for kubectl.
 *
 * The format is that of kubectl plugins: one suggestion per line, a tab, its description; the last line is a directive.
 */
import { Command } from 'commander'
import type { CommandContext, CommandEntry } from '../command.ts'
import { commands } from '../commands.ts'
import { withGlobalOptions } from '../global-options.ts'
import { complete, type Fallback } from './complete.ts'
import { completionValues } from './known-values.ts'

const directives: Readonly<Record<Fallback, string>> = { nothing: ':4', files: ':0', folders: ':16' }

export function define(command: Command, context: CommandContext): void {
  command.argument('[words...]').action((words: readonly string[]) =>
    context.act(async () => {
      context.io.stdout(await respond(words, context))
      return 0
    }),
  )
}

export async function respond(
  words: readonly string[],
  context: CommandContext,
  entries: readonly CommandEntry[] = commands,
): Promise<string> {
  const program = await buildProgram(words, context, entries)
  const { suggestions, fallback } = await complete(program, words, completionValues(context.io.cwd, context.io.env))
  const lines = suggestions.map(({ value, description }) =>
    description ? `${value}\t${description.split('\n')[0]}` : value,
  )
  return [...lines, directives[fallback]].map((line) => `${line}\n`).join('')
}

/** Every command by name, but only the one that the finished words name with its options: the others are not loaded. */
async function buildProgram(
  words: readonly string[],
  context: CommandContext,
  entries: readonly CommandEntry[],
): Promise<Command> {
  const program = withGlobalOptions(new Command('stackloom'))
  const named = words.slice(0, -1).find((word) => !word.startsWith('-'))
  for (const entry of entries.filter((entry) => !entry.hidden)) {
    const command = program.command(entry.name).description(entry.summary)
    if (entry.name === named) (await entry.load()).define(command, context)
  }
  return program
}
