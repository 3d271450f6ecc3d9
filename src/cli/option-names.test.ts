/** Options of all commands together: one name has one meaning. */
import { Command, type Option } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import { targetParts } from '../errors/command-target.ts'
import { commands } from './commands.ts'
import { catalogue } from './explain/catalogue.ts'
import { main } from './main.ts'

interface DefinedOption {
  readonly command: string
  readonly option: Option
}

let options: readonly DefinedOption[]
beforeAll(async () => {
  const context = { io: testIo(), act: () => Promise.resolve() }
  const defined = await Promise.all(
    commands.map(async ({ name, load }) => {
      const command = new Command(name)
      ;(await load()).define(command, context)
      return listOptions(command, name)
    }),
  )
  options = defined.flat()
})

function listOptions(command: Command, name: string): readonly DefinedOption[] {
  return [
    ...command.options.map((option) => ({ command: name, option })),
    ...command.commands.flatMap((child) => listOptions(child, `${name} ${child.name()}`)),
  ]
}

const GLOBAL = ['--help', '--debug', '--quiet', '--verbose', '--no-color']

function longOptions(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option)
}

function commandsWith(long: string): readonly string[] {
  return options.filter(({ option }) => option.long === long).map(({ command }) => command)
}

describe('options', () => {
  it('of a file and of a cluster are those that offered commands get', () => {
    const withOption = (long: string): readonly string[] =>
      commandsWith(long).map((command) => command.replaceAll(' ', '-'))
    const withPart = (part: string): readonly string[] =>
      [...targetParts].flatMap(([name, parts]) => (parts.some((known) => known === part) ? name : []))
    expect(withPart('file').toSorted()).toEqual(withOption('--file').toSorted())
    // Commands with a context have a kubeconfig.
    expect(withPart('cluster').toSorted()).toEqual(withOption('--context').toSorted())
    expect(withOption('--kubeconfig')).toEqual(expect.arrayContaining([...withOption('--context')]))
  })

  it('include -n only where a namespace has a meaning', () => {
    expect(commandsWith('--namespace').toSorted()).toEqual([
      'adopt',
      'backup',
      'certificates',
      'config explain',
      'dataplane convert',
      'diff',
      'dns hosts',
      'dns status',
      'doctor',
      'down',
      'hosts',
      'hosts deploy',
      'hosts drain',
      'hosts enable',
      'hosts remove',
      'import',
      'ip audit',
      'ip repair',
      'ipam status',
      'operator install',
      'operator run',
      'operator uninstall',
      'status',
      'up',
      'update',
      'verify',
    ])
  })

  it('select a context by --context in every command that connects to a cluster', () => {
    expect(commandsWith('--context')).toEqual(
      commandsWith('--kubeconfig').filter((command) => command !== 'sandbox act'),
    )
    const meanings = options.filter(({ option }) => option.long === '--context').map(({ option }) => option.description)
    expect(new Set(meanings).size).toBe(1)
  })

  it('have the same value everywhere, and one name for one meaning', () => {
    for (const long of [
      '--from',
      '--from-stage',
      '--until',
      '--skip',
      '--stage',
      '--crd',
      '--cert-dir',
      '--overwrite',
    ]) {
      const flags = options.filter(({ option }) => option.long === long).map(({ option }) => option.flags)
      expect(new Set(flags).size, long).toBe(1)
    }
    const former = ['--crds', '--force', '--use-context', '--from-dir']
    expect(options.filter(({ option }) => former.includes(option.long ?? '') && !option.hidden)).toEqual([])
    expect(options.filter(({ option }) => option.flags.includes('<folder>'))).toEqual([])
  })

  it('of every command with -o include json', () => {
    const outputs = options.filter(({ option }) => option.long === '--output')
    expect(outputs.length).toBeGreaterThan(15)
    expect(outputs.filter(({ option }) => !option.argChoices?.includes('json')).map(({ command }) => command)).toEqual(
      [],
    )
  })

  it('that remedies name exist, of the command that the remedy names', () => {
    // An option of MetalLB's speaker.
    const others = ['--lb-class', ...GLOBAL]
    const names = [...new Set(options.map(({ command }) => command))].toSorted((a, b) => b.length - a.length)
    const wrong = [...catalogue.values()].flatMap(({ code, sample: { remedy } }) => {
      const inCommands = [...remedy.matchAll(/stackloom ([a-z][^`\n;,|()]*?)(?= and |[`\n;,|()]|$)/g)].flatMap(
        ([, line = '']) => {
          const command = names.find((name) => line === name || line.startsWith(`${name} `))
          const known = options.filter((option) => option.command === command).map(({ option }) => option.long)
          return longOptions(line).filter((option) => ![...known, ...GLOBAL].includes(option))
        },
      )
      // Options of kubectl, oc and others stand in their own commands.
      const elsewhere = remedy
        .replaceAll(/`[^`]*`/g, '')
        .replaceAll(/\b(git|kubectl|oc|limactl|openstack|stackloom|make) .*/g, '')
      const alone = longOptions(elsewhere).filter(
        (option) => !others.includes(option) && commandsWith(option).length === 0,
      )
      return [...inCommands, ...alone].map((option) => `${code}: ${option}`)
    })
    expect(wrong).toEqual([])
  })

  it.each(['down --yes', 'dns hosts -f examples/two-clouds.yaml'])('must name a cloud for %s', async (command) => {
    const io = testIo({ env: { KUBECONFIG: '/nonexistent' } })
    expect(await main(command.split(' '), io)).toBe(2)
    expect(io.err()).toMatch(/SL1001: name a cloud with --cloud or -n/)
  })

  it('that name one cloud are refused a second time, not replaced', async () => {
    const io = testIo()
    expect(await main(['dns', 'hosts', '-f', 'examples/two-clouds.yaml', '--cloud', 'a', '--cloud', 'b'], io)).toBe(2)
    expect(io.err()).toContain('It is given twice: a and b.')
  })
})
