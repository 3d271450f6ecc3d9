/** `stackloom explain CODE`: the catalogue, for people. */
import type { Command } from 'commander'
import { catalogue } from '../../errors/catalogue.ts'
import { unknownCode } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { nearest } from '../../errors/nearest.ts'
import { storyOf } from '../../errors/story.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom explain SL2010',
    'stackloom explain            # every code, one line each',
  ])
    .argument('[code]', 'a code such as SL2010')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((code: string | undefined, { output }: { output: Format }) =>
      act(async () => {
        io.stdout(code === undefined ? await listing(output, io.columns) : await story(code, output))
        return 0
      }),
    )
}

async function listing(output: Format, columns: number): Promise<string> {
  const entries = [...catalogue.values()].map(({ code, severity, title }) => ({ code, severity, title }))
  if (output !== 'table') return serialise(entries, output)
  const rows = entries.map((one) => [one.code, one.severity, one.title])
  return formatTable(['CODE', 'SEVERITY', 'WHAT'], rows, columns)
}

async function story(code: string, output: Format): Promise<string> {
  const kind = catalogue.get(code.toUpperCase())
  if (!kind) throw failure(unknownCode, { code, nearest: nearest(code, [...catalogue.keys()]) })
  const told = storyOf(kind)
  return output === 'table' ? told.text : serialise(told, output)
}
