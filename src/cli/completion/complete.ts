/**
 * What may come next on a command line: commands, options, and values of options and arguments.
 *
 * Walks the commander definition of the one command that the words name; the shells are other files' business.
 */
import type { Argument, Command, Option } from 'commander'

export interface Suggestion {
  readonly value: string
  readonly description?: string
}

/** What the shell should offer beside the suggestions. */
export type Fallback = 'nothing' | 'files' | 'folders'

export interface Completion {
  readonly suggestions: readonly Suggestion[]
  readonly fallback: Fallback
}

/** Values that are known only at run time, by the placeholder that stands for them in the help: `<cloud>`. */
export type ValueSource = (placeholder: string, words: readonly string[]) => Promise<readonly Suggestion[] | undefined>

const NOTHING: Completion = { suggestions: [], fallback: 'nothing' }
const FILES = /file|path|kubeconfig|snapshot|crd/
const FOLDERS = /^(dir|folder|out)/

/** `words` are those behind the program's name; the last one is being typed and may be empty. */
export async function complete(program: Command, words: readonly string[], values: ValueSource): Promise<Completion> {
  // bash gives `--output=js` as three words.
  const whole = words.filter((word, index) => word !== '=' || index === 0)
  const before = words.at(-1) === '=' ? whole : whole.slice(0, -1)
  const current = words.at(-1) === '=' ? '' : (words.at(-1) ?? '')
  const place = walk(program, before)
  const found = await candidates(place, current, (placeholder) => values(placeholder, before))
  const fitting = found.suggestions.filter(({ value }) => value.startsWith(current))
  return { ...found, suggestions: fitting }
}

/** Where the cursor is: in which command, behind how many arguments, and whether an option waits for its value. */
interface Place {
  readonly command: Command
  readonly position: number
  readonly waiting: Option | undefined
  readonly optionsEnded: boolean
  readonly used: ReadonlySet<string>
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program
  let position = 0
  let waiting: Option | undefined
  let optionsEnded = false
  const used = new Set<string>()
  for (const word of words) {
    if (waiting) {
      waiting = undefined
    } else if (!optionsEnded && word === '--') {
      optionsEnded = true
    } else if (!optionsEnded && word.startsWith('-')) {
      const option = findOption(command, word.split('=')[0] ?? word)
      if (option) used.add(option.attributeName())
      waiting = option?.required && !word.includes('=') ? option : undefined
    } else {
      const next = position === 0 ? command.commands.find((command) => command.name() === word) : undefined
      if (next) command = next
      else position += 1
    }
  }
  return { command, position, waiting, optionsEnded, used }
}

async function candidates(
  place: Place,
  current: string,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  if (place.waiting) return valuesOf(place.waiting, values)
  if (!place.optionsEnded && current.startsWith('-')) return optionCandidates(place, current, values)
  const argument = argumentAt(place.command, place.position)
  const commands = place.position === 0 ? commandSuggestions(place.command) : []
  const rest = argument ? await valuesOf(argument, values) : NOTHING
  return { suggestions: [...commands, ...rest.suggestions], fallback: rest.fallback }
}

async function optionCandidates(
  { command, used }: Place,
  current: string,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  const [name = '', ...rest] = current.split('=')
  if (rest.length === 0) return { suggestions: optionSuggestions(command, used), fallback: 'nothing' }
  const option = findOption(command, name)
  if (!option) return NOTHING
  const { suggestions, fallback } = await valuesOf(option, values)
  return {
    suggestions: suggestions.map((suggestion) => ({ ...suggestion, value: `${name}=${suggestion.value}` })),
    fallback,
  }
}

async function valuesOf(
  target: Option | Argument,
  values: (placeholder: string) => Promise<readonly Suggestion[] | undefined>,
): Promise<Completion> {
  if (target.argChoices) {
    return { suggestions: target.argChoices.map((value) => ({ value })), fallback: 'nothing' }
  }
  const placeholder = placeholderOf(target)
  const known = await values(placeholder)
  if (known) return { suggestions: known, fallback: 'nothing' }
  if (FOLDERS.test(placeholder)) return { suggestions: [], fallback: 'folders' }
  return { suggestions: [], fallback: FILES.test(placeholder) ? 'files' : 'nothing' }
}

function placeholderOf(target: Option | Argument): string {
  const name = 'flags' in target ? (/[<[]([^>\].|]+)/.exec(target.flags)?.[1] ?? '') : target.name()
  return name.toLowerCase()
}

function commandSuggestions(command: Command): readonly Suggestion[] {
  const visible = command.createHelp().visibleCommands(command)
  return visible.map((command) => ({ value: command.name(), description: command.description() }))
}

function optionSuggestions(command: Command, used: ReadonlySet<string>): readonly Suggestion[] {
  return allOptions(command)
    .filter(
      (allOption) =>
        allOption.long && !allOption.hidden && (allOption.variadic || !used.has(allOption.attributeName())),
    )
    .map((allOption) => ({ value: allOption.long ?? '', description: allOption.description }))
}

/** A command's own options, those of the commands above it, and help. */
function allOptions(command: Command): readonly Option[] {
  const inherited = command.parent ? allOptions(command.parent) : []
  const own = command.createHelp().visibleOptions(command)
  return [...own, ...inherited.filter((option) => !own.some((other) => other.long === option.long))]
}

function findOption(command: Command, flag: string): Option | undefined {
  return allOptions(command).find((allOption) => allOption.long === flag || allOption.short === flag)
}

function argumentAt(command: Command, position: number): Argument | undefined {
  const last = command.registeredArguments.at(-1)
  return command.registeredArguments[position] ?? (last?.variadic ? last : undefined)
}
