/** One page per command, from the help that the command itself prints. */
import { Command } from 'commander'
import type { CommandContext, CommandEntry } from '../src/cli/command.ts'
import { testIo } from '../test/io.ts'

const WIDTH = 100

export async function commandPages(entries: readonly CommandEntry[]): Promise<ReadonlyMap<string, string>> {
  const visible = entries.filter((entry) => !entry.hidden)
  const commands = await Promise.all(visible.map(loadCommand))
  const rows = visible.map(({ name, summary }) => `| [${name}](${name}.md) | ${summary} |`)
  const index = `# Commands\n\nGenerated from \`src/cli\` by \`make docs\`.\n\n| command | what |\n|---|---|\n${rows.join('\n')}\n`
  return new Map([
    ['README.md', index],
    ...commands.map((command): [string, string] => [`${command.name()}.md`, page(command)]),
  ])
}

/** The command with all its options, on a program of its own: nothing is run. */
export async function loadCommand(entry: CommandEntry): Promise<Command> {
  const command = new Command('stackloom').command(entry.name).description(entry.summary)
  const context: CommandContext = { io: testIo(), act: async () => undefined }
  const { define } = await entry.load()
  define(command, context)
  return command
}

/** The command and every command below it that people use. */
export function withSubcommands(command: Command): readonly Command[] {
  const visible = new Set(command.createHelp().visibleCommands(command))
  return [command, ...command.commands.filter((command) => visible.has(command)).flatMap(withSubcommands)]
}

/** `stackloom sandbox start` */
export function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

/** What `--help` prints, examples included. */
export function helpText(command: Command): string {
  let text = ''
  command.configureHelp({ helpWidth: WIDTH })
  command.configureOutput({ writeOut: (part) => void (text += part), getOutHelpWidth: () => WIDTH })
  command.outputHelp()
  return text.trimEnd()
}

function page(command: Command): string {
  const sections = withSubcommands(command).map((withSubcommand) => {
    const level = withSubcommand === command ? '#' : '##'
    return `${level} ${fullName(withSubcommand)}\n\n\`\`\`text\n${helpText(withSubcommand)}\n\`\`\`\n`
  })
  return sections.join('\n')
}
