import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commands } from '../src/cli/commands.ts'
import {
  type DocSandboxDefinition,
  docSandboxes,
  docSandboxNames,
  sandboxCommands,
  withoutComment,
} from '../test/doc-sandboxes.ts'
import { loadCommand } from './command-pages.ts'
import { docPages, findDocCommands, findOutputDifference, reasonKinds } from './doc-commands.ts'
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

  it('are not run where a mark above the block gives the reason, and only there', () => {
    const page = '<!-- not run: macOS: why -->\n```sh\nx\n```\n\n```sh\ny\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'x', line: 3, notRun: 'macOS: why' },
      { command: 'y', line: 7 },
    ])
  })

  it('are run after what the reader does between two blocks, or after those of other pages', () => {
    const page = '<!-- last -->\n<!-- before: edit -->\n```sh\nx\ny\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'x', line: 4, before: 'edit', isLast: true },
      { command: 'y', line: 5, isLast: true },
    ])
  })

  it('may need an answer of the reader, besides what was done before', () => {
    const page = '<!-- before: edit -->\n<!-- answer: y -->\n```console\n$ up\n```\n'
    expect(findDocCommands(page)).toEqual([{ command: 'up', line: 4, before: 'edit', answer: 'y' }])
    expect(findDocCommands('<!-- exit: 1 -->\n```console\n$ x\n```\n')).toEqual([{ command: 'x', line: 3, exit: 1 }])
    expect(findDocCommands('<!-- exit: 1 0 -->\n```sh\nx\ny\n```\n').map(({ exit }) => exit)).toEqual([1, 0])
  })

  it('need the sandbox of their page or of their block, and may serve until they are interrupted', () => {
    const page = '# A\n\n<!-- sandbox: a -->\n\n```sh\nx\n```\n\n<!-- in: b -->\n<!-- until: ready -->\n```sh\ny\n```\n'
    expect(findDocCommands(page)).toEqual([
      { command: 'x', line: 6, sandbox: 'a' },
      { command: 'y', line: 12, sandbox: 'b', until: 'ready' },
    ])
  })

  it('have values in place of what a reader replaces', () => {
    const page = '<!-- with: IMAGE=localhost/a:1 NAME=x=y -->\n```sh\nrun IMAGE NAMES NAME\n```\n'
    expect(findDocCommands(page)).toEqual([{ command: 'run localhost/a:1 NAMES x=y', line: 3 }])
    const quoted =
      '<!-- with: "a b"="a --from c d" x.example=$HOST -->\n```console\n$ a b x.example\nof x.example\n```\n'
    expect(findDocCommands(quoted)).toEqual([{ command: 'a --from c d $HOST', line: 3, output: ['of …'] }])
  })

  it('print what the page shows, with … for the rest', () => {
    expect(findOutputDifference(['a', '…', 'c d…f'], ['a', 'b', 'b', 'c def'])).toBeUndefined()
    expect(findOutputDifference(['a', 'c'], ['a', 'b', 'c'])).toBe('c')
    expect(findOutputDifference(['a'], ['a', 'b'])).toBe('the command prints more: b')
    expect(findOutputDifference(['a', '…'], ['a'])).toBeUndefined()
  })

  it('print dates that are all as much later as the page is old', () => {
    expect(findOutputDifference(['ends on 2026-01-31'], ['ends on 2027-02-01'])).toBeUndefined()
    expect(findOutputDifference(['ends on 2026-01-31'], ['ends on Monday'])).toBe('ends on 2026-01-31')
    const shown = ['a 2026-01-31 2026-02-28', '…', 'b 2026-03-01']
    expect(findOutputDifference(shown, ['a 2026-02-10 2026-03-10', 'x', 'b 2026-03-12'])).toBeUndefined()
    expect(findOutputDifference(shown, ['a 2026-02-10 2026-03-10', 'b 2026-03-21'])).toBe(
      '2026-03-01 as far from 2026-01-31 as on the page',
    )
  })
})

const pages = docPages(filesBelow('.', 'docs'))

it('every command is run by a test, or cannot be run on one Linux machine for a reason of a known kind', () => {
  const problems = pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8')
    const marks = text.match(/^ *<!-- (commands not run|not run(?!: )).*$/gm) ?? []
    return [
      ...marks.map((mark) => `${page}: ${mark}`),
      ...findDocCommands(text).flatMap(({ line, notRun, sandbox }) => {
        const [kind = ''] = notRun?.split(': ') ?? []
        if (notRun !== undefined) return kind in reasonKinds ? [] : [`${page}:${line}: ${notRun}`]
        return sandbox === undefined || sandbox in docSandboxes ? [] : [`${page}:${line}: no test has ${sandbox}`]
      }),
    ]
  })
  expect(problems).toEqual([])
})

it('every sandbox of pages is in the test that is named for it, with the pages that use it', () => {
  const used = pages.flatMap((page) =>
    findDocCommands(readFileSync(page, 'utf8')).flatMap(({ notRun, sandbox }) =>
      notRun === undefined && sandbox !== undefined ? [`${sandbox}: ${page}`] : [],
    ),
  )
  const listed = Object.entries(docSandboxes).flatMap(([name, { pages: own }]) => own.map((page) => `${name}: ${page}`))
  expect([...new Set(used)].toSorted()).toEqual(listed.toSorted())
  const missing = Object.entries(docSandboxes).filter(
    ([name, { test }]) => !new RegExp(`'${name}'|docSandboxes\\.${name}\\b`).test(readFileSync(test, 'utf8')),
  )
  expect(missing.map(([name]) => name)).toEqual([])
})

it('a test that types the commands of pages one by one types each of them', () => {
  const untyped = docSandboxNames.flatMap((name) => {
    const { test, isTyped } = docSandboxes[name] as DocSandboxDefinition
    if (!isTyped) return []
    const text = readFileSync(test, 'utf8')
    return sandboxCommands(name)
      .filter((command) => !text.includes(`'${withoutComment(command)}'`))
      .map(({ page, command }) => `${page}: ${command} is not in ${test}`)
  })
  expect(untyped).toEqual([])
})

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
        .replace(/\d?[<>]+\s*\S+/g, '')
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
