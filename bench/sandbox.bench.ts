/**
 * Measures the start of a sandbox, for a user and for a test, the building of images, and what three nodes that run no pods
 * of a user cost.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startCluster, takeClusterSlot } from '../test/cluster.ts'
import type { Figure } from '../tools/figure.ts'
import { median, once, runProgram } from '../tools/measure.ts'
import { measureSlowestImage } from './sandbox-images.ts'
import { measureIdleNodes } from './sandbox-usage.ts'

const TIMES = 3

interface Starts {
  /** The first start of the built program, with MetalLB and the CRDs `today`. */
  readonly first: number
  /** A restart with existing data. */
  readonly again: number
}

const starts = once(async (): Promise<Starts> => {
  const state = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const env = { ...process.env, XDG_STATE_HOME: state }
  const sandbox = (command: string, ...options: readonly string[]): Promise<string> =>
    runProgram(process.execPath, ['bin/stackloom', 'sandbox', command, '--name', 'bench', ...options], { env })
  const start = (): Promise<string> => sandbox('start', '--netns')
  const place = await takeClusterSlot()
  try {
    // Prepared once; not part of a start.
    await start()
    const first: number[] = []
    const again: number[] = []
    for (let round = 0; round < TIMES; round += 1) {
      await sandbox('reset')
      first.push(await timed(start))
      await sandbox('stop')
      again.push(await timed(start))
    }
    return { first: median(first), again: median(again) }
  } finally {
    await sandbox('reset')
    rmSync(state, { recursive: true, force: true })
    await place.release()
  }
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

async function forTest(): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < TIMES; round += 1) {
    const began = performance.now()
    const { stop } = await startCluster({ crds: 'none' })
    times.push((performance.now() - began) / 1000)
    await stop()
  }
  return median(times)
}

const idleNodes = once(() => measureIdleNodes(['worker-0', 'worker-1', 'worker-2']))

export const figures: readonly Figure[] = [
  {
    name: 'sandbox.ready',
    unit: 's',
    target: { op: '<=', value: 5 },
    measure: async () => (await starts()).first,
  },
  {
    name: 'sandbox.ready-again',
    unit: 's',
    target: { op: '<=', value: 10 },
    measure: async () => (await starts()).again,
  },
  { name: 'sandbox.ready-for-a-test', unit: 's', measure: forTest },
  { name: 'sandbox.slowest-image', unit: 's', target: { op: '<=', value: 60 }, measure: measureSlowestImage },
  {
    name: 'sandbox.three-idle-nodes-memory',
    unit: 'MiB',
    target: { op: '<=', value: 1536 },
    measure: async () => {
      const usage = await idleNodes()
      return 'unavailable' in usage ? usage : usage.memoryMiB
    },
  },
  {
    name: 'sandbox.three-idle-nodes-cpu',
    unit: '%',
    target: { op: '<=', value: 15 },
    measure: async () => {
      const usage = await idleNodes()
      return 'unavailable' in usage ? usage : usage.cpuPercent
    },
  },
]
