import { Argument, Command, Option } from 'commander'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import type { CommandContext, CommandEntry } from '../command.ts'
import { complete, type ValueSource } from './complete.ts'
import { respond } from './respond.ts'

const program = new Command('stackloom')
const plan = program.command('plan').description('The addresses of every cloud')
plan
  .option('-f, --file <file>', 'the site file')
  .option('--cloud <name...>', 'only these clouds')
  .addOption(new Option('-o, --output <format>').choices(['table', 'json']))
  .argument('[cloud]', 'a cloud')
const sandbox = program.command('sandbox')
sandbox.command('start').option('--out <dir>')
sandbox.command('stop')
program.command('completion').addArgument(new Argument('<shell>').choices(['bash', 'zsh']))

const clouds: ValueSource = async (placeholder) =>
  placeholder === 'cloud' ? [{ value: 'rhoso1' }, { value: 'rhoso2' }] : undefined

async function next(line: string): Promise<string> {
  const { suggestions, fallback } = await complete(program, line.split(' '), clouds)
  return [...suggestions.map((suggestion) => suggestion.value), fallback === 'nothing' ? '' : `(${fallback})`]
    .join(' ')
    .trim()
}

describe('completion', () => {
  it.each([
    ['commands', 's', 'sandbox'],
    ["a command's command", 'sandbox st', 'start stop'],
    ['options that are not used yet, with those of parent commands', 'plan -o json --', '--file --cloud --help'],
    ['the choices of an option', 'plan -o ', 'table json'],
    ['the choices of an option after an equals sign', 'plan --output=j', '--output=json'],
    ['choices in bash, where the equals sign is a word', 'plan --output = j', 'json'],
    ['choices in bash right after the equals sign', 'plan --output =', 'table json'],
    ['the choices of an argument', 'completion z', 'zsh'],
    ['names known at run time', 'plan rhoso', 'rhoso1 rhoso2'],
    ['files for a file', 'plan -f ', '(files)'],
    ['folders for a folder', 'sandbox start --out ', '(folders)'],
    ['nothing if nothing matches', 'plan a b', ''],
    ['nothing after an unknown command', 'palm ', ''],
  ])('suggests %s', async (_, line, expected) => {
    expect(await next(line)).toBe(expected)
  })
})

describe('`stackloom __complete`', () => {
  const context: CommandContext = { io: testIo({ cwd: '/nowhere' }), act: async () => undefined }
  const loaded: string[] = []
  const entry = (name: string): CommandEntry => ({
    name,
    summary: `does ${name}`,
    load: async () => {
      loaded.push(name)
      return { define: (command) => void command.argument('[cloud]') }
    },
  })

  it('answers in the format that kubectl expects of a plugin', async () => {
    const entries = [entry('plan'), { ...entry('__x'), hidden: true }]
    expect(await respond(['pl'], context, entries)).toBe('plan\tdoes plan\n:4\n')
    expect(await respond(['__'], context, entries)).toBe(':4\n')
  })

  it('loads only the command that is named', async () => {
    loaded.length = 0
    expect(await respond(['plan', ''], context, [entry('plan'), entry('render')])).toBe(':4\n')
    expect(loaded).toEqual(['plan'])
  })
})
