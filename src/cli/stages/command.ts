/** Defines `stackloom stages`: lists the stages of a deployment with their order and the make targets they replace. */
import type { Command } from 'commander'
import { type StageEntry, stageTable } from '../../deploy/stage-table.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { wrapText } from '../output/text.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom stages', 'stackloom stages -o wide   # with the reason for each dependency'])
    .addOption(outputOption(['table', 'wide', 'json', 'yaml', 'name']))
    .action(({ output }: { output: Format }) =>
      act(async () => {
        io.stdout(await formatStages(output, io.columns))
        return 0
      }),
    )
}

async function formatStages(output: Format, columns: number): Promise<string> {
  if (output === 'json' || output === 'yaml') return serialiseResult({ stages: stageTable }, output)
  if (output === 'name') return stageTable.map(({ name }) => `${name}\n`).join('')
  if (output === 'wide') return stageTable.map(formatFull).join('\n')
  return stageTable.map((entry) => formatShort(entry, columns)).join('')
}

const INDENT = 16

/** No table: the dependencies of a stage can be longer than a line. */
function formatShort({ name, scope, after, replaces }: StageEntry, columns: number): string {
  const dependencies = after.map((dependency) => dependency.name).join(', ')
  const order = after.length > 0 ? `after ${dependencies}` : 'first'
  const texts = [`${formatScope(scope)}, ${order}`, `replaces ${replaces}`]
  const lines = texts.flatMap((text) => wrapText(text, columns - INDENT))
  return lines.map((line, index) => `${(index === 0 ? name : '').padEnd(INDENT)}${line}\n`).join('')
}

function formatScope(scope: StageEntry['scope']): string {
  return scope === 'shared' ? 'once' : 'per cloud'
}

function formatFull({ name, scope, what, after, locks, replaces }: StageEntry): string {
  const lines = [
    `${name} (${formatScope(scope)}): ${what}`,
    ...after.map((dependency) => `  after ${dependency.name}: ${dependency.why}`),
    ...locks.map((lock) => `  alone with ${lock}`),
    `  replaces ${replaces}`,
  ]
  return `${lines.join('\n')}\n`
}
