/** Measures what the processes of a sandbox with nodes use while nothing is asked of them: memory, and time of one core. */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { findPodProblem, startPodSandbox } from '../test/pod-sandbox.ts'
import { descendants, readProcesses } from '../test/process-tree.ts'
import { cpuSeconds } from './cpu-time.ts'

export interface Usage {
  /** Pages that processes share count once. */
  readonly memoryMiB: number
  readonly cpuPercent: number
}

/** Caches fill and backoffs end. */
const SETTLE_MS = 60_000
const WINDOW_MS = 60_000

export async function measureIdleNodes(nodes: readonly string[]): Promise<Usage | { readonly unavailable: string }> {
  const problem = await findPodProblem()
  if (problem !== undefined) return { unavailable: problem }
  const { sandbox, stop } = await startPodSandbox('bench', { crds: 'today', nodes, actors: ['nmstate'] })
  try {
    await sleep(SETTLE_MS)
    const before = cpuSeconds(sandbox.pid)
    const began = performance.now()
    await sleep(WINDOW_MS)
    const seconds = (performance.now() - began) / 1000
    const cpuPercent = ((cpuSeconds(sandbox.pid) - before) / seconds) * 100
    for (const [name, mib] of memoryByProgram(sandbox.pid)) console.error(`# ${Math.round(mib)} MiB ${name}`)
    const memoryMiB = [...memoryByProgram(sandbox.pid).values()].reduce((sum, mib) => sum + mib, 0)
    return { memoryMiB, cpuPercent }
  } finally {
    await stop()
  }
}

function memoryByProgram(root: number): ReadonlyMap<string, number> {
  const byProgram = new Map<string, number>()
  for (const id of descendants(root, readProcesses())) {
    try {
      const [, kib = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8')) ?? []
      const name = readFileSync(`/proc/${id}/comm`, 'utf8').trim()
      byProgram.set(name, (byProgram.get(name) ?? 0) + Number(kib) / 1024)
    } catch {
      // It has ended.
    }
  }
  return new Map([...byProgram].toSorted(([, a], [, b]) => b - a))
}
