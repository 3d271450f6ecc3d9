import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import { loadCommand } from './command-pages.ts'
import { docPages, findDocCommands, findOutputDifference } from './doc-commands.ts'
import { filesBelow } from './files.ts'

describe('the commands of a page', () => {
  it('are those after a prompt, with their continuation lines and output', () => {
    const page = '```console\n$ stackloom a \\\n    --b\nout\n…\n$ c <<END\nx\nEND\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'stackloom a \\\n    --b', line: 2, output: ['out', '…'] },
      { command: 'c <<END\nx\nEND', line: 6 },
    ])
  })

  it('are the lines of a script and of an indented block that begins with a program', () => {
    const page = 'a:\n\n    stackloom plan     # plans\n\nb:\n\n    tree/\n      file\n\n```sh\n# why\nmake x\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'stackloom plan     # plans', line: 3 },
      { command: 'make x', line: 12 },
    ])
  })

  it('are found in a block within a list', () => {
    const page = '- a\n\n  <!-- not run: why -->\n  ```sh\n  make x\n  ```\n'
    expect(findDocCommands(page)).toEqual([{ command: 'make x', line: 5, notRun: 'why' }])
  })

  it('are not run where the block or the page gives the reason', () => {
    const block = '<!-- not run: no cluster -->\n```sh\nx\n```\n'
    expect(findDocCommands(block)).toEqual([{ command: 'x', line: 3, notRun: 'no cluster' }])
    const page = '<!-- commands not run: no VM -->\n\n```sh\nx\n```\n\n<!-- run -->\n```sh\ny\n```\n'
    expect(findDocCommands(page).map(({ notRun }) => notRun)).toEqual(['no VM', undefined])
  })

  it('are run after what the reader does between two blocks', () => {
    const page = '<!-- commands not run: no VM -->\n\n<!-- before: edit -->\n```sh\nx\ny\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'x', line: 5, before: 'edit' },
      { command: 'y', line: 6 },
    ])
  })

  it('may need an answer of the reader, besides what was done before', () => {
    const page = '<!-- before: edit -->\n<!-- answer: y -->\n```console\n$ up\n```\n'
    expect(findDocCommands(page)).toEqual([{ command: 'up', line: 4, before: 'edit', answer: 'y' }])
    expect(findDocCommands('<!-- exit: 1 -->\n```console\n$ x\n```\n')).toEqual([{ command: 'x', line: 3, exit: 1 }])
  })

  it('need the sandbox of their page or of their block, and may serve until they are interrupted', () => {
    const page = '# A\n\n<!-- sandbox: a -->\n\n```sh\nx\n```\n\n<!-- in: b -->\n<!-- until: ready -->\n```sh\ny\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'x', line: 6, sandbox: 'a' },
      { command: 'y', line: 12, sandbox: 'b', until: 'ready' },
    ])
  })

  it('have values in place of the words that a reader replaces', () => {
    const page = '<!-- with: IMAGE=localhost/a:1 NAME=x=y -->\n```sh\nrun IMAGE NAMES NAME\n```\n'
    expect(findDocCommands(page)).toEqual([{ command: 'run localhost/a:1 NAMES x=y', line: 3 }])
  })

  it('print what the page shows, with … for the rest', () => {
    expect(findOutputDifference(['a', '…', 'c d…f'], ['a', 'b', 'b', 'c def'])).toBeUndefined()
    expect(findOutputDifference(['a', 'c'], ['a', 'b', 'c'])).toBe('c')
    expect(findOutputDifference(['a'], ['a', 'b'])).toBe('the command prints more: b')
    expect(findOutputDifference(['a', '…'], ['a'])).toBeUndefined()
  })
})

const pages = docPages(filesBelow('.', 'docs'))

const program = new Command('stackloom').exitOverride()
for (const entry of commands.filter(({ hidden }) => !hidden)) program.addCommand(await loadCommand(entry))

it.each(pages)('the program accepts every stackloom command of %s', async (page) => {
  const refused: string[] = []
  const text = readFileSync(page, 'utf8')
  for (const { command, line } of [...findDocCommands(text), ...findExamples(text)]) {
    for (const args of findCalls(command)) {
      const problem = await findParseProblem(args)
      if (problem !== undefined) refused.push(`${page}:${line}: ${args.join(' ')}: ${problem}`)
    }
  }
  expect(refused).toEqual([])
})

/** The examples of a command's help. */
function findExamples(page: string): readonly { readonly command: string; readonly line: number }[] {
  return page
    .split('\n')
    .map((command, index) => ({ command, line: index + 1 }))
    .filter(({ command }) => /^ {2}stackloom /.test(command))
}

/** The words of each call of stackloom in a line of shell. */
function findCalls(command: string): readonly (readonly string[])[] {
  return command
    .replace(/<<[^]*$/, '')
    .replace(/\\\n/g, ' ')
    .split(/\||&|;|\$\(|\)|\n/)
    .map((part) =>
      part
        .replace(/\s#.*$/, '')
        .replace(/\d?>+\s*\S+/g, '')
        .trim(),
    )
    .filter((part) => /^(kubectl |npx )?stackloom /.test(part))
    .map((part) => part.replace(/^(kubectl |npx )?stackloom /, '').match(/"[^"]*"|'[^']*'|\S+/g) ?? [])
    .map((words) => words.map((word) => word.replace(/^["']|["']$/g, '')))
}

async function findParseProblem(args: readonly string[]): Promise<string | undefined> {
  const silent = { writeErr: () => undefined, writeOut: () => undefined }
  const quieten = (command: Command): void => {
    command.exitOverride().configureOutput(silent)
    command.commands.forEach(quieten)
  }
  quieten(program)
  try {
    await program.parseAsync([...args], { from: 'user' })
    return undefined
  } catch (error) {
    const { exitCode, message } = error as { readonly exitCode?: number; readonly message: string }
    return exitCode === 0 ? undefined : message
  }
}
