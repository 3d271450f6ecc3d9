import { describe, expect, it, vi } from 'vitest'
import { testIo } from '../../test/io.ts'
import { leaseLost } from '../deploy/findings/up.ts'
import { internalError } from '../errors/common.ts'
import { finding } from '../errors/finding.ts'
import type { CommandEntry } from './command.ts'
import { commands } from './commands.ts'
import { main } from './main.ts'
import { printFindings } from './output/findings.ts'

const broken: CommandEntry = {
  name: 'broken',
  summary: 'fails unexpectedly',
  load: async () => ({
    define: (command, { act }) => {
      command.action(() =>
        act(() => {
          throw new TypeError('a is not a function')
        }),
      )
    },
  }),
}
const untouched: CommandEntry = {
  name: 'other',
  summary: 'is not loaded',
  load: () => Promise.reject(new Error('loaded')),
}

const painting: CommandEntry = {
  name: 'paint',
  summary: 'has commands below it',
  load: () =>
    Promise.resolve({
      define: (command) => {
        command
          .command('walls')
          .option('-f, --file <file>')
          .action(() => undefined)
        command.command('doors').action(() => undefined)
      },
    }),
}

const reporting: CommandEntry = {
  name: 'report',
  summary: 'Print progress, findings and a result',
  load: () =>
    Promise.resolve({
      define: (command, { io, act }) => {
        command.action(() =>
          act(async () => {
            io.stderr('progress\n')
            io.verbose?.('details')
            printFindings([finding(internalError, { reason: 'x' }), finding(leaseLost, {})], io)
            io.stdout('result\n')
            return 0
          }),
        )
      },
    }),
}

