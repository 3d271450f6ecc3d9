/** The packaged program: rules that every command must follow. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commands } from '../../../src/cli/commands.ts'
import { fullName, helpText, loadCommand, withSubcommands } from '../../../tools/command-pages.ts'

function stackloom(program: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
}

describe('bin/stackloom', () => {
  it('says that it is not built yet, and what to do', () => {
    const checkout = mkdtempSync(path.join(tmpdir(), 'stackloom-checkout-'))
    onTestFinished(() => rmSync(checkout, { recursive: true, force: true }))
    cpSync('bin', path.join(checkout, 'bin'), { recursive: true })
    writeFileSync(path.join(checkout, 'package.json'), '{"type":"module"}')
    const { status, stdout, stderr } = stackloom(path.join(checkout, 'bin/stackloom'), '--help')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/not built yet/)
    expect(stderr).toMatch(/make build/)
  })

  it('prints its help on stdout, and lists every public command', () => {
    const { status, stdout, stderr } = stackloom('bin/stackloom', '--help')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    for (const { name, hidden } of commands) {
      expect(new RegExp(`^ {2}${name}\\b`, 'm').test(stdout)).toBe(!hidden)
    }
  })

  it('explains a wrong command with code, remedy and the closest name, without a stack trace', () => {
    const { status, stdout, stderr } = stackloom('bin/stackloom', 'explian')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/SL1001.*did you mean explain/s)
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

const loaded = await Promise.all(commands.filter((command) => !command.hidden).map(loadCommand))
const every = loaded.flatMap(withSubcommands)
/** Groups such as `sandbox` only contain commands; these do something. */
const working = every
  .filter((command) => command.commands.length === 0)
  .map((command) => [fullName(command), command] as const)

/** Commands that print no data, and what they do instead. */
const WITHOUT_FORMATS: Readonly<Record<string, string>> = {
  'stackloom completion': 'prints a shell script',
  'stackloom init': 'writes a file with comments',
  'stackloom lab backup': 'runs steps and tells of each',
  'stackloom lab down': 'runs steps and tells of each',
  'stackloom lab init': 'writes a file with comments',
  'stackloom lab snapshot apply': 'runs steps and tells of each',
  'stackloom lab snapshot create': 'runs steps and tells of each',
  'stackloom operator run': 'serves until it is stopped',
  'stackloom sandbox exec': 'prints what the command prints',
  'stackloom sandbox kubeconfig': 'prints one path, for $(…)',
  'stackloom sandbox logs': 'prints the logs of programs as they are',
  'stackloom sandbox reset': 'prints progress only',
  'stackloom sandbox stop': 'prints progress only',
}

describe.each(working)('%s', (name, command) => {
  it('has an example in its help', () => {
    expect(helpText(command)).toMatch(/Examples:\n +\S/)
  })

  it('prints JSON on request, if it prints data', () => {
    const formats = command.options.find((option) => option.long === '--output')?.argChoices ?? []
    if (name in WITHOUT_FORMATS) expect(formats).toEqual([])
    else expect(formats).toContain('json')
  })

  it('takes no secret on the command line, where every process on the machine can read it', () => {
    expect(secretsOf(command)).toEqual([])
  })

  it('describes every option and argument', () => {
    const silent = [...command.options.filter((option) => !option.hidden), ...command.registeredArguments]
      .filter((option) => option.description.trim() === '')
      .map((option) => ('flags' in option ? option.flags : option.name()))
    expect(silent).toEqual([])
  })
})

function secretsOf(command: Command): readonly string[] {
  const texts = [
    ...command.options.filter((option) => option.required || option.optional).map((option) => option.flags),
    ...command.registeredArguments.map((registeredArgument) => `<${registeredArgument.name()}>`),
  ]
  // The path of a file with a secret, and the name of a Secret, are allowed.
  return texts.filter((text) => /passw|passphrase|token|secret|private-?key/i.test(text) && !/file|<name/i.test(text))
}
