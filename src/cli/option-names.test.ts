/** Options of all commands together: one name has one meaning. */
import { Command, type Option } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import { commands } from './commands.ts'
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

function commandsWith(long: string): readonly string[] {
  return options.filter(({ option }) => option.long === long).map(({ command }) => command)
}

describe('options', () => {
  it('include -n only where a namespace has a meaning', () => {
    expect(commandsWith('--namespace').toSorted()).toEqual([
      'adopt',
      'config explain',
      'dataplane convert',
      'diff',
      'dns hosts',
      'dns status',
      'doctor',
      'down',
      'import',
      'ipam status',
      'operator install',
      'operator run',
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
