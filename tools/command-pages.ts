/** Writes one page per command from the help that the command prints, and the table of commands. */
import { Command } from 'commander'
import type { CommandContext, CommandEntry } from '../src/cli/command.ts'
import { testIo } from '../test/io.ts'

const WIDTH = 100

export async function commandPages(entries: readonly CommandEntry[]): Promise<ReadonlyMap<string, string>> {
  const commands = await Promise.all(visibleEntries(entries).map(loadCommand))
  const index = `# Commands\n\nGenerated from \`src/cli\` by \`make docs\`.\n\n${commandTable(entries)}\n`
  return new Map([
    ['README.md', index],
    ...commands.map((command): [string, string] => [`${command.name()}.md`, formatPage(command)]),
  ])
}

function commandTable(entries: readonly CommandEntry[]): string {
  const rows = visibleEntries(entries).map(({ name, summary }) => `| [\`${name}\`](${name}.md) | ${summary} |`)
  return `| command | purpose |\n|---|---|\n${rows.join('\n')}`
}

function visibleEntries(entries: readonly CommandEntry[]): readonly CommandEntry[] {
  return entries.filter(({ hidden }) => !hidden)
}

/** Defines the command with all its options on a program that runs nothing. */
export async function loadCommand(entry: CommandEntry): Promise<Command> {
  const command = new Command('stackloom').command(entry.name).description(entry.summary)
  const context: CommandContext = { io: testIo(), act: async () => undefined }
  const { define } = await entry.load()
  define(command, context)
  return command
}

/** The command and every visible command below it. */
export function withSubcommands(command: Command): readonly Command[] {
  const visible = new Set(command.createHelp().visibleCommands(command))
  return [command, ...command.commands.filter((subcommand) => visible.has(subcommand)).flatMap(withSubcommands)]
}

/** `stackloom sandbox start` */
export function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

/** What `--help` prints, with the examples. */
export function helpText(command: Command): string {
  let text = ''
  command.configureHelp({ helpWidth: WIDTH })
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => WIDTH })
  command.outputHelp()
  return text.trimEnd()
}

function formatPage(command: Command): string {
  const sections = withSubcommands(command).map((shown) => {
    const level = shown === command ? '#' : '##'
    return `${level} ${fullName(shown)}\n\n\`\`\`text\n${helpText(shown)}\n\`\`\`\n`
  })
  return sections.join('\n')
}
