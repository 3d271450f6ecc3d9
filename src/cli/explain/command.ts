/** `stackloom explain CODE`: the catalogue, for people. */
import type { Command } from 'commander'
import { closestMatch } from '../../errors/closest-match.ts'
import { unknownCode } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialise } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { catalogue } from './catalogue.ts'
import { renderProblemPage } from './problem-page.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom explain SL2010', 'stackloom explain            # every code, one line each'])
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
  const rows = entries.map((entry) => [entry.code, entry.severity, entry.title])
  return formatTable(['CODE', 'SEVERITY', 'WHAT'], rows, columns)
}

async function story(code: string, output: Format): Promise<string> {
  const kind = catalogue.get(code.toUpperCase())
  if (!kind) throw failure(unknownCode, { code, nearest: closestMatch(code, [...catalogue.keys()]) })
  const told = renderProblemPage(kind)
  return output === 'table' ? told.text : serialise(told, output)
}
