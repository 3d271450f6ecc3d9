/** Measures the CPU time of process trees, which other programs on the machine lengthen less than they do a wait. */
import { descendants, readProcesses } from '../test/process-tree.ts'

/** Clock ticks per second of /proc. */
const TICKS = 100

/** Of the process, those that it started, and their children that have ended. */
export function cpuSeconds(root: number): number {
  const processes = readProcesses()
  return descendants(root, processes).reduce((sum, id) => sum + (processes.get(id)?.ticks ?? 0), 0) / TICKS
}

/** Of several trees by name, and of this process alone. The result returns the seconds since the call. */
export function measureCpu(roots: Readonly<Record<string, number>>): () => Readonly<Record<string, number>> {
  const read = (): readonly number[] => Object.values(roots).map(cpuSeconds)
  const before = read()
  const own = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(own)
    const after = read()
    const seconds = Object.keys(roots).map((name, at) => [name, (after[at] ?? 0) - (before[at] ?? 0)])
    return { ...Object.fromEntries(seconds), client: (user + system) / 1e6 }
  }
}

export function formatCpu(seconds: Readonly<Record<string, number>>): string {
  return Object.entries(seconds)
    .map(([name, value]) => `${name} ${value.toFixed(1)} s`)
    .join(', ')
}
