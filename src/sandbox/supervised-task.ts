/**
 * One program under supervision: started, probed until ready, restarted when it crashes, held down when told.
 */
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeExit, type RunningProcess, startProcess, toProgram } from '../exec/process.ts'
import { createProbe, type ProbeOnce } from './probe.ts'
import type { Task, TaskState, TaskStatus } from './supervisor-spec.ts'

export interface TaskContext {
  readonly pki: string
  readonly wrapper: readonly string[]
  readonly graceMs: number
  readonly log: string
  readonly logEvent: (text: string) => void
  readonly probeEveryMs?: number
  readonly restartAfterMs?: number
}

export interface SupervisedTask {
  readonly status: () => TaskStatus
  /** Starts it and waits until it is ready; throws with the reason when it ends before, or takes too long. */
  readonly start: () => Promise<void>
  /** Ends it for good, or until `start`. */
  readonly stop: () => Promise<void>
  /** The same with SIGKILL. */
  readonly kill: () => Promise<void>
}

const MAX_RESTART_DELAY_MS = 10_000
const MAX_LOG_BYTES = 20 * 1024 * 1024

export function superviseTask(task: Task, context: TaskContext): SupervisedTask {
  const { probeEveryMs = 100, restartAfterMs = 300 } = context
  let state: TaskState = 'waiting'
  let running: RunningProcess | undefined
  let restarts = 0
  let wanted = false

  const launch = (): RunningProcess => {
    const program = toProgram([...context.wrapper, task.file, ...task.args])
    rotateLog(context.log)
    const log = openSync(context.log, 'a', 0o600)
    try {
      return startProcess({ ...program, ...(task.env && { env: task.env }) }, { logTo: log, graceMs: context.graceMs })
    } finally {
      closeSync(log)
    }
  }

  const untilReady = async (look: ProbeOnce, current: RunningProcess): Promise<void> => {
    let ended: string | undefined
    void current.exit.then((ending) => {
      ended = describeExit(ending)
    })
    const deadline = performance.now() + task.readyMs
    // A bare connection proves little: somebody else may listen there while the program is on its way out.
    let proofs = task.probe.kind === 'tcp' ? 2 : 1
    for (let seen = await look(); ; seen = await look()) {
      if (ended) throw new Error(ended)
      if (!seen) proofs -= 1
      if (proofs === 0) return
      if (performance.now() > deadline) throw new Error(`was not ready after ${task.readyMs / 1000} s: ${seen}`)
      await sleep(probeEveryMs)
    }
  }

  const attempt = async (): Promise<void> => {
    state = 'starting'
    const current = launch()
    running = current
    await untilReady(await createProbe(task.probe, context.pki), current)
    if (running === current && wanted) state = 'ready'
    void current.exit.then((ending) => {
      if (running !== current || !wanted) return
      context.logEvent(`${task.name} ${describeExit(ending)}; it is started again`)
      void revive()
    })
  }

  const revive = async (): Promise<void> => {
    for (let delay = restartAfterMs; wanted; delay = Math.min(delay * 2, MAX_RESTART_DELAY_MS)) {
      state = 'crashed'
      await sleep(delay)
      if (!wanted) return
      restarts += 1
      try {
        await attempt()
        return
      } catch (error) {
        context.logEvent(`${task.name} ${(error as Error).message}`)
        await running?.stop()
      }
    }
  }

  const end = async (how: (current: RunningProcess) => Promise<unknown>): Promise<void> => {
    wanted = false
    if (running) await how(running)
    running = undefined
    state = 'down'
  }

  return {
    status: () => ({
      name: task.name,
      state,
      restarts,
      ...(running?.pid !== undefined && { pid: running.pid }),
    }),
    start: async () => {
      if (wanted) return
      wanted = true
      try {
        await attempt()
      } catch (error) {
        await end((current) => current.stop())
        throw error
      }
    },
    stop: () => end((current) => current.stop()),
    kill: () =>
      end((current) => {
        current.kill('SIGKILL')
        return current.exit
      }),
  }
}

/** One log before this one is kept, no more. */
function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.previous`)
}