describe('the program', () => {
  it.each([['-q'], ['--quiet']])('prints only results and errors with %s', async (option) => {
    const io = testIo({ terminal: { write: () => undefined } as never })
    expect(await main(['report', option], io, [reporting])).toBe(0)
    expect(io.out()).toBe('result\n')
    expect(io.err()).toContain('SL1000')
    expect(io.err()).not.toMatch(/progress|details/)
  })

  it('takes short options of the command and of all commands as one word', async () => {
    const io = testIo()
    await main(['up', '-yq', '-f', 'examples/small.yaml', '--kubeconfig', 'missing/config'], io)
    expect(io.err()).toContain('cannot read')
    expect(io.err()).not.toContain('unknown option')
  })

  it('suggests the command or option that was meant, in one line', async () => {
    const io = testIo()
    expect(await main(['plam'], io)).toBe(2)
    expect(await main(['plan', '--chek'], io)).toBe(2)
    expect(io.err()).toContain("unknown command 'plam'; did you mean plan?\n")
    expect(io.err()).toContain("unknown option '--chek'; did you mean --check?\n")
  })

  it('prints what it reads and sends with -v only', async () => {
    const plain = testIo()
    await main(['report'], plain, [reporting])
    expect(plain.err()).toMatch(/progress/)
    expect(plain.err()).not.toMatch(/details/)
    const verbose = testIo()
    expect(await main(['-v', 'plan', '-f', 'examples/small.yaml', '--check'], verbose)).toBeLessThan(2)
    expect(verbose.err()).toContain('read examples/small.yaml\n')
    expect(await main(['report', '-q', '-v'], testIo(), [reporting])).toBe(2)
  })

  it('prints warnings without -q, and none with it', async () => {
    const site = 'test/samples/plan-lints/SL2203-shared.yaml'
    const warning = testIo()
    await main(['plan', '--check', '-f', site], warning)
    const quiet = testIo()
    await main(['plan', '--check', '-q', '-f', site], quiet)
    expect(warning.err()).toContain('warning SL')
    expect(quiet.err()).not.toContain('warning SL')
    expect(quiet.out()).toBe(warning.out())
  })

  it('lists the global options in the help of every command', async () => {
    const io = testIo()
    await main(['plan', '--help'], io)
    for (const option of ['--quiet', '--verbose', '--no-color', '--debug']) expect(io.out()).toContain(option)
  })

  it('prints its version, as JSON too', async () => {
    const table = testIo()
    expect(await main(['version'], table)).toBe(0)
    expect(table.out()).toMatch(/^stackloom \S+\nNode\.js /)
    const json = testIo()
    expect(await main(['version', '-o', 'json'], json)).toBe(0)
    expect(JSON.parse(json.out())).toMatchObject({
      version: expect.any(String),
      releases: expect.arrayContaining(['18.0-fr6']),
      findings: [],
    })
  })

  it('reads the site file of STACKLOOM_FILE, unless -f names one', async () => {
    vi.stubEnv('STACKLOOM_FILE', 'examples/two-clouds.yaml')
    try {
      const io = testIo()
      await main(['plan', '--check', '-o', 'name'], io)
      expect(io.out()).toMatch(/^rhoso2\//m)
      const named = testIo()
      await main(['plan', '--check', '-o', 'name', '-f', 'examples/small.yaml'], named)
      expect(named.out()).not.toBe(io.out())
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('has summaries that start with a verb and fit on one line of help', () => {
    expect(commands.length).toBeGreaterThan(20)
    for (const { summary } of commands) {
      expect(summary).toMatch(/^[A-Z][a-z]+ /)
      expect(summary).not.toMatch(/^(An?|The|Every|What|Where|Who|How|Is)\b|\.$/)
      expect(summary.length).toBeLessThanOrEqual(62)
    }
  })

  it('lists every command without loading one', async () => {
    const io = testIo()
    expect(await main(['--help'], io, [broken, untouched])).toBe(0)
    expect(io.out()).toMatch(/broken +fails unexpectedly/)
    expect(io.out()).toMatch(/other +is not loaded/)
  })

  it('prints the help of a name that only groups commands', async () => {
    for (const words of [[], ['--debug'], ...['lab', 'operator', 'dns', 'sandbox'].map((name) => [name])]) {
      const io = testIo()
      expect(await main(words, io)).toBe(0)
      expect(io.out()).toMatch(/^Usage: stackloom .*\n[^]*\n(Start|Commands):\n/)
    }
  })

  it('groups the commands in its help', async () => {
    const io = testIo()
    await main(['--help'], io)
    expect(io.out().match(/^[A-Z][a-z]+:$/gm)).toEqual([
      'Options:',
      'Start:',
      'Deploy:',
      'Observe:',
      'Operate:',
      'Lab:',
      'Other:',
    ])
  })

  it('prints without colour with --no-color', async () => {
    const colour = { stdout: true, stderr: true }
    const coloured = testIo({ colour })
    await main(['explain', 'SL1903'], coloured)
    const plain = testIo({ colour })
    await main(['--no-color', 'explain', 'SL1903'], plain)
    expect(coloured.err()).toContain('\u001b[')
    expect(plain.err()).not.toContain('\u001b[')
  })

  it('reports a wrong option with code, remedy and the closest name, and exits 2', async () => {
    const io = testIo()
    expect(await main(['explain', '--outptu', 'json'], io)).toBe(2)
    expect(io.err()).toContain('SL1001')
    expect(io.err()).toContain('--output')
    expect(io.err()).toContain('stackloom explain --help')
  })

  it('suggests -f for a file if the command has it', async () => {
    const io = testIo()
    expect(await main(['paint', 'walls', 'site.yaml'], io, [painting])).toBe(2)
    expect(io.err()).toContain('Use -f for the file: -f site.yaml\n')
    expect(io.err()).toContain('see `stackloom paint walls --help`')
    const without = testIo()
    expect(await main(['paint', 'doors', 'site.yaml'], without, [painting])).toBe(2)
    expect(without.err()).not.toContain('-f')
  })

  it.each([['-o', 'json'], ['--output=json'], ['-ojson']])('prints a failure as JSON with %s %s', async (...words) => {
    const io = testIo()
    expect(await main(['explain', 'SL1903', ...words], io)).toBe(2)
    expect(JSON.parse(io.out())).toMatchObject({
      findings: [{ code: expect.stringMatching(/^SL/), severity: 'error' }],
    })
    expect(io.err()).toContain('did you mean')
  })

  it.each([['stages'], ['explain'], ['explain', 'SL1001'], ['doctor', '--list'], ['slots']])(
    'prints findings in the JSON of %s %s',
    async (...words) => {
      const io = testIo({ env: { HOME: '/nonexistent', XDG_STATE_HOME: '/nonexistent' } })
      await main([...words, '-o', 'json'], io)
      expect(JSON.parse(io.out())).toMatchObject({ findings: [] })
    },
  )

  it('prints a stack trace with --debug only', async () => {
    const quiet = testIo()
    expect(await main(['broken'], quiet, [broken])).toBe(2)
    expect(quiet.err()).toContain('SL1000')
    expect(quiet.err()).not.toMatch(/\n\s+at /)
    const loud = testIo()
    await main(['--debug', 'broken'], loud, [broken])
    expect(loud.err()).toContain('main.test.ts')
  })

  it('finds codes by words of the title, then of the description', async () => {
    const io = testIo()
    expect(await main(['explain', 'VLAN', 'range', '-o', 'json'], io)).toBe(0)
    const { codes } = JSON.parse(io.out()) as { readonly codes: readonly { readonly title: string }[] }
    expect(codes.length).toBeGreaterThan(0)
    for (const { title } of codes) expect(title).toMatch(/vlan/i)
    const unknown = testIo()
    expect(await main(['explain', 'zzz'], unknown)).toBe(2)
    expect(unknown.err()).toContain('SL1049')
  })

  it('explains a code, and suggests the closest one for an unknown code', async () => {
    const io = testIo()
    expect(await main(['explain', 'SL1003', '-o', 'json'], io)).toBe(0)
    expect(JSON.parse(io.out())).toMatchObject({ code: 'SL1003', severity: 'error' })
    const unknown = testIo()
    expect(await main(['explain', 'SL1903'], unknown)).toBe(2)
    expect(unknown.err()).toContain('did you mean SL1003')
  })
})
