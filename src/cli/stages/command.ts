/** `stackloom stages`: the steps of a deployment, what each waits for and why, and which make target it replaces. */
import type { Command } from 'commander'
import { stageTable } from '../../deploy/stage-table.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom stages', 'stackloom stages -o wide   # with the reason of each order'])
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', 'name']))
    .action(({ output }: { output: Format }) =>
      act(async () => {
        io.stdout(await listing(output, io.columns))
        return 0
      }),
    )
}

async function listing(output: Format, columns: number): Promise<string> {
  if (output === 'json' || output === 'yaml') return serialise(stageTable, output)
  if (output === 'name') return stageTable.map(({ name }) => `${name}\n`).join('')
  if (output === 'wide') return stageTable.map(inFull).join('\n')
  const rows = stageTable.map(({ name, scope, after, replaces }) => [
    name,
    scope === 'shared' ? 'once' : 'per cloud',
    after.map((one) => one.name).join(' ') || '-',
    replaces,
  ])
  return formatTable(['STAGE', 'RUNS', 'AFTER', 'REPLACES'], rows, columns)
}

function inFull({ name, scope, what, after, locks, replaces }: (typeof stageTable)[number]): string {
  const lines = [
    `${name} (${scope === 'shared' ? 'once' : 'per cloud'}): ${what}`,
    ...after.map((one) => `  after ${one.name}: ${one.why}`),
    ...locks.map((lock) => `  alone with ${lock}`),
    `  replaces ${replaces}`,
  ]
  return `${lines.join('\n')}\n`
}
