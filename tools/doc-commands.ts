/**
 * Finds the commands in the blocks of a page, with the output that the page shows. Pure.
 *
 * A block is run unless a mark above it says why it cannot be: `<!-- not run: KIND: REASON -->`, with a kind of `reasonKinds`.
 * What the reader does between two blocks, such as an edit, is `<!-- before: COMMAND -->`.
 * `<!-- sandbox: NAME -->` says that a page's commands need a cluster: all pages with one name share a sandbox and a folder.
 * `<!-- in: NAME -->` is the same for one block, `<!-- last -->` runs a block after those of all other pages. `<!-- with:
 * TEXT=VALUE … -->` replaces what the reader replaces, such as a name; quotes are for spaces. `<!-- until: TEXT -->` is what a
 * command prints that serves until it is interrupted. `<!-- answer: KEY -->` is what the reader types at a question.
 * `<!-- exit: N -->` is how every command of the block ends where that is not 0; `<!-- exit: 1 0 -->` has one for each.
 */

/** Why a command cannot be run on one Linux machine that talks to no other. */
export const reasonKinds: Readonly<Record<string, string>> = {
  macOS: 'uses what only macOS has',
  'public server': 'downloads from a server of others',
  product: 'needs a product that the tests cannot have',
  'another machine': 'is typed on a machine that is not that of the reader',
  'the tests': 'starts the tests that would run it',
}

export interface DocCommand {
  /** As a shell reads it, without the prompt and with its continuation lines. */
  readonly command: string
  readonly line: number
  /** Lines that the page shows; `…` stands for any number of lines. Undefined where the page shows none. */
  readonly output?: readonly string[]
  /** Why no test runs it. */
  readonly notRun?: string
  /** What a test runs before it. */
  readonly before?: string
  /** What it needs: the name of a sandbox, or of another test that runs it. */
  readonly sandbox?: string
  /** What it prints when it serves; the reader interrupts it then. */
  readonly until?: string
  /** The key that the reader presses at a question. */
  readonly answer?: string
  /** How it ends; 0 unless given, or 1 or 2 where the page shows an error. */
  readonly exit?: number
  /** Whether it comes after the commands of all other pages with the same sandbox. */
  readonly isLast?: true
}

/** Pages with commands for users; findings and decisions are generated or about the past. */
export function docPages(docs: readonly string[]): readonly string[] {
  const pages = ['README.md', 'CONTRIBUTING.md', 'examples/README.md', ...docs]
  return pages.filter((name) => name.endsWith('.md') && !/^docs\/(adr|findings)\//.test(name))
}

interface Block {
  readonly kind: 'console' | 'sh' | 'indented'
  readonly line: number
  readonly lines: readonly string[]
  readonly marks: Marks
}

/** The text of each mark, by its word; empty for a mark without text. */
type Marks = ReadonlyMap<string, string>

export function findDocCommands(page: string): readonly DocCommand[] {
  const sandboxOfPage = pageSandbox(page)
  return findBlocks(page).flatMap((block) => {
    const { marks } = block
    const reason = marks.get('not run')
    const before = marks.get('before')
    const answer = marks.get('answer')
    const exits = marks.get('exit')?.split(' ').map(Number)
    const until = marks.get('until')
    const sandbox = marks.get('in') ?? sandboxOfPage
    const commands = block.kind === 'console' ? splitConsole(block) : splitScript(block)
    const replacements = parseReplacements(marks.get('with') ?? '')
    return commands.map(({ output, ...command }, index) => ({
      ...command,
      command: replaceTexts(command.command, replacements),
      ...(output && { output: output.map((line) => replaceTexts(line, replacements.map(hideShellValue))) }),
      ...(sandbox !== undefined && { sandbox }),
      ...(until !== undefined && { until }),
      ...(reason !== undefined && { notRun: reason }),
      ...(before !== undefined && index === 0 && { before }),
      ...(answer !== undefined && { answer }),
      ...(exits && { exit: exits[index] ?? exits[0] ?? 0 }),
      ...(marks.has('last') && { isLast: true as const }),
    }))
  })
}

type Replacement = readonly [text: string, value: string]

/** Reads `TEXT=VALUE "A TEXT"="A VALUE" …`. */
function parseReplacements(mark: string): readonly Replacement[] {
  const pairs = mark.matchAll(/(?:"([^"]+)"|([^\s="]+))=(?:"([^"]*)"|(\S+))/g)
  return [...pairs].map(([, quoted, word, quotedValue, value]) => [quoted ?? word ?? '', quotedValue ?? value ?? ''])
}

/** A name is replaced as a whole word, so that NAME leaves NAMESPACE alone. */
function replaceTexts(line: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((result, [text, value]) => {
    if (!/^\w+$/.test(text)) return result.replaceAll(text, () => value)
    return result.replaceAll(new RegExp(`\\b${text}\\b`, 'g'), () => value)
  }, line)
}

/** What the shell puts in place of a variable may be any text in the output. */
function hideShellValue([text, value]: Replacement): Replacement {
  return [text, value.includes('$') ? '…' : value]
}

/** The sandbox that the commands of a page need; undefined for a page whose commands need none. */
function pageSandbox(page: string): string | undefined {
  return /^<!-- sandbox: (.+?) -->$/m.exec(page)?.[1]
}

/** Whether the commands of a page start in an empty folder instead of one with a site file. */
export function startsEmpty(page: string): boolean {
  return /^<!-- folder: empty -->$/m.test(page)
}

