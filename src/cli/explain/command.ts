/** `stackloom explain CODE`: prints the catalogue. */
import type { Command } from 'commander'
import { closestMatch } from '../../errors/closest-match.ts'
import { unknownCode } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { catalogue, type ListedProblem } from './catalogue.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, ['stackloom explain SL2010', 'stackloom explain            # list every code'])
    .argument('[code]', 'a code such as SL2010 (default: list all)')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((code: string | undefined, { output }: { output: Format }) =>
      act(async () => {
        io.stdout(code === undefined ? await formatList(output, io.columns) : await formatProblem(code, output))
        return 0
      }),
    )
}

async function formatList(output: Format, columns: number): Promise<string> {
  const problems = [...catalogue.values()].map(({ code, severity, title }) => ({ code, severity, title }))
  if (output !== 'table') return serialiseResult({ codes: problems }, output)
  const rows = problems.map(({ code, severity, title }) => [code, severity, title])
  return formatTable(['CODE', 'SEVERITY', 'TITLE'], rows, columns)
}

async function formatProblem(code: string, output: Format): Promise<string> {
  const problem = catalogue.get(code.toUpperCase())
  if (!problem) throw failure(unknownCode, { code, nearest: closestMatch(code, [...catalogue.keys()]) })
  const text = formatText(problem)
  if (output === 'table') return text
  const { severity, title, description, sample } = problem
  // Programs read the description under the key `story`.
  const fields = { code: problem.code, severity, title, story: description.trim() }
  return serialiseResult({ ...fields, example: sample.message, remedy: sample.remedy, text }, output)
}

function formatText({ code, severity, title, description, sample }: ListedProblem): string {
  return `# ${code}: ${title}

Severity: ${severity}

${description.trim()}

## Example

    ${severity} ${code}: ${sample.message}
        fix: ${sample.remedy}
`
}
