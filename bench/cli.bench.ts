/** Measures the start of the command line. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Figure } from '../tools/figure.ts'
import { ratio, runNode, runProgram } from '../tools/measure.ts'
import { buildExecutable, nodeBinary } from '../tools/release-executable.ts'
import { stageNpmPackage } from '../tools/release-npm.ts'

const node = (...args: string[]) => runProgram(process.execPath, args)

/** CPU milliseconds of a Node program: other people's work on the machine does not count. */
async function cpuTime(...args: readonly string[]): Promise<number> {
  const script = `TIMEFORMAT='%3U %3S'; { time "$@" >/dev/null 2>&1; } 2>&1`
  const printed = await runProgram('bash', ['-c', script, 'bash', process.execPath, ...args])
  return printed.split(' ').reduce((sum, seconds) => sum + Number(seconds) * 1000, 0)
}

/** A command on a site with one cloud and its lock, start included, against a bare Node. */
async function smallSite(...command: readonly string[]): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const site = path.join(folder, 'site.yaml')
  copyFileSync('examples/small.yaml', site)
  try {
    await node('bin/stackloom', 'plan', '-f', site)
    return await ratio({
      ours: () => cpuTime('bin/stackloom', ...command, '-f', site),
      theirs: () => cpuTime('-e', '0'),
      rounds: 21,
      warmUp: 2,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const smallSiteFigure = (name: string, ...command: readonly string[]): Figure => ({
  name: `cli.${name}`,
  unit: 'x',
  target: { op: '<=', value: 2.2 },
  measure: () => smallSite(...command),
})

export const figures: readonly Figure[] = [
  {
    name: 'cli.help',
    unit: 'x',
    target: { op: '<=', value: 2 },
    measure: () =>
      ratio({
        ours: () => node('bin/stackloom', '--help'),
        theirs: () => node('-e', '0'),
        rounds: 21,
        warmUp: 2,
      }),
  },
  smallSiteFigure('plan', 'plan'),
  smallSiteFigure('render', 'render'),
  smallSiteFigure('ip', 'ip', '192.168.122.5'),
  {
    name: 'cli.executable-start',
    unit: 'x',
    target: { op: '<=', value: 1.5 },
    measure: async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-executable-'))
      try {
        await stageNpmPackage(path.join(folder, 'package'), { version: 'bench' })
        const executable = path.join(folder, 'stackloom')
        await buildExecutable(path.join(folder, 'package'), 'linux-x64', executable)
        const env = { ...process.env, XDG_CACHE_HOME: path.join(folder, 'cache') }
        const ours = () => runProgram(executable, ['explain', 'SL2101'], { env })
        // The same Node: otherwise two versions of Node are compared.
        const theirs = () =>
          runProgram(nodeBinary('linux-x64'), [path.join(folder, 'package/bin/stackloom'), 'explain', 'SL2101'])
        return await ratio({ ours, theirs, rounds: 21, warmUp: 2 })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  },
  {
    name: 'cli.help-memory',
    unit: 'MiB',
    measure: async () => (await runNode(['bin/stackloom', '--help'])).peakMiB,
  },
]