function findBlocks(page: string): readonly Block[] {
  const lines = page.split('\n')
  const blocks: Block[] = []
  let index = 0
  while (index < lines.length) {
    const opening = /^( *)```(\w*)$/.exec(lines[index] ?? '')
    const start = index
    if (opening) {
      const [, indent = '', kind] = opening
      index = lines.indexOf(`${indent}\`\`\``, start + 1)
      if (index < 0) throw new Error(`line ${start + 1}: the block has no end`)
      const content = lines.slice(start + 1, index).map((line) => line.slice(indent.length))
      if (kind === 'console' || kind === 'sh') {
        blocks.push({ kind, line: start + 2, lines: content, marks: marksAbove(lines, start) })
      }
      index += 1
    } else if (isIndented(lines, start)) {
      while (index < lines.length && /^ {4}/.test(lines[index] ?? '')) index += 1
      const block = lines.slice(start, index).map((line) => line.slice(4))
      if (block.some((line) => COMMAND.test(line))) {
        blocks.push({ kind: 'indented', line: start + 1, lines: block, marks: marksAbove(lines, start) })
      }
    } else index += 1
  }
  return blocks
}

/** Other indented blocks are trees, values or the output of a command. */
const COMMAND = /^(stackloom|make|kubectl|npm|npx|node|brew|curl|sudo|export|\w+\/scripts\/)/

/** Markdown has no indented block within a paragraph or a list. */
function isIndented(lines: readonly string[], index: number): boolean {
  return /^ {4}\S/.test(lines[index] ?? '') && (lines[index - 1] ?? '') === ''
}

function marksAbove(lines: readonly string[], start: number): Marks {
  const marks = new Map<string, string>()
  for (let index = start - 1; index >= 0; index -= 1) {
    const line = lines[index]?.trim() ?? ''
    const [, word, text = ''] = /^<!-- (not run|before|in|last|with|until|answer|exit)(?:: (.+))? -->$/.exec(line) ?? []
    if (word !== undefined) marks.set(word, text)
    else if (line !== '') break
  }
  return marks
}

function splitConsole({ lines, line: first }: Block): readonly DocCommand[] {
  const commands: { command: string; line: number; output: string[]; isOpen: boolean }[] = []
  for (const [index, line] of lines.entries()) {
    const current = commands.at(-1)
    if (line.startsWith('$ ')) {
      const command = line.slice(2)
      commands.push({ command, line: first + index, output: [], isOpen: continues(command) })
    } else if (!current) throw new Error(`line ${first + index}: a console block starts with "$ "`)
    else if (current.isOpen) {
      current.command += `\n${line}`
      current.isOpen = continues(current.command)
    } else current.output.push(line)
  }
  return commands.map(({ command, line, output }) => ({ command, line, ...(output.length > 0 && { output }) }))
}

/** A backslash at the end, or a here-document whose last line has not come yet. */
function continues(command: string): boolean {
  const end = /<<'?(\w+)'?/.exec(command)?.[1]
  return command.endsWith('\\') || (end !== undefined && !command.endsWith(`\n${end}`))
}

function splitScript({ lines, line: first }: Block): readonly DocCommand[] {
  const commands: { command: string; line: number }[] = []
  for (const [index, line] of lines.entries()) {
    const current = commands.at(-1)
    if (current && continues(current.command)) current.command += `\n${line}`
    else if (line.trim() !== '' && !line.startsWith('#')) commands.push({ command: line, line: first + index })
  }
  return commands
}

/** The first line that is shown and was not printed in this order; undefined where all were. */
export function findOutputDifference(shown: readonly string[], printed: readonly string[]): string | undefined {
  let from = 0
  let anywhere = false
  const shifts: DateShift[] = []
  for (const line of shown) {
    if (line === '…') {
      anywhere = true
      continue
    }
    const found = anywhere
      ? printed.findIndex((text, index) => index >= from && matchLine(line, text))
      : matchLine(line, printed[from] ?? '')
        ? from
        : -1
    if (found < 0) return line
    shifts.push(...(matchLine(line, printed[found] ?? '') ?? []))
    from = found + 1
    anywhere = false
  }
  if (!anywhere && from < printed.length) return `the command prints more: ${printed[from]}`
  const [first] = shifts
  const other = shifts.find(({ days }) => Math.abs(days - (first?.days ?? 0)) > 1)
  return other && first ? `${other.date} as far from ${first.date} as on the page` : undefined
}

/** How far a date of the output is from the one that the page has in its place. */
interface DateShift {
  /** On the page. */
  readonly date: string
  readonly days: number
}

const DATE = /\b\d{4}-\d{2}-\d{2}\b/g

/**
 * `…` within a line stands for any text. Dates of the output may be later than those of the page, which is older, but all by the
 * same number of days; a day more or less is the time of day.
 */
function matchLine(shown: string, printed: string): readonly DateShift[] | undefined {
  const pattern = shown
    .trimEnd()
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(DATE, '(\\d{4}-\\d{2}-\\d{2})'))
    .join('.*')
  const match = new RegExp(`^${pattern}$`).exec(printed.trimEnd())
  if (!match) return undefined
  const dates = shown.match(DATE) ?? []
  return dates.map((date, index) => ({ date, days: (Date.parse(match[index + 1] ?? '') - Date.parse(date)) / DAY_MS }))
}

const DAY_MS = 86_400_000
