/** Measures a rehearsal of two nodes and two clouds with saved machines, without KVM: its time, and the memory of a node. */
import { type Phase, rehearse } from '../src/rehearse/rehearse.ts'
import { judgeHost, readHostFacts } from '../src/rehearse/requirements.ts'
import { planExample } from '../test/examples.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { once } from '../tools/measure.ts'

/** Building the image and the first boot are done once per machine, so they do not count. */
const PREPARING = 'preparing image and machines'

interface RehearsalFigures {
  readonly seconds: number
  readonly memoryMib: number
}

const figuresOfRun = once(async (): Promise<RehearsalFigures | { readonly unavailable: string }> => {
  const [unfit] = judgeHost(await readHostFacts(process.env))
  if (unfit) return { unavailable: unfit.message }
  let memoryMib = 0
  const { phases, results } = await rehearse(
    {
      plan: planExample('two-clouds'),
      nodes: 2,
      clouds: [],
      isEmulated: true,
      beforeEnd: async ({ exec }) => {
        const { stdout } = await exec({ file: 'ps', args: ['-C', 'qemu-system-x86_64', '-o', 'rss='] })
        memoryMib = Math.max(...stdout.trim().split('\n').map(Number)) / 1024
      },
    },
    sandboxContext(),
  )
  console.error(`# ${phases.map(({ name, seconds }) => `${name} ${seconds} s`).join(', ')}`)
  const failed = results.find(({ verdict }) => verdict !== 'passed')
  if (failed) {
    const reasons = failed.findings.map(({ code, message }) => `${code} ${message}`)
    return {
      unavailable: [`${failed.cloud ?? 'site'} ${failed.id} ${failed.verdict}`, ...reasons.slice(0, 3)].join('; '),
    }
  }
  if (!(memoryMib > 0)) return { unavailable: 'no QEMU process was found to measure' }
  return { seconds: totalSeconds(phases), memoryMib }
})

function totalSeconds(phases: readonly Phase[]): number {
  return phases.filter(({ name }) => name !== PREPARING).reduce((total, { seconds }) => total + seconds, 0)
}

async function pick(field: keyof RehearsalFigures): Promise<Measured> {
  const result = await figuresOfRun()
  return 'unavailable' in result ? result : result[field]
}

export const figures: readonly Figure[] = [
  { name: 'rehearse.two-clouds', unit: 's', target: { op: '<=', value: 180 }, measure: () => pick('seconds') },
  { name: 'rehearse.memory-per-node', unit: 'MiB', target: { op: '<=', value: 500 }, measure: () => pick('memoryMib') },
]
