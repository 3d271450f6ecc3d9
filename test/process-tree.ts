/** Reads the processes of this machine as a tree: those that a process started, directly or not. */
import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessEntry {
  readonly parent: number
  /** Clock ticks of its own and of its children that have ended. */
  readonly ticks: number
  /** Clock ticks since this machine booted. */
  readonly startedAt: number
}

export function readProcesses(): ReadonlyMap<number, ProcessEntry> {
  const processes = new Map<number, ProcessEntry>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The name in parentheses may have spaces.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      processes.set(Number(name), { parent: Number(fields[1]), ticks, startedAt: Number(fields[19]) })
    } catch {
      // It has ended.
    }
  }
  return processes
}

/** With the process itself. */
export function descendants(root: number, processes: ReadonlyMap<number, ProcessEntry>): readonly number[] {
  const children = [...processes].filter(([, { parent }]) => parent === root).map(([id]) => id)
  return [root, ...children.flatMap((id) => descendants(id, processes))]
}
