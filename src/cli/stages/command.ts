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
        io.stdout(await listing(output, io.columns))
        return 0
      }),
    )
}

async function listing(output: Format, columns: number): Promise<string> {
  if (output === 'json' || output === 'yaml') return serialise(stageTable, output)
  if (output === 'name') return stageTable.map(({ name }) => `${name}\n`).join('')
  if (output === 'wide') return stageTable.map(formatFull).join('\n')
  return stageTable.map((row) => formatShort(row, columns)).join('')
}

type Row = (typeof stageTable)[number]

/** A graph has no columns: what a stage follows can be longer than a line has room for. */
function formatShort({ name, scope, after, replaces }: Row, columns: number): string {
  const runs = scope === 'shared' ? 'once' : 'per cloud'
  const before = after.length > 0 ? `after ${after.map((one) => one.name).join(', ')}` : 'first'
  const lines = [`${runs}, ${before}`, `replaces ${replaces}`].flatMap((text) => wrapText(text, columns - INDENT))
  return lines.map((line, at) => `${(at === 0 ? name : '').padEnd(INDENT)}${line}\n`).join('')
}

const INDENT = 16

/** Lines of whole words that have room; a word that is longer stands alone. */
function wrapText(text: string, room: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}

function formatFull({ name, scope, what, after, locks, replaces }: Row): string {
  const lines = [
    `${name} (${scope === 'shared' ? 'once' : 'per cloud'}): ${what}`,
    ...after.map((one) => `  after ${one.name}: ${one.why}`),
    ...locks.map((lock) => `  alone with ${lock}`),
    `  replaces ${replaces}`,
  ]
  return `${lines.join('\n')}\n`
}
