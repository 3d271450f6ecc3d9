/** The commands as a table, for the README: what is not listed does not exist. */
import type { CommandEntry } from '../src/cli/command.ts'

export function commandTable(entries: readonly CommandEntry[]): string {
  const rows = entries
    .filter((entry) => !entry.hidden)
    .map(({ name, summary }) => `| [\`${name}\`](docs/reference/commands/${name}.md) | ${summary} |`)
  return `| command | what |\n|---|---|\n${rows.join('\n')}`
}
