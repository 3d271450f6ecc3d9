/** Supervises one program: starts it, probes it until it is ready, and restarts it when it crashes. */
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { connect, type NetConnectOpts } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describeExit, type RunningProcess, startProcess, toProgram } from '../exec/process.ts'
import type { ReadinessProbe, Task, TaskState, TaskStatus } from './supervisor-spec.ts'

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
  /** Starts it and waits until it is ready; throws with the reason when it exits or takes too long. */
  readonly start: () => Promise<void>
  /** Stops it until `start`. */
  readonly stop: () => Promise<void>
  /** Stops it with SIGKILL. */
  readonly kill: () => Promise<void>
}

const MAX_RESTART_DELAY_MS = 10_000
const MAX_LOG_BYTES = 20 * 1024 * 1024

export function superviseTask(task: Task, context: TaskContext): SupervisedTask {
  const { probeEveryMs = 100, restartAfterMs = 300 } = context
  let state: TaskState = 'waiting'
  let running: RunningProcess | undefined
  let restarts = 0
  let enabled = false

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

  const waitUntilReady = async (probe: ProbeOnce, current: RunningProcess): Promise<void> => {
    let ended: string | undefined
    void current.exit.then((ending) => {
      ended = describeExit(ending)
    })
    const deadline = performance.now() + task.readyMs
    // A single connection proves little: another process may listen there while the program is exiting.
    let required = task.probe.kind === 'tcp' || task.probe.kind === 'socket' ? 2 : 1
    for (let problem = await probe(); ; problem = await probe()) {
      if (ended) throw new Error(ended)
      if (!problem) required -= 1
      if (required === 0) return
      if (performance.now() > deadline) throw new Error(`was not ready after ${task.readyMs / 1000} s: ${problem}`)
      await sleep(probeEveryMs)
    }
  }

  const attempt = async (): Promise<void> => {
    state = 'starting'
    const current = launch()
    running = current
    await waitUntilReady(await createProbe(task.probe, context.pki), current)
    if (running === current && enabled) state = 'ready'
    void current.exit.then((ending) => {
      if (running !== current || !enabled) return
      context.logEvent(`${task.name} ${describeExit(ending)}; restarting it`)
      void restart()
    })
  }

  const restart = async (): Promise<void> => {
    for (let delay = restartAfterMs; enabled; delay = Math.min(delay * 2, MAX_RESTART_DELAY_MS)) {
      state = 'crashed'
      await sleep(delay)
      if (!enabled) return
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

  const end = async (terminate: (current: RunningProcess) => Promise<unknown>): Promise<void> => {
    enabled = false
    if (running) await terminate(running)
    running = undefined
    state = 'down'
  }

  return {
    status: () => ({ name: task.name, state, restarts, ...(running?.pid !== undefined && { pid: running.pid }) }),
    start: async () => {
      if (enabled) return
      enabled = true
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

/** Keeps one previous log. */
function rotateLog(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(file, `${file}.previous`)
}

/** Returns undefined when the task is ready, otherwise the problem. */
type ProbeOnce = () => Promise<string | undefined>

async function createProbe(probe: ReadinessProbe, pki: string): Promise<ProbeOnce> {
  if (probe.kind === 'none') return async () => undefined
  if (probe.kind === 'tcp') return () => probeConnection({ port: probe.port, host: probe.host ?? '127.0.0.1' })
  if (probe.kind === 'socket') return () => probeConnection({ path: probe.path })
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', `${probe.pair}.crt`, `${probe.pair}.key`].map((name) => readFile(path.join(pki, name))),
  )
  const options = { host: '127.0.0.1', port: probe.port, path: probe.path, ca, cert, key, agent: false, timeout: 5000 }
  return () =>
    new Promise((resolve) => {
      const probeRequest = request(options, (response) => {
        response.resume()
        response.once('error', () => undefined)
        const { statusCode } = response
        resolve(statusCode === 200 ? undefined : `${probe.path} answers ${statusCode}`)
      })
      probeRequest.once('timeout', () => probeRequest.destroy(new Error('no answer')))
      probeRequest.once('error', (error) => resolve(error.message))
      probeRequest.end()
    })
}

function probeConnection(target: NetConnectOpts): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(target)
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error) => resolve(error.message))
  })
}
