/** `stackloom explain CODE` prints one entry of the catalogue, `stackloom explain WORD` those that have the word. */
import type { Command } from 'commander'
import { closestMatch } from '../../errors/closest-match.ts'
import { noFindingWithWords, unknownCode } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { type CommandContext, withExamples } from '../command.ts'
import type { Io } from '../io.ts'
import { paintSeverity } from '../output/findings.ts'
import { type Format, outputOption, serialiseResult } from '../output/format.ts'
import { formatTable } from '../output/table.ts'
import { catalogue, type ListedProblem } from './catalogue.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'stackloom explain SL2010',
    'stackloom explain vlan       # the codes with this word in the title',
    'stackloom explain            # list every code',
  ])
    .argument('[code...]', 'a code such as SL2010, or words of its title (default: list all)')
    .addOption(outputOption(['table', 'json', 'yaml']))
    .action((words: readonly string[], { output }: { output: Format }) =>
      act(async () => {
        const [code] = words
        const isCode = code !== undefined && words.length === 1 && /^SL\d/i.test(code)
        io.stdout(isCode ? await formatProblem(code, output) : await formatList(search(words), output, io))
        return 0
      }),
    )
}

/** The entries with all words in the title; if there are none, those with all words in the description. */
function search(words: readonly string[]): readonly ListedProblem[] {
  const all = [...catalogue.values()]
  const wanted = words.map((word) => word.toLowerCase())
  const withWords = (text: (problem: ListedProblem) => string): readonly ListedProblem[] =>
    all.filter((problem) => wanted.every((word) => text(problem).toLowerCase().includes(word)))
  const inTitles = withWords(({ title }) => title)
  const found = inTitles.length > 0 ? inTitles : withWords(({ title, description }) => `${title} ${description}`)
  if (found.length === 0) throw failure(noFindingWithWords, { words: words.join(' ') })
  return found
}

async function formatList(found: readonly ListedProblem[], output: Format, { columns, colour }: Io): Promise<string> {
  const problems = found.map(({ code, severity, title }) => ({ code, severity, title }))
  if (output !== 'table') return serialiseResult({ codes: problems }, output)
  const rows = problems.map(({ code, severity, title }) => [code, paintSeverity(severity, colour.stdout), title])
  return formatTable(['CODE', 'SEVERITY', 'TITLE'], rows, columns, colour.stdout)
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
