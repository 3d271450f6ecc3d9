/** Measures the start of the command line. */
import type { Figure } from '../tools/figure.ts'
import { ratio, runNode, runProgram } from '../tools/measure.ts'

const node = (...args: string[]) => runProgram(process.execPath, args)

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
  {
    name: 'cli.help-memory',
    unit: 'MiB',
    measure: async () => (await runNode(['bin/stackloom', '--help'])).peakMiB,
  },
]
