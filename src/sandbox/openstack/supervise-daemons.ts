/** Keeps the programs of a host running: a program that ends is started again, later each time. */
import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { describeExit, type RunningProcess } from '../../exec/process.ts'
import type { Host } from '../hosts/host.ts'
import type { Daemon } from './daemons.ts'

export interface DaemonStatus {
  readonly name: string
  readonly running: boolean
  readonly restarts: number
  /** How it ended last, unless it has run for a minute since. */
  readonly reason?: string
}

export interface Daemons {
  readonly start: (daemon: Daemon) => void
  readonly statuses: () => readonly DaemonStatus[]
  readonly log: (name: string) => string
  /** Starts nothing any more; the end of the host ends the programs. */
  readonly release: () => void
}

const FIRST_DELAY_MS = 1000
const LAST_DELAY_MS = 30_000
/** A program that ran for so long starts again at once. */
const STEADY_MS = 60_000

export function superviseDaemons(
  host: Pick<Host, 'start'>,
  logs: string,
  onChange: () => void = () => undefined,
): Daemons {
  const statuses = new Map<string, DaemonStatus>()
  const set = (status: DaemonStatus): void => {
    statuses.set(status.name, status)
    if (!released) onChange()
  }
  const log = (name: string): string => path.join(logs, `${name}.log`)
  let released = false
  const launch = ({ name, user, home, command }: Daemon): RunningProcess => {
    const identity = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    const [file = '', ...args] = [...identity, ...command]
    const output = openSync(log(name), 'a', 0o600)
    try {
      return host.start({ file, args, ...(home !== undefined && { env: { HOME: home } }) }, { logTo: output })
    } finally {
      closeSync(output)
    }
  }
  const keepRunning = async (daemon: Daemon): Promise<void> => {
    let delay = FIRST_DELAY_MS
    for (let restarts = 0; !released; restarts += 1) {
      const startedAt = performance.now()
      const { exit } = launch(daemon)
      const previous = statuses.get(daemon.name)?.reason
      const running = { name: daemon.name, running: true, restarts }
      set({ ...running, ...(previous && { reason: previous }) })
      const steady = setTimeout(() => set(running), STEADY_MS).unref()
      const reason = describeExit(await exit)
      clearTimeout(steady)
      set({ name: daemon.name, running: false, restarts, reason })
      if (performance.now() - startedAt > STEADY_MS) delay = FIRST_DELAY_MS
      await new Promise((resolve) => setTimeout(resolve, delay).unref())
      delay = Math.min(delay * 2, LAST_DELAY_MS)
    }
  }
  return {
    start: (daemon) => void keepRunning(daemon),
    statuses: () => [...statuses.values()],
    log,
    release: () => {
      released = true
    },
  }
}
