/** `stackloom stages`: the steps of a deployment, what each waits for and why, and which make target it replaces. */
import type { Command } from 'commander'
import { stageTable } from '../../deploy/stage-table.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom stages', 'stackloom stages -o wide   # with the reason of each order'])
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', 'name']))
    .action(({ output }: { output: Format }) =>
      act(async () => {
        io.stdout(await listing(output))
        return 0
      }),
    )
}

async function listing(output: Format): Promise<string> {
  if (output === 'json' || output === 'yaml') return serialise(stageTable, output)
  if (output === 'name') return stageTable.map(({ name }) => `${name}\n`).join('')
  if (output === 'wide') return stageTable.map(inFull).join('\n')
  return stageTable.map(inShort).join('')
}

type Row = (typeof stageTable)[number]

/** A graph has no columns: what a stage follows can be longer than a line has room for. */
function inShort({ name, scope, after, replaces }: Row): string {
  const runs = scope === 'shared' ? 'once' : 'per cloud'
  const before = after.length > 0 ? `after ${after.map((one) => one.name).join(', ')}` : 'first'
  return `${name.padEnd(15)} ${runs}, ${before}\n${' '.repeat(16)}replaces ${replaces}\n`
}

function inFull({ name, scope, what, after, locks, replaces }: Row): string {
  const lines = [
    `${name} (${scope === 'shared' ? 'once' : 'per cloud'}): ${what}`,
    ...after.map((one) => `  after ${one.name}: ${one.why}`),
    ...locks.map((lock) => `  alone with ${lock}`),
    `  replaces ${replaces}`,
  ]
  return `${lines.join('\n')}\n`
}
