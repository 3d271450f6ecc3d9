/**
 * Completes a command line: commands, options, and values of options and arguments.
 *
 * Walks the commander definition of the command that the words name; knows nothing of shells.
 */
import type { Argument, Command, Option } from 'commander'

export interface Suggestion {
  readonly value: string
  readonly description?: string
}

/** What the shell offers in addition to the suggestions. */
export type Fallback = 'nothing' | 'files' | 'folders'

export interface Completion {
  readonly suggestions: readonly Suggestion[]
  readonly fallback: Fallback
}

/** Values known at run time only, by their placeholder in the help: `<cloud>`. */
export type ValueSource = (placeholder: string, words: readonly string[]) => Promise<readonly Suggestion[] | undefined>

const NOTHING: Completion = { suggestions: [], fallback: 'nothing' }
const FILES = /file|path|kubeconfig|snapshot|crd/
const FOLDERS = /^(dir|folder|out)/

/** `words` are those after the name of the program; the last one is being typed and may be empty. */
export async function complete(program: Command, words: readonly string[], values: ValueSource): Promise<Completion> {
  // bash splits `--output=js` into three words.
  const joined = words.filter((word, index) => word !== '=' || index === 0)
  const before = words.at(-1) === '=' ? joined : joined.slice(0, -1)
  const current = words.at(-1) === '=' ? '' : (words.at(-1) ?? '')
  const cursor = parseWords(program, before)
  const found = await findCandidates(cursor, current, (placeholder) => values(placeholder, before))
  return { ...found, suggestions: found.suggestions.filter(({ value }) => value.startsWith(current)) }
}

interface Cursor {
  readonly command: Command
  /** How many arguments stand before it. */
  readonly position: number
  /** The option whose value is being typed. */
  readonly pendingOption: Option | undefined
  readonly optionsEnded: boolean
  readonly used: ReadonlySet<string>
}

function parseWords(program: Command, words: readonly string[]): Cursor {
  let command = program
  let position = 0
  let pendingOption: Option | undefined
  let optionsEnded = false
  const used = new Set<string>()
  for (const word of words) {
    if (pendingOption) {
      pendingOption = undefined
    } else if (!optionsEnded && word === '--') {
      optionsEnded = true
    } else if (!optionsEnded && word.startsWith('-')) {
      const option = findOption(command, word.split('=')[0] ?? word)
      if (option) used.add(option.attributeName())
      pendingOption = option?.required && !word.includes('=') ? option : undefined
    } else {
      const subcommand = position === 0 ? command.commands.find((candidate) => candidate.name() === word) : undefined
      if (subcommand) command = subcommand
      else position += 1
    }
  }
  return { command, position, pendingOption, optionsEnded, used }
}

async function findCandidates(
  cursor: Cursor,
  current: string,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  if (cursor.pendingOption) return completeValue(cursor.pendingOption, values)
  if (!cursor.optionsEnded && current.startsWith('-')) return optionCandidates(cursor, current, values)
  const argument = findArgument(cursor.command, cursor.position)
  const commands = cursor.position === 0 ? commandSuggestions(cursor.command) : []
  const rest = argument ? await completeValue(argument, values) : NOTHING
  return { suggestions: [...commands, ...rest.suggestions], fallback: rest.fallback }
}

async function optionCandidates(
  { command, used }: Cursor,
  current: string,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  const [name = '', ...rest] = current.split('=')
  if (rest.length === 0) return { suggestions: optionSuggestions(command, used), fallback: 'nothing' }
  const option = findOption(command, name)
  if (!option) return NOTHING
  const { suggestions, fallback } = await completeValue(option, values)
  return {
    suggestions: suggestions.map((suggestion) => ({ ...suggestion, value: `${name}=${suggestion.value}` })),
    fallback,
  }
}

async function completeValue(
  target: Option | Argument,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  if (target.argChoices) {
    return { suggestions: target.argChoices.map((value) => ({ value })), fallback: 'nothing' }
  }
  const placeholder = placeholderName(target)
  const known = await values(placeholder)
  if (known) return { suggestions: known, fallback: 'nothing' }
  if (FOLDERS.test(placeholder)) return { suggestions: [], fallback: 'folders' }
  return { suggestions: [], fallback: FILES.test(placeholder) ? 'files' : 'nothing' }
}

function placeholderName(target: Option | Argument): string {
  const name = 'flags' in target ? (/[<[]([^>\].|]+)/.exec(target.flags)?.[1] ?? '') : target.name()
  return name.toLowerCase()
}

function commandSuggestions(command: Command): readonly Suggestion[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map((subcommand) => ({ value: subcommand.name(), description: subcommand.description() }))
}

function optionSuggestions(command: Command, used: ReadonlySet<string>): readonly Suggestion[] {
  return allOptions(command)
    .filter((option) => option.long && !option.hidden && (option.variadic || !used.has(option.attributeName())))
    .map((option) => ({ value: option.long ?? '', description: option.description }))
}

/** The options of a command and of the commands above it, and help. */
function allOptions(command: Command): readonly Option[] {
  const inherited = command.parent ? allOptions(command.parent) : []
  const visible = command.createHelp().visibleOptions(command)
  return [...visible, ...inherited.filter(({ long }) => !visible.some((option) => option.long === long))]
}

function findOption(command: Command, flag: string): Option | undefined {
  return allOptions(command).find(({ long, short }) => long === flag || short === flag)
}

function findArgument(command: Command, position: number): Argument | undefined {
  const last = command.registeredArguments.at(-1)
  return command.registeredArguments[position] ?? (last?.variadic ? last : undefined)
}
